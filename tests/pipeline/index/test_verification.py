"""Verifying candidates on texts."""

import numpy as np
import pyarrow as pa
import pytest

from neardup import Checksum, Combined, Index, MinHash, Sentences, SimHash
from neardup.pipeline.index import verification
from neardup.pipeline.index.verification import sign_and_digest
from neardup.text import columns

TEXTS = [f"the storm broke over the harbour at dawn and tore boat {number} from its moorings" for number in range(40)]


def test_texts_are_compared_some_at_a_time(tmp_path, monkeypatch):
    """What is held of them is bounded, and the verdicts are the same."""
    verdicts, held = [], []
    measured = verification.Verifier._compared_at_once

    def noted(verifier, texts, left, *more):
        held.append(sum(int(texts.offsets[row + 1] - texts.offsets[row]) for row in left.tolist()))
        return measured(verifier, texts, left, *more)

    monkeypatch.setattr(verification.Verifier, "_compared_at_once", noted)
    for bound in (verification.BYTES_AT_ONCE, 1000):
        monkeypatch.setattr(verification, "BYTES_AT_ONCE", bound)
        held.clear()
        with Index.create(tmp_path / str(bound), texts=True) as index:
            verdicts.append(index.admit([str(number) for number in range(40)], TEXTS))
        assert max(held) <= bound + len(TEXTS[-1])
    assert verdicts[0] == verdicts[1]
    assert {verdict.name for verdict in verdicts[0][1:]} == {"near duplicate"}


SALT = np.array([3, 5], np.uint64)
GIVEN = ["One two. Three!", "one two three", "...", "...", "?", " ", None, "One two. Four!"]


@pytest.mark.parametrize("scheme", [MinHash(shingle=1), SimHash(), Sentences(), Combined()])
def test_texts_are_equal_by_their_features_and_without_any_by_their_bytes(scheme, monkeypatch):
    monkeypatch.setattr(columns, "BATCH_BYTES", 20)  # several batches
    found = sign_and_digest(scheme, GIVEN, pa.table({}), SALT)
    assert (found.signatures.rows == scheme.sign(GIVEN).rows).all()
    assert (found.signatures.present == scheme.sign(GIVEN).present).all()
    equals = [*map(tuple, found.equals.tolist())]
    assert (equals[0] == equals[1]) == (not isinstance(scheme, Sentences))
    assert equals[2] == equals[3] == tuple(found.contents[2].tolist())
    assert equals[5] == equals[6] == (0, 0)
    assert len({*equals}) == (7 if isinstance(scheme, Sentences) else 6) - 1
    other = sign_and_digest(scheme, GIVEN, pa.table({}), SALT + np.uint64(1)).equals
    assert (other[[0, 7]] != found.equals[[0, 7]]).any(axis=1).all()  # without the salt no digest is known


def test_signatures_alone_equal_no_other_document():
    scheme = MinHash()
    found = sign_and_digest(scheme, scheme.sign(GIVEN), pa.table({}), SALT)
    assert not found.equals.any()
    assert not found.contents.any()


def test_where_fields_are_signed_equal_documents_have_the_same_content_and_a_signature():
    fields = pa.table({"title": ["a", "a", "b", None]})
    found = sign_and_digest(Checksum(), ["text"] * 4, fields, SALT)
    equals = [*map(tuple, found.equals.tolist())]
    assert equals[0] == equals[1] != equals[2]
    assert equals[3] == (0, 0) != tuple(found.contents[3].tolist())
