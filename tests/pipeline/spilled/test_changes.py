import os

import pytest

from neardup import Checksum, Combined, MinHash, SimHash, Trials, dedup_files, pair_files
from neardup.engines import journal
from neardup.errors import RunChanged, StorageRefused
from neardup.pipeline.spilled import changes, run
from neardup.text import extraction
from neardup.text.common_shingles import CommonShingles
from neardup.text.extraction import Extraction


@pytest.fixture
def begun(tmp_path, sources, monkeypatch):
    """Begin a run, and return a function that continues it with other settings and returns what changed."""
    first = {"scheme": MinHash(shingle=4)}

    def stop(*_):
        raise KeyboardInterrupt

    def begin(inputs=sources, **options):
        with monkeypatch.context() as patch:
            patch.setattr(run, "rank", stop)
            with pytest.raises(KeyboardInterrupt):
                dedup_files(inputs, work=tmp_path / "w", **{**first, **options})

    def changed(inputs=sources, **options):
        with pytest.raises(RunChanged) as caught:
            dedup_files(inputs, work=tmp_path / "w", **{**first, **options})
        return [change.words(lambda name: f"--{name}") for change in caught.value.changes]

    begin.changed = changed
    return begin


def test_options_are_named(begun):
    begun()
    assert begun.changed(text="title", strict=True) == [
        "--text was text and is title",
        "--strict was off and is on",
    ]
    assert begun.changed(scheme=MinHash(shingle=4, seed=2)) == ["--seed was 1 and is 2"]
    assert begun.changed(scheme=MinHash(threshold=0.8)) == [
        "--shingle was 4 and is 3",
        "--threshold was 0.6 and is 0.8",
    ]
    assert begun.changed(scheme=MinHash(shingle=4, key=bytes(16))) == ["the secret key was added"]
    assert begun.changed(scheme=Trials()) == ["--scheme was minhash and is trials"]
    listed = CommonShingles.fitted(["a b c d e"] * 3, MinHash(shingle=4).shingling, 0.5)
    [words] = begun.changed(ignore_common=listed)
    assert words == f"--common was not set and is {listed.identity}"


@pytest.mark.parametrize("scheme", [SimHash(), Combined(MinHash(), SimHash()), Checksum.for_texts()])
def test_every_scheme_can_be_compared(begun, scheme):
    begun(scheme=scheme)
    assert begun.changed() == [f"--scheme was {scheme.name} and is minhash"]


def test_inputs_are_named(begun, sources, tmp_path):
    begun()
    assert begun.changed(sources[1:]) == [f"{sources[0]} was left out"]
    assert begun.changed(sources[::-1]) == ["the inputs are in another order"]
    (tmp_path / "new.jsonl").write_text('{"text": "a"}\n')
    assert begun.changed([*sources, tmp_path / "new.jsonl"]) == [f"{tmp_path}/new.jsonl was added"]
    assert begun.changed(sources[1:], against=sources[0]) == [f"{sources[0]} was left out", f"{sources[0]} was added"]
    with sources[2].open("a") as file:
        file.write('\n{"text": "more"}\n')
    assert begun.changed() == [f"{sources[2]} was changed"]


def test_other_names_of_the_same_inputs_are_other_inputs(begun, sources, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    begun([path.name for path in sources])
    changed = begun.changed()
    assert len(changed) == 2 * len(sources)
    assert {"part0.jsonl was left out", f"{sources[0]} was added"} < {*changed}


def test_the_time_of_a_small_file_does_not_count_and_that_of_a_large_one_does(begun, sources, tmp_path):
    large = tmp_path / "large.jsonl"
    large.write_text('{"text": "many words"}\n' * 8000)
    begun([*sources, large])
    os.utime(sources[0])
    os.utime(large, ns=(5, 7))
    [words] = begun.changed([*sources, large])
    assert words == f"{large} has another modification time, but the same size, beginning and end"
    large.unlink()
    large.write_text("")
    os.utime(sources[0])
    assert begun.changed([*sources, large]) == [f"{large} was changed"]


def test_a_touched_small_file_continues_the_run(begun, sources, tmp_path):
    begun()
    os.utime(sources[0], ns=(5, 7))
    dedup_files(sources, work=tmp_path / "w", scheme=MinHash(shingle=4))
    assert not (tmp_path / "w").exists()


def test_a_state_is_named(begun, tmp_path):
    begun(state=tmp_path / "known")
    assert begun.changed() == [f"--state was {tmp_path / 'known'} and is not set"]


def test_a_state_for_an_index_is_named(begun, tmp_path):
    begun(state=tmp_path / "known")
    assert begun.changed(state=tmp_path / "known", for_index=True) == ["--for_index was not set and is on"]


def test_another_version_is_named_alone(begun, monkeypatch):
    begun()
    for module in (journal, changes):
        monkeypatch.setattr(module, "__version__", "99.0")
    [words] = begun.changed(text="title")
    assert words.endswith(" and is 99.0")


def test_another_text_of_pages_is_named(begun, tmp_path, monkeypatch):
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "a.html").write_text("<p>text of a page, which is short")
    begun([tmp_path / "pages"])
    other = Extraction(view="visible")
    assert begun.changed([tmp_path / "pages"], extraction=other) == ["--text_view was auto and is visible"]
    monkeypatch.setattr(extraction, "installed", lambda: "resiliparse 9")
    (words,) = begun.changed([tmp_path / "pages"])
    assert words.startswith("the text of pages, which resiliparse 2")


@pytest.mark.parametrize("restart", [False, True])
def test_the_folder_of_a_run_that_does_something_else_is_refused(begun, sources, tmp_path, restart):
    begun()
    with pytest.raises(StorageRefused, match="it has a run of dedup, and cannot have one of pairs, too"):
        pair_files(sources, out=tmp_path / "p.parquet", work=tmp_path / "w", restart=restart)
    begun()
