import numpy as np
import pytest
from test_signing import signed_of

from neardup import MinHash
from neardup.engines.local import LocalEngine
from neardup.model.errors import ValueRefused
from neardup.pipeline.spilled import ranking
from neardup.sources.read import read


@pytest.mark.parametrize("keep", ["first", "last", "longest"])
def test_leaders_are_the_best_of_equal_documents(job_of, sources, keep):
    job = job_of(sources, keep=keep, size=3000)
    _, signed = signed_of(job)
    found = ranking.rank(job, signed)
    order, positions = (job.array(name, np.int64).tolist() for name in (ranking.ORDER, ranking.LEADER_POSITIONS))
    of = job.array(ranking.LEADER_OF, np.int32).tolist()
    digests = [tuple(row) for row in signed.equal.tolist()]
    best = {}
    for position in order:
        alone = digests[position] == (0, 0)
        best.setdefault(position if alone else digests[position], position)
    assert positions == [position for position in order if position in best.values()]
    for position, head in enumerate(of):
        key = position if digests[position] == (0, 0) else digests[position]
        assert positions[head] == best[key]
    assert found["leaders"] == len(positions)


def test_signatures_and_keys_are_by_rank(job_of, sources):
    job = job_of(sources, keep="longest", size=3000)
    _, signed = signed_of(job)
    ranking.rank(job, signed)
    ranking.gather_signatures(job, signed, LocalEngine(1))
    ranking.gather_keys(job, LocalEngine(1))
    positions = np.asarray(job.array(ranking.LEADER_POSITIONS, np.int64))
    scheme = MinHash()
    wanted = scheme.shortened(scheme.sign(read(sources).texts))[positions]
    found = ranking.signatures(job)
    assert (found.rows == wanted.rows).all()
    assert (found.present == wanted.present).all()
    keys, some = ranking.StoredKeys(job), np.array([3, 0, 5])
    assert (keys.rows(some) == scheme.keys(found)[some]).all()
    assert (keys.column(2, some) == scheme.keys(found)[some, 2]).all()
    ranking.remove_signatures(job)
    assert not job.path(ranking.KEYS).exists()
    assert ranking.signatures(job).present.tolist() == wanted.present.tolist()


def test_a_value_that_cannot_rank_is_named_with_its_place(job_of, tmp_path):
    for name, score in (("a", "1"), ("b", "x")):
        (tmp_path / f"{name}.jsonl").write_text(f'\n{{"text": "t", "score": "{score}"}}\n')
    job = job_of([tmp_path / "a.jsonl", tmp_path / "b.jsonl"], columns=["score"], keep="max:score")
    _, signed = signed_of(job)
    with pytest.raises(ValueRefused, match=r"b\.jsonl:2: its 'score' is 'x'"):
        ranking.rank(job, signed)
