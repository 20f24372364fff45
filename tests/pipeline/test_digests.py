import numpy as np
import pyarrow as pa

from neardup import Analysis, Combined, MinHash
from neardup.index.disk.buffers import checksums
from neardup.pipeline.digests import contents, equals, exchanged
from neardup.text.columns import whole_batch

SALT = np.array([3, 5], np.uint64)
TEXTS = whole_batch(pa.chunked_array([["One two. Three!", "one two three", "...", "...", "?", " ", ""]]))


def rows(digests):
    return [*map(tuple, digests.tolist())]


def test_contents_are_two_checksums_but_for_blank_texts():
    found = contents(TEXTS, SALT)
    expected = np.stack([checksums(TEXTS, SALT), checksums(TEXTS, np.array([5, 3], np.uint64))], axis=1)
    assert (found[:5] == expected[:5]).all()
    assert not found[5:].any()
    assert len({*rows(found[:5])}) == 4
    assert exchanged(SALT).tolist() == [5, 3]


def test_rows_are_a_part_of_contents():
    signed = np.array([[1, 2], [1, 2], [1, 2], [1, 3], [1, 2], [1, 2], [1, 2]], np.uint32)
    found = rows(contents(TEXTS, SALT, signed))
    assert found[2] != found[3]
    assert found[5] == found[6] == (0, 0)
    assert contents(whole_batch(pa.chunked_array([[""]])[:0]), SALT, signed[:0]).shape == (0, 2)


def test_equal_documents_have_the_same_features_or_without_any_the_same_text():
    features = MinHash(shingle=1).shingling.batch_features(TEXTS)
    found = rows(equals(TEXTS, features, SALT))
    assert found[0] == found[1] != found[2] == found[3] != found[4]
    assert found[2:] == rows(contents(TEXTS, SALT))[2:]
    assert found[0] != rows(equals(TEXTS, features, SALT + np.uint64(1)))[0]  # the salt is a secret


def test_equal_documents_have_the_same_features_by_both_schemes():
    texts = whole_batch(pa.chunked_array([["a + b", "a * b", "A + b!", "+", "+", "*", ""]]))
    plain, symbols = MinHash(analysis=Analysis(symbols=False)), MinHash(shingle=1)
    for scheme in (Combined(plain, symbols), Combined(symbols, plain)):
        found = rows(equals(texts, scheme.shingling.batch_features(texts), SALT, scheme.second_shingling))
        assert found[0] == found[2] != found[1]
        assert found[3:] == rows(contents(texts, SALT))[3:]
