from datetime import UTC, datetime

from neardup.interfaces.http.views.entries import entry
from neardup.model.answers import Marked, Snippet

WHEN = datetime(2026, 3, 7, 12, 30, tzinfo=UTC)


def test_without_a_title_it_is_called_by_its_address_or_its_id():
    assert entry(id="a", title=None, url=None, moment=WHEN).name == "a"
    assert entry(id="a", title="", url="http://b.example/", moment=WHEN).name == "http://b.example/"


def test_a_blank_title_is_none():
    blank = Snippet(title=Marked(" \n", ()), body=Marked("storm", ((0, 5),)))
    one = entry(id="a", title=" \n", url="http://b.example/", moment=WHEN, snippet=blank)
    assert (one.name, one.title) == ("http://b.example/", (("http://b.example/", False),))


def test_the_day_is_that_of_the_moment_in_any_locale():
    one = entry(id="a", title="T", url=None, moment=WHEN)
    assert (one.day, one.stamp) == ("7 Mar 2026", "2026-03-07T12:30:00+00:00")


def test_an_id_that_is_an_address_leads_there():
    assert entry(id="https://a.example/x", title=None, url=None, moment=WHEN).href == "https://a.example/x"
    assert entry(id="a", title=None, url=None, moment=WHEN).href is None
