import pytest

from neardup.interfaces.http.problems import KINDS, QUERY_TIME, Refused
from neardup.interfaces.http.views.problems import problem_view


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_every_problem_has_a_page(kind):
    view = problem_view(Refused(kind).problem)
    assert (view.status, view.title) == (kind.status, kind.title)
    assert view.detail


def test_what_plays_tricks_is_escaped():
    assert problem_view(Refused(QUERY_TIME, "a\u202eb").problem).detail == "a\\u202eb"
