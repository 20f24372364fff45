import json

STORM = "the storm broke over the harbour at dawn and the boats were lost with all that they had"


def written(path, *texts):
    path.write_text("".join(json.dumps({"id": f"{path.stem}{n}", "text": text}) + "\n" for n, text in enumerate(texts)))


def test_contaminated_items_and_the_documents_to_drop(neardup, tmp_path):
    written(tmp_path / "train.jsonl", "rye and water and time", f"{STORM.title()}! And more of it.")
    written(tmp_path / "tests.jsonl", STORM, "who baked the bread and why did he do so all night in that cold")
    shown = neardup(
        "contamination", "train.jsonl", "--against", "tests.jsonl", "--items", "i.jsonl", "--documents", "d.jsonl"
    ).out
    assert "2  training documents" in shown
    assert "1  contaminated: one document has 0.8 or more of the item" in shown
    items = [json.loads(line) for line in (tmp_path / "i.jsonl").read_text().splitlines()]
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


def test_wrong_usage_is_reported(neardup, tmp_path):
    written(tmp_path / "train.jsonl", STORM)
    assert "--against" in neardup("contamination", "train.jsonl", code=2).err
    again = ("contamination", "train.jsonl", "--against", "train.jsonl")
    assert "--words 0" in neardup(*again, "--words", "0", code=2).err
    for option in ("--items", "--documents"):
        assert f"{option} x.txt: the value must end in .parquet" in neardup(*again, option, "x.txt", code=2).err
    assert "one of the inputs" in neardup(*again, "--items", "train.jsonl", "--force", code=2).err
    twice = neardup(*again, "--items", "x.jsonl", "--documents", "./x.jsonl", "--force", code=2).err
    assert "./x.jsonl: --items and --documents must be different paths" in twice
    assert not (tmp_path / "x.jsonl").exists()
    for one, other in (("train.jsonl", "ids.jsonl"), ("ids.jsonl", "train.jsonl")):
        (tmp_path / "ids.jsonl").write_text('{"text": "storm", "own": 1}\n{"text": "rain"}\n')
        unnamed = neardup("contamination", one, "--against", other, "--id", "own", code=1).err
        assert "train.jsonl: there is no field 'own'; the fields are: " in unnamed
    assert "must name standard input only once" in neardup("contamination", "-", "--against", "-", code=2).err
    (tmp_path / "tests.jsonl").write_text('{"question": "why"}\n')
    missing = neardup("contamination", "train.jsonl", "--against", "tests.jsonl", code=1).err
    assert "tests.jsonl: there is no field 'text'; the fields are: question; --text names" in missing
    assert (
        "tests.jsonl: there is no field"
        in neardup("contamination", "tests.jsonl", "--against", "train.jsonl", code=1).err
    )
