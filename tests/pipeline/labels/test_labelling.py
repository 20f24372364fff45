import gc
from unittest.mock import Mock

import pytest

from neardup.model.errors import DataError, OutputError, OutputRefused, ParameterError
from neardup.model.labels import LabelledPair
from neardup.pipeline.labels.labelling import LabelledPairs, Labelling
from neardup.pipeline.labels.pool import draw_pairs
from neardup.sources.labels import LabelFile, read_labels

WORDS = [f"w{number}" for number in range(40)]
TEXTS = [" ".join([*WORDS[:keep], *(f"{keep}x{rest}" for rest in range(40 - keep))]) for keep in range(0, 41, 2)]


@pytest.fixture
def pool():
    return draw_pairs(TEXTS)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "labels.jsonl"


def label(labelling, number=None):
    while (pair := labelling.current) and number != 0:
        labelling.answer("same" if pair.resemblance > 0.5 else "different")
        number = None if number is None else number - 1


def test_each_answer_is_in_the_file_before_the_next_pair(pool, path):
    with Labelling(pool, path, wanted=5) as labelling:
        for number in range(5):
            shown = labelling.current
            labelling.answer("unsure")
            written = read_labels(path)
            assert len(written) == len(labelling.answers) == number + 1
            assert written[-1].pair == tuple(sorted((shown.a, shown.b)))
        assert labelling.current is None
        with pytest.raises(DataError, match="all pairs have an answer"):
            labelling.answer("same")


def test_a_session_that_is_continued_is_the_same_as_one(pool, path, tmp_path):
    with Labelling(pool, path, wanted=12) as labelling:
        label(labelling)
    other = tmp_path / "other.jsonl"
    for number in (3, 5, 4):
        with Labelling(draw_pairs(TEXTS), other, wanted=12) as labelling:
            label(labelling, number)
    assert other.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("source", ["pool", "labels"])
def test_an_answer_does_not_weigh_the_others_again(pool, path, tmp_path, source, monkeypatch):
    if source == "labels":
        with Labelling(pool, tmp_path / "other.jsonl", wanted=20) as other:
            label(other)
        pool = LabelledPairs(other.answers, dict(zip(map(str, range(len(TEXTS))), TEXTS, strict=True)))
    made = []
    usual = LabelledPair.__post_init__
    monkeypatch.setattr(LabelledPair, "__post_init__", lambda one: made.append(one) or usual(one))
    with Labelling(pool, path, wanted=20) as labelling:
        label(labelling, 19)
        made.clear()
        labelling.answer("same")
        assert 1 <= len(made) <= 3
        assert labelling.answers[-1] == pool.weighed(labelling.answers)[-1]


def test_weights_are_brought_up_to_date_at_the_end(pool, path):
    with Labelling(pool, path, wanted=30) as labelling:
        label(labelling)
        before = read_labels(path)
    after = read_labels(path)
    assert [one.pair for one in before] == [one.pair for one in after]
    assert after == pool.weighed(before) != before
    with Labelling(pool, path, wanted=30):
        pass
    assert read_labels(path) == after


def test_the_way_back(pool, path):
    with Labelling(pool, path) as labelling:
        assert not labelling.back()
        label(labelling, 3)
        following = labelling.current
        assert labelling.given is None
        assert labelling.back()
        assert labelling.back()
        shown = labelling.current
        assert labelling.given == labelling.answers[1].label
        labelling.answer("unsure")
        assert labelling.answers[1].label == "unsure"
        assert len(labelling.answers) == 3
        assert {labelling.answers[1].a, labelling.answers[1].b} == {shown.a, shown.b}
        assert labelling.given is None
        assert labelling.current is not None
        assert following is not None
    assert [one.label for one in read_labels(path)][1] == "unsure"


def test_back_after_the_last_pair(pool, path):
    with Labelling(pool, path, wanted=2) as labelling:
        label(labelling)
        assert labelling.current is None
        assert labelling.back()
        assert labelling.current is not None
        labelling.answer("unsure")
        assert labelling.current is None
        assert len(labelling.answers) == 2


