import json

import pytest
from json_lines import read_lines, write_lines

STORM = "the storm broke over the harbour at dawn and the boats were lost with all that they had"


def written(path, *texts):
    write_lines(path, [{"id": f"{path.stem}{n}", "text": text} for n, text in enumerate(texts)])


def test_contaminated_items_and_the_documents_to_drop(neardup, tmp_path):
    written(tmp_path / "train.jsonl", "rye and water and time", f"{STORM.title()}! And more of it.")
    written(tmp_path / "tests.jsonl", STORM, "who baked the bread and why did he do so all night in that cold")
    shown = neardup(
        "contamination", "train.jsonl", "--against", "tests.jsonl", "--items", "i.jsonl", "--documents", "d.jsonl"
    ).out
    assert "2  training documents" in shown
    assert "1  contaminated: one document has 0.8 or more of the item" in shown
    items = read_lines(tmp_path / "i.jsonl")
    assert [(one["id"], one["contaminated"], one["document"]) for one in items] == [
        ("tests0", True, "train1"),
        ("tests1", False, None),
    ]
    assert json.loads((tmp_path / "d.jsonl").read_text())["id"] == "train1"
    told = neardup("contamination", "train.jsonl", "--against", "tests.jsonl", "--json").json
    assert (told["items"], told["contaminated"], told["to_drop"]) == (2, 1, 1)


def test_documents_of_standard_input_are_named_by_their_line(neardup, tmp_path):
    written(tmp_path / "tests.jsonl", STORM)
    lines = "".join(json.dumps({"text": text}) + "\n" for text in ("another text", STORM))
    shown = neardup("contamination", "-", "--against", "tests.jsonl", "--documents", "-", stdin=lines.encode()).out
    assert json.loads(shown)["id"] == "<stdin>:2"


def test_items_without_words_are_counted(neardup, tmp_path):
    written(tmp_path / "train.jsonl", STORM)
    written(tmp_path / "tests.jsonl", STORM, "...", "")
    command = ("contamination", "train.jsonl", "--against", "tests.jsonl")
    assert "2  of these without words, which no document can contain" in neardup(*command).out
    assert neardup(*command, "--json").json["without_words"] == 2


def test_records_without_a_text_are_reported(neardup, tmp_path):
    written(tmp_path / "train.jsonl", STORM)
    written(tmp_path / "tests.jsonl", STORM)
    for name in ("train.jsonl", "tests.jsonl"):
        with (tmp_path / name).open("a") as file:
            file.write(json.dumps({"question": STORM}) + "\n")
    command = ("contamination", "train.jsonl", "--against", "tests.jsonl")
    shown = neardup(*command).out
    for name in ("train.jsonl", "tests.jsonl"):
        assert f"1  without text: field 'text' missing or null, first in {name}:2" in shown
    found = neardup(*command, "--json").json
    assert found["items_without_text"] == {"records": 1, "source": "tests.jsonl", "position": 2, "field": "text"}


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ("train.jsonl", 2, "--against"),
        ("train.jsonl --against train.jsonl --words 0", 2, "--words 0"),
        ("train.jsonl --against train.jsonl --items x.txt", 2, "--items x.txt: the value must end in .parquet"),
        ("train.jsonl --against train.jsonl --documents x.txt", 2, "--documents x.txt: the value must end in .parquet"),
        ("train.jsonl --against train.jsonl --items train.jsonl --force", 2, "one of the inputs"),
        (
            "train.jsonl --against train.jsonl --items x.jsonl --documents ./x.jsonl --force",
            2,
            "./x.jsonl: --items and --documents must be different paths",
        ),
        ("- --against -", 2, "must name standard input only once"),
        ("train.jsonl --against ids.jsonl --id own", 1, "train.jsonl: there is no field 'own'; the fields are: "),
        ("ids.jsonl --against train.jsonl --id own", 1, "train.jsonl: there is no field 'own'; the fields are: "),
        (
            "train.jsonl --against tests.jsonl",
            1,
            "tests.jsonl: there is no field 'text'; the fields are: question; --text names",
        ),
        ("tests.jsonl --against train.jsonl", 1, "tests.jsonl: there is no field"),
    ],
)
def test_wrong_usage_is_reported(neardup, tmp_path, arguments, code, message):
    written(tmp_path / "train.jsonl", STORM)
    (tmp_path / "ids.jsonl").write_text('{"text": "storm", "own": 1}\n{"text": "rain"}\n')
    (tmp_path / "tests.jsonl").write_text('{"question": "why"}\n')
    assert message in neardup("contamination", *arguments.split(), code=code).err
    assert not (tmp_path / "x.jsonl").exists()
