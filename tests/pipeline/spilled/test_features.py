import numpy as np
from test_candidates import proposed

from neardup import MinHash
from neardup.pipeline.spilled import candidates, features, ranking
from neardup.sources.read import read


def gathered(job):
    signed, record = proposed(job)
    for task in range(len(job.shards.shards)):
        features.gather(job, signed, task)
    return record["blocks"]


def test_the_features_of_a_block_are_those_of_its_documents(job_of, sources):
    job = job_of(sources, block=3000, size=2000)
    number = gathered(job)
    positions, blocks = job.array(ranking.LEADER_POSITIONS, np.int64), job.array(candidates.BLOCKS, np.int32)
    whole = MinHash().features(read(sources).texts)
    for block in range(number):
        found = features.spans_of(job, block)
        assert found.units.tolist() == np.flatnonzero(blocks == block).tolist()
        loaded = features.load(job, found)
        for place, unit in enumerate(found.units.tolist()):
            begin, end = whole.offsets[positions[unit] : positions[unit] + 2]
            own = loaded.values[loaded.offsets[place] : loaded.offsets[place + 1]]
            assert own.tolist() == whole.values[begin:end].tolist()
        some = found.at(np.array([len(found.units) - 1]))
        assert features.load(job, some).values.tolist() == own.tolist()


def test_shards_without_candidates_store_nothing(job_of, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "one two three four"}\n{"text": "five six seven eight"}\n')
    job = job_of([tmp_path / "a.jsonl"])
    signed, record = proposed(job)
    assert record["blocks"] == 0
    assert features.gather(job, signed, 0)["features"] == 0
