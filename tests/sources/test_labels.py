import json
import os

import numpy as np
import pytest

from neardup.model.errors import DataError, InputRefused, NeardupError, OutputError, OutputRefused, ParameterError
from neardup.model.labels import LabelledPair
from neardup.sources import labels
from neardup.sources.labels import LONGEST_TEXT, LabelFile, read_labels

FIRST = LabelledPair(a="1", b="2", label="same", resemblance=0.5, weight=4.0, text_a="one\n", text_b="zwölf")
SECOND = LabelledPair(a="2", b="3", label="unsure")
LINE = b'{"a": 1, "b": "2", "label": "different", "note": "of another program"}\n'


@pytest.fixture
def path(tmp_path):
    return tmp_path / "labels.jsonl"


def test_answers_are_read_back_as_written(path):
    with LabelFile(path) as file:
        assert file.answers == []
        file.append(FIRST)
        assert read_labels(path) == [FIRST]
        file.append(SECOND)
    assert read_labels(str(path)) == [FIRST, SECOND]
    fields = {"a", "b", "label", "resemblance", "weight", "text_a", "text_b"}
    assert all(set(json.loads(line)) == fields for line in path.read_text("utf-8").splitlines())


def test_the_last_answer_for_a_pair_counts_at_the_place_of_the_first(path):
    again = LabelledPair(a="2", b="1", label="different")
    with LabelFile(path) as file:
        file.append(FIRST)
        file.append(SECOND)
    with LabelFile(path) as file:
        file.append(again)
        assert file.answers == [FIRST, SECOND, again]
    assert read_labels(path) == [again, SECOND]


def test_a_killed_process_loses_only_the_line_it_was_writing(path):
    with LabelFile(path) as file:
        file.append(FIRST)
        file.append(SECOND)
    whole = path.read_bytes()
    begin = whole.index(b"\n") + 1
    for end in (*range(begin, len(whole) - 1), -1):
        path.write_bytes(whole[:end] if end > 0 else whole[:begin] + b"\0\0\0")
        assert read_labels(path) == [FIRST]
        with LabelFile(path) as file:
            file.append(SECOND)
        assert path.read_bytes() == whole
    path.write_bytes(whole[:-1])  # complete except for its line end
    with LabelFile(path) as file:
        assert file.answers == [FIRST, SECOND]
    assert path.read_bytes() == whole


def test_files_of_other_programs(path):
    path.write_bytes(b"\xef\xbb\xbf" + LINE + b"  \n" + LINE[:-1])
    assert read_labels(path) == [LabelledPair(a="1", b="2", label="different")]
    path.write_bytes(b"")
    assert read_labels(path) == []


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        (b"[1]", "not a labelled pair"),
        (b"{}", "the field 'a' is missing"),
        (b'{"a": "1", "b": "2"}', "the field 'label' is missing"),
        (b'{"a": "1", "b": "1", "label": "same"}', "another document"),
        (b'{"a": "1", "b": "2", "label": "yes"}', "same, different or unsure"),
        (b'{"a": "1", "b": "2", "label": "same", "weight": -1}', "from 1e-15"),
        (b'{"a": "1", "b": "2", "label": "same", "weight": NaN}', "not a labelled pair"),
        (b'{"a": "1", "b": "2", "label": "same", "weight": null}', "its weight=null must be a number"),
        (b'{"a": "1", "b": "2", "label": "same", "weight": true}', "its weight=true must be a number"),
        (b'{"a": "1", "b": "2", "label": "y\xc3\xa9s"}', '^[^=]*its label="y\xe9s" must be same'),
        (b'{"a": "1", "b": "2", "label": [%s1]}' % (b"1, " * 50), "its label must be same"),
        (b'{"a": "\xff", "b": "2", "label": "same"}', "not a labelled pair: it is not valid UTF-8"),
        (b'{"a": ' + b"[" * 200_000, "not a labelled pair: it is nested too deeply"),
        (b'{"a": "\\ud800", "b": "2"}', "not a labelled pair: it has half a surrogate pair at byte"),
        (b"some notes", "not a labelled pair"),
    ],
)
def test_other_lines_are_errors_with_their_place_and_stay(path, line, rule):
    for content in (LINE + line + b"\n", LINE + b"\n" + line + b"\n" + LINE):
        path.write_bytes(content)
        for open_ in (read_labels, LabelFile):
            with pytest.raises(DataError, match=rule) as caught:
                open_(path)
            number = content.split(line)[0].count(b"\n") + 1
            assert caught.value.where == f"{path}:{number}"
        assert path.read_bytes() == content


