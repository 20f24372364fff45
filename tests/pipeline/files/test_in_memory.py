from dataclasses import replace

import pytest
from json_lines import write_lines

from neardup import MinHash
from neardup.engines.local import LocalEngine
from neardup.model.errors import ValueRefused
from neardup.model.memory import OF_RUN
from neardup.model.policy import Policy
from neardup.pipeline.files.in_memory import decided_documents
from neardup.pipeline.run_settings import EarlierDocuments, RunSettings
from neardup.sources.read import read
from neardup.sources.request import Request

SETTINGS = RunSettings(
    request=Request(),
    scheme=MinHash(),
    ignore_common=None,
    policy=Policy(),
    outputs={},
    force=False,
    revisits=False,
    memory=OF_RUN,
    restart=False,
    keep_work=False,
    part_size=None,
    out_format=None,
    executors=None,
    earlier=EarlierDocuments(),
)
TEXTS = ["one two three four five", "six seven eight nine ten", "ONE two three four five"]


@pytest.fixture
def documents(tmp_path):
    def of(scores):
        path = tmp_path / "in.jsonl"
        lines = [
            {"id": n, "text": text, "score": score} for n, (text, score) in enumerate(zip(TEXTS, scores, strict=True))
        ]
        write_lines(path, lines)
        return read([path], columns=["score"])

    return of


def decided(documents, keep):
    with LocalEngine(1) as engine:
        return decided_documents(documents, replace(SETTINGS, policy=Policy(keep=keep)), engine, lambda *_: None)[0]


@pytest.mark.parametrize(
    ("scores", "keep"),
    [(["1", "9", "10"], "max:score"), ([1, 2, 3], "max:id,longest"), ([1, 2, 3], "min:text")],
    ids=["numbers", "ids", "texts"],
)
def test_values_rank_as_numbers_and_so_may_ids_and_texts(documents, scores, keep):
    result = decided(documents(scores), keep)
    assert result.kept.tolist() == [1, 2]
    assert result.summary.policy.keep == keep
    assert result.decisions["id"].to_pylist() == ["0", "1", "2"]


def test_values_of_csv_rank_as_numbers_with_blanks_around_them(tmp_path):
    rows = [f"{number},{score},{TEXTS[0]}" for number, score in enumerate(["9", "", "10 "])]
    (tmp_path / "in.csv").write_text("\n".join(["id,score,text", *rows, ""]))
    assert decided(read([tmp_path / "in.csv"], columns=["score"]), "max:score").kept.tolist() == [2]


def test_an_error_names_the_line_and_the_field(documents):
    with pytest.raises(ValueRefused, match=r"in\.jsonl:2: its 'score' is 'x'"):
        decided(documents(["1", "x", "10"]), "max:score")
