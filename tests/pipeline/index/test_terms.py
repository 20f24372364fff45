import json

import pytest

from neardup import CommonShingles, Index, MinHash, SimHash, TermWeights
from neardup.index.disk.arrays import checksum
from neardup.model.errors import StorageDamaged, StorageRefused
from neardup.pipeline.files.upkeep import check_index, index_stats
from neardup.verdicts import NearDuplicate, New

STORM = "The storm broke over the harbour at dawn and tore three fishing boats from their moorings before noon"


@pytest.mark.parametrize(
    ("made", "given"),
    [
        (MinHash(), MinHash(recall=0.5)),
        (SimHash(), SimHash(blocks=9)),
        (SimHash(weights=TermWeights.fitted([STORM])), SimHash(weights=TermWeights.fitted([STORM]), blocks=8)),
    ],
)
def test_an_index_keeps_its_layout_whatever_scheme_it_is_opened_with(tmp_path, made, given):
    with Index.create(tmp_path / "seen", made) as index:
        index.admit(["a"], [STORM])
        index.flush()
    with Index.open(tmp_path / "seen", "w", scheme=given) as index:
        assert isinstance(index.admit(["b"], [f"{STORM}!"])[0], NearDuplicate)
        index.flush()
    with Index.open(tmp_path / "seen", scheme=made) as index:
        assert index.judge([f"{STORM}?"])[0].of == "a"


PAGES = [f"{STORM}, says {word} {word}ing and {word}s of {word}burg" for word in ("storm", "flood", "fire", "quake")]
FOUND = f"{STORM}, says hail hailing and hails of hailburg"


def listed(**parameters):
    plain = MinHash(**parameters)
    return MinHash(common=CommonShingles.fitted(PAGES, plain.shingling, 0.1), **parameters)


@pytest.mark.parametrize("texts", [False, True])
def test_an_index_keeps_its_list_of_common_shingles(tmp_path, texts):
    with Index.create(tmp_path / "seen", listed(), texts=texts) as index:
        assert index.admit(list("abcd"), PAGES) == [New()] * 4
    for scheme in (None, listed(), listed(recall=0.99)):
        with Index.open(tmp_path / "seen", "w", scheme=scheme) as index:
            assert index.scheme.common == listed().common
            assert index.judge([FOUND]) == [New()]
            assert index.judge([f"{PAGES[2]}!"])[0].of == "c"
            index.compact()
    with pytest.raises(StorageRefused, match=r"settings: common was [0-9a-f]+ and is not set$"):
        Index.open(tmp_path / "seen", scheme=MinHash())


def test_a_list_goes_with_a_key(tmp_path):
    key = bytes(range(16))
    with Index.create(tmp_path / "seen", listed(key=key)) as index:
        index.admit(list("abcd"), PAGES)
    with Index.open(tmp_path / "seen", key=key) as index:
        assert index.judge([FOUND]) == [New()]
    for wrong in (None, bytes(16)):
        with pytest.raises(StorageRefused, match="key"):
            Index.open(tmp_path / "seen", key=wrong)


def test_a_list_that_is_damaged_or_missing_is_named(tmp_path):
    Index.create(tmp_path / "seen", listed()).close()
    file = tmp_path / "seen" / "common.npz"
    content = file.read_bytes()
    own = listed().common
    other = CommonShingles(shingling=own.shingling, terms=own.terms[1:], share=0.1, documents=3).to_bytes()
    for wrong, reason in ((b"", "is not a file"), (content[:-9], "is not a file"), (other, "is not the list")):
        file.write_bytes(wrong)
        with pytest.raises(StorageDamaged, match=reason) as caught:
            Index.open(tmp_path / "seen")
        assert caught.value.where == str(file)
        assert check_index(tmp_path / "seen").problems == [str(caught.value)]
    file.unlink()
    with pytest.raises(StorageDamaged, match="is missing"):
        Index.open(tmp_path / "seen")
    file.write_bytes(content)
    Index.open(tmp_path / "seen").close()
    assert check_index(tmp_path / "seen").problems == []


@pytest.mark.parametrize(
    ("changed", "rule"),
    [
        ({"fields": [["", "string"]]}, "invalid: a field name"),
        ({"fields": [["host", "string"], ["host", "flag"]]}, "invalid fields"),
        ({"scheme": {"scheme": "minhash", "threshold": 2}}, "threshold"),
        ({"layout": {"bits": 3}}, "bits"),
        ({"row": ["<u8", 1 << 40]}, "columns"),
        ({"row": ["|O", 8]}, "columns"),
    ],
)
def test_terms_that_make_no_sense_are_damage(tmp_path, changed, rule):
    Index.create(tmp_path / "seen").close()
    file = tmp_path / "seen" / "manifest.json"
    content = json.loads(file.read_bytes().partition(b"\n")[0])
    line = json.dumps(content | {"terms": content["terms"] | changed}).encode()
    file.write_bytes(line + f"\n{checksum(line):016x}\n".encode())
    for opened in (Index.open, index_stats):
        with pytest.raises(StorageDamaged, match=f"makes no sense: .*{rule}") as caught:
            opened(tmp_path / "seen")
        assert caught.value.where == str(file)
