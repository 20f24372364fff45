from dataclasses import asdict, replace

import numpy as np
import pytest

from neardup import Checksum, Field, MinHash
from neardup.model.arrays import Corpus
from neardup.pipeline.spilled.signing import Signed, fields_of, sign
from neardup.sources.read import read


def signed_of(job):
    found = [sign(job, task) for task in range(len(job.shards.shards))]
    return found, Signed(job, found)


@pytest.mark.parametrize("for_index", [False, True])
def test_documents_are_signed_as_in_memory(job_of, sources, *, for_index):
    job = replace(job_of(sources, size=2000), for_index=for_index)
    found, signed = signed_of(job)
    whole = read(sources)
    scheme = MinHash()
    features = scheme.features(whole.texts)
    rows = scheme.sign_short_at(Corpus(features, None, whole.texts), np.arange(len(whole)))
    stored = np.concatenate([signed.rows(shard) for shard in range(len(found))])
    assert (stored == rows.rows).all()
    if for_index:
        stored = np.concatenate([signed.rows(shard, whole=True) for shard in range(len(found))])
        assert (stored == scheme.sign(whole.texts).rows).all()
    assert (signed.column("present", np.bool_) == rows.present).all()
    assert (signed.column("features", np.int64) == np.diff(features.offsets)).all()
    assert signed.ids().to_pylist() == whole.ids.to_pylist()
    assert [one for record in found for one in record["rejected"]] == [asdict(one) for one in whole.rejected]
    lengths = [len((text or "").encode()) for text in whole.texts.to_pylist()]
    assert sum(record["text"] for record in found) == sum(lengths)
    assert signed.column("length", np.int64).tolist() == lengths


def test_equal_are_documents_with_equal_features_or_else_the_same_text(job_of, sources):
    job = job_of(sources)
    _, signed = signed_of(job)
    texts = read(sources).texts.to_pylist()
    features = MinHash().features(texts)
    sets = [features.values[b:e].tobytes() for b, e in zip(features.offsets, features.offsets[1:], strict=False)]
    digests = [tuple(row) for row in signed.equal.tolist()]
    for one, (own, text) in enumerate(zip(sets, texts, strict=True)):
        for other in range(one):
            same = own == sets[other] if own or sets[other] else text == texts[other] and bool((text or "").strip())
            blank = digests[one] == (0, 0)
            assert (digests[one] == digests[other] and not blank) == bool(same), (text, texts[other])


def test_fields_are_digested_only_for_exact_verification(job_of, sources):
    scheme = Checksum(fields=(Field(name="title"),))
    job = job_of(sources, scheme, columns=["title"])
    _, signed = signed_of(job)
    titles = read(sources, columns=["title"]).column("title").to_pylist()
    assert len({tuple(row) for row in signed.equal.tolist()}) == len({*titles})
    _, unequal = signed_of(job_of(sources, scheme, columns=["title"], verify="estimate"))
    assert not unequal.equal.any()


def test_a_shard_names_the_fields_that_it_lacks(job_of, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "a", "other": 1}\n')
    job = job_of([tmp_path / "a.jsonl"], columns=["score"], keep="max:score")
    assert fields_of(job) == ["text", "score"]
    assert sign(job, 0)["lacking"] == {"score": ["text", "other"]}
