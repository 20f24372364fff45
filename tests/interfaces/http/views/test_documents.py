from datetime import UTC, datetime

from neardup.interfaces.http.views.documents import MOST, SIZE, document_view
from neardup.model.seen import Document

WHEN = datetime(2026, 3, 7, tzinfo=UTC)


def document(own="a", kept="a", text="the ferry", **fields):
    return Document(own, WHEN, WHEN, WHEN, kept, fields, text)


def test_one_that_stands_for_nobody():
    view = document_view(document(title="The ferry", url="https://a.example/"), ["a"], 1)
    assert view.entry.title == (("The ferry", False),)
    assert view.entry.href == "https://a.example/"
    assert (view.representative, view.others, view.pages) == (None, (), None)
    assert "no other document" in view.status


def test_one_that_stands_for_others_lists_them_by_pages():
    members = ["a", *(f"m{place:03}" for place in range(SIZE + 3))]
    first, second = (document_view(document(), members, page) for page in (1, 2))
    assert [one.label for one in (*first.others, *second.others)] == members[1:]
    assert first.number == str(SIZE + 3)
    assert first.pages.following == "/documents?id=a&page=2"
    assert second.pages.previous == "/documents?id=a"
    assert first.others[0].compare == "/compare?a=a&b=m000"
    assert first.others[0].href == "/documents?id=m000"


def test_a_repeat_leads_to_the_one_that_stands_for_it():
    view = document_view(document("b", "a/&"), ["a/&", "b"], 1)
    assert view.representative.href == "/documents?id=a%2F%26"
    assert view.representative.compare == "/compare?a=a%2F%26&b=b"
    assert view.others == ()


def test_texts_are_cut_or_not_there():
    cut = document_view(document(text="x" * (MOST + 1)), ["a"], 1)
    assert len(cut.text) == MOST
    assert f"{MOST + 1:,}" in cut.note
    none = document_view(document(text=None), ["a"], 1)
    assert none.text is None
    assert none.note == "The index keeps no texts."


def test_fields_without_a_value_are_left_out():
    fields = dict(document_view(document(rank=3, site=None, at=WHEN), ["a"], 1).fields)
    assert fields == {"id": "a", "rank": "3", "at": str(WHEN)}