def test_notes_without_a_line_end_are_not_removed(path):
    path.write_bytes(b"some notes")
    with pytest.raises(DataError):
        LabelFile(path)
    assert path.read_bytes() == b"some notes"


def test_long_texts_are_left_out(path):
    long = "ö" * (LONGEST_TEXT // 2)
    with LabelFile(path) as file:
        file.append(LabelledPair(a="1", b="2", label="same", text_a=long, text_b=long + "x"))
    assert [read_labels(path)[0].text_a, read_labels(path)[0].text_b] == [long, None]


def test_one_process_at_a_time(path):
    with LabelFile(path), pytest.raises(OutputRefused, match="another process"):
        LabelFile(path)
    with LabelFile(path):
        pass


def test_standard_input_cannot_be_used():
    with pytest.raises(InputRefused, match="-: standard input cannot be used here; save it in a file"):
        read_labels("-")


def test_paths_that_cannot_be_used(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name in ("", "a\0b", 5):
        for open_ in (read_labels, LabelFile):
            with pytest.raises(ParameterError):
                open_(name)
    for name in (".", "gone.jsonl"):
        with pytest.raises(InputRefused):
            read_labels(tmp_path / name)
    for name in (".", "pipe", "gone/labels.jsonl", "/dev/full", "/dev/stdout"):
        with pytest.raises(OutputRefused):
            LabelFile(tmp_path / name)


def test_a_device_without_an_end_is_too_large(monkeypatch):
    monkeypatch.setattr(labels, "MOST_BYTES", 1_000_000)
    with pytest.raises(DataError, match="it expands to more than 1,000,000 bytes"):
        read_labels("/dev/zero")


def test_a_full_disk_leaves_complete_lines(path, monkeypatch):
    with LabelFile(path) as file:
        file.append(FIRST)
        whole, write = path.read_bytes(), os.write

        def full(descriptor, data):
            if not data[:1] == b"{":
                raise OSError(28, "No space left on device")
            return write(descriptor, data[:50])

        monkeypatch.setattr(os, "write", full)
        with pytest.raises(OutputError, match="No space left"):
            file.append(SECOND)
        monkeypatch.undo()
        assert path.read_bytes() == whole
        file.append(SECOND)
    assert read_labels(path) == [FIRST, SECOND]


def test_a_file_that_is_moved_gets_no_more_answers(path):
    with LabelFile(path) as file:
        file.append(FIRST)
        path.rename(path.with_name("moved.jsonl"))
        with pytest.raises(OutputError, match="moved or removed"):
            file.append(SECOND)
        path.with_name("moved.jsonl").rename(path)
        file.append(SECOND)
    assert read_labels(path) == [FIRST, SECOND]


def test_the_working_directory_may_change(path, tmp_path, monkeypatch):
    other = tmp_path / "other" / path.name
    other.parent.mkdir()
    other.write_bytes(LINE)
    monkeypatch.chdir(tmp_path)
    with LabelFile(path.name) as file:
        file.append(FIRST)
        monkeypatch.chdir("other")
        file.append(SECOND)
        file.replace([SECOND])
    assert read_labels(path) == [SECOND]
    assert other.read_bytes() == LINE


def test_a_file_that_has_taken_the_place_is_not_replaced(path):
    with LabelFile(path) as file:
        file.append(FIRST)
        path.rename(path.with_name("moved.jsonl"))
        path.write_bytes(LINE)
        with pytest.raises(OutputError, match="it was replaced while it was open; restore the original file"):
            file.replace([SECOND])
    assert path.read_bytes() == LINE
    assert read_labels(path.with_name("moved.jsonl")) == [FIRST]


def test_values_of_numpy_and_lone_surrogates_are_written(path):
    numbers = {"resemblance": np.float32(0.9), "weight": np.int64(4)}
    with LabelFile(path) as file:
        file.append(LabelledPair(a=np.str_("1"), b="2", label="same", text_a="ferry \ud800", **numbers))
    assert read_labels(path) == [
        LabelledPair(a="1", b="2", label="same", resemblance=0.9, weight=4, text_a="ferry \ufffd\ufffd\ufffd")
    ]


def test_errors_are_those_of_the_house(path):
    path.write_bytes(b"\x80" * 10)
    with pytest.raises(NeardupError):
        read_labels(path)
