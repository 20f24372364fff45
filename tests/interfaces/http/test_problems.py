"""The table of problems: the code, the guide and what is answered say the same."""

from pathlib import Path

import pytest
from starlette.exceptions import HTTPException

from neardup.errors import DataError, ParameterError, RecipeMismatch, StorageDamaged
from neardup.interfaces.http import problems
from neardup.interfaces.http.problems import KINDS, Refusal, refusal_of

GUIDE = Path(__file__).resolve().parents[3] / "docs/guide/serving.md"


def test_the_guide_has_the_table():
    rows = [f"| {kind.status} | `{kind.name}` | {kind.when} |" for kind in KINDS]
    assert "\n".join(rows) in GUIDE.read_text("utf-8")


def test_kinds_of_problems_are_distinct():
    assert len({kind.name for kind in KINDS}) == len(KINDS)
    assert [kind.status for kind in KINDS] == sorted(kind.status for kind in KINDS)
    listed = {value for value in vars(problems).values() if isinstance(value, problems.ProblemKind)}
    assert listed == {*KINDS}


@pytest.mark.parametrize(
    ("error", "kind", "told"),
    [
        (ParameterError("page", 0, "must be at least 1"), problems.INVALID, "page must be at least 1"),
        (DataError("id 3", "is empty"), problems.INVALID, "id 3 is empty"),
        (RecipeMismatch("a", "b"), problems.INVALID, str(RecipeMismatch("a", "b"))),
        (StorageDamaged("/srv/secret", "is torn"), problems.UNAVAILABLE, problems.UNAVAILABLE.when),
        (ZeroDivisionError("secret"), problems.BROKEN, problems.BROKEN.when),
        (Refusal(problems.HOST), problems.HOST, problems.HOST.when),
        (HTTPException(405), problems.METHOD, problems.METHOD.when),
    ],
)
def test_how_errors_are_answered(error, kind, told):
    refused = refusal_of(error)
    assert (refused.kind, refused.problem.detail) == (kind, told)


def test_details_are_short():
    assert len(Refusal(problems.INVALID, "x" * 100_000).problem.detail) <= 400