def test_a_second_person_labels_the_same_pairs(pool, path, tmp_path):
    with Labelling(pool, path, wanted=8) as labelling:
        label(labelling)
    first = read_labels(path)
    with Labelling(LabelledPairs(first), tmp_path / "second.jsonl") as labelling:
        while labelling.current:
            assert labelling.given is None
            labelling.answer("unsure")
    second = read_labels(tmp_path / "second.jsonl")
    assert [one.pair for one in second] == [one.pair for one in first]
    assert [(one.weight, one.text_a) for one in second] == [(one.weight, one.text_a) for one in first]


def test_texts_that_were_left_out_come_from_the_documents(path, monkeypatch):
    monkeypatch.setattr("neardup.sources.labels.LONGEST_TEXT", 100)
    long = TEXTS[-3:]
    with Labelling(draw_pairs(long), path) as labelling:
        label(labelling, 2)
    first = read_labels(path)
    assert first[0].text_a is None
    with Labelling(draw_pairs(long), path) as labelling:
        assert labelling.back()
        assert labelling.current.text_a in long
    with pytest.raises(DataError, match="no text of '0'"):
        LabelledPairs(first)
    known = LabelledPairs(first, {str(number): text for number, text in enumerate(long)})
    assert known.draw([]).text_a in long
    assert len(known) == 2


def test_labels_of_other_documents_keep_their_weights(pool, path):
    with LabelFile(path) as file:
        file.append(LabelledPair(a="x", b="y", label="same", weight=3.0, text_a="one", text_b="two"))
    with Labelling(pool, path, wanted=3) as labelling:
        label(labelling)
    assert read_labels(path)[0].weight == 3.0


def test_wrong_use(pool, path, tmp_path):
    with Labelling(pool, path) as labelling:
        with pytest.raises(ParameterError, match="same, different or unsure"):
            labelling.answer("yes")
        with pytest.raises(OutputRefused, match="another process"):
            Labelling(pool, path)
    with pytest.raises(ParameterError, match="wanted"):
        Labelling(pool, path, wanted=0)
    with pytest.raises(ParameterError, match="source"):
        Labelling(TEXTS, path)
    with pytest.raises(OutputRefused):
        Labelling(pool, tmp_path)


def test_an_answer_that_cannot_be_written_is_not_counted(pool, path, monkeypatch):
    with Labelling(pool, path) as labelling:
        label(labelling, 1)
        shown = labelling.current

        monkeypatch.setattr(labelling._file, "append", Mock(side_effect=OutputError("labels.jsonl", "no space")))
        with pytest.raises(OutputError):
            labelling.answer("same")
        monkeypatch.undo()
        assert labelling.current == shown
        assert len(labelling.answers) == 1


def test_a_session_that_has_ended_takes_no_answers(pool, path):
    with Labelling(pool, path) as labelling:
        labelling.answer("same")
    with pytest.raises(OutputError, match="the labelling has ended; begin another one with this file"):
        labelling.answer("same")
    with pytest.raises(OutputError, match="the labelling has ended"), labelling:
        pass
    assert len(read_labels(path)) == 1


def test_a_session_that_is_dropped_does_not_keep_the_file(pool, path):
    dropped = Labelling(pool, path)
    del dropped
    gc.collect()
    Labelling(pool, path)


def test_an_empty_text_of_a_label_is_its_text():
    first = LabelledPair(a="a", b="b", label="same", text_a="", text_b="w")
    assert LabelledPairs([first], {"a": "of another version"}).draw([]).text_a == ""


def test_a_file_whose_answers_are_up_to_date_is_not_written_again(pool, path):
    with Labelling(pool, path, wanted=5) as labelling:
        label(labelling)
    before = path.stat()
    with Labelling(pool, path, wanted=5):
        pass
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
