import shlex

import pytest
from json_lines import read_lines, write_lines

ARTICLES = [" ".join(f"w{place}x{word}" for word in range(40)) for place in range(16)]


def pairs():
    for place, text in enumerate(ARTICLES):
        changed = text.split()
        for word in range(0, 40, 20 if place % 2 else 3):
            changed[word] = f"other{word}"
        yield place, text, " ".join(changed), "same" if place % 2 else "different"


@pytest.fixture
def labels(tmp_path):
    rows = [
        {"a": f"a{place}", "b": f"b{place}", "label": label, "text_a": one, "text_b": other}
        for place, one, other, label in pairs()
    ]
    return write_lines(tmp_path / "labels.jsonl", rows)


def test_the_settings_are_printed_and_written(neardup, labels, tmp_path):
    shown = neardup("tune", labels).out
    assert shown.startswith("16 labelled pairs, 8 of them the same\n")
    assert "[policy]\nthreshold = " in shown
    shown = neardup("tune", labels, "--out", "neardup.toml", "--report", "tune.html").out
    assert "[policy]" not in shown
    assert "is valid" in neardup("config", "check", "neardup.toml").out
    assert "The recommended rule" in (tmp_path / "tune.html").read_text()
    assert "exists" in neardup("tune", labels, "--out", "neardup.toml", code=2).err
    write_lines(tmp_path / "texts.jsonl", [{"text": text} for text in pairs().__next__()[1:3]])
    assert "2 kept" in neardup("dedup", "texts.jsonl", "--config", "neardup.toml", "--dry-run").plain


def test_texts_come_from_the_documents(neardup, labels, tmp_path):
    bare = read_lines(labels)
    write_lines(tmp_path / "bare.jsonl", [{**row, "text_a": None, "text_b": None} for row in bare])
    assert (
        "no text of 'a0'; add the file of the documents: neardup tune LABELS INPUT"
        in neardup("tune", "bare.jsonl", code=1).err
    )
    (tmp_path / "others.jsonl").write_text('{"id": "other", "text": "a b c"}\n')
    unknown = "the documents have no such id; name the file with this document, too, or remove the labels of its pairs"
    assert unknown in neardup("tune", "bare.jsonl", "others.jsonl", code=1).err
    texts = [{"id": row[side], "text": row[f"text_{side}"]} for row in bare for side in "ab"]
    write_lines(tmp_path / "texts.jsonl", texts)
    found = neardup("tune", "bare.jsonl", "texts.jsonl", "--json").json
    assert found == neardup("tune", labels, "--json").json
    assert found["expected"]["f1"]["value"] == 1.0
    unneeded = "the documents were not needed"
    assert unneeded in neardup("tune", labels, "texts.jsonl").out
    assert unneeded not in neardup("tune", "bare.jsonl", "texts.jsonl").out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("labels.jsonl --goal best", 2, "must be f1, precision>=SHARE"),
        ("labels.jsonl --out x.json", 2, ".toml"),
        ("nowhere.jsonl", 2, "no such file"),
        ("''", 2, "LABELS: the path is empty"),
        ("documents.jsonl", 1, "the field 'a' is missing; `neardup label` writes files of labels"),
        (
            "empty.jsonl",
            1,
            "empty.jsonl: there are no labels; label pairs first: neardup label INPUT --out empty.jsonl",
        ),
        ("same.jsonl", 1, "same.jsonl: no pair is labelled 'different' (16 'same'); label more pairs, until"),
    ],
)
def test_wrong_uses_are_explained(neardup, labels, arguments, code, message):
    labels.with_name("documents.jsonl").write_text('{"id": 1, "text": "one"}\n')
    labels.with_name("empty.jsonl").touch()
    labels.with_name("same.jsonl").write_text(labels.read_text().replace("different", "same"))
    assert message in neardup("tune", *shlex.split(arguments), code=code).err
