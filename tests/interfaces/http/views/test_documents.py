from datetime import UTC, datetime

from neardup.interfaces.http.views.documents import MEMBERS, MOST, document_view
from neardup.interfaces.http.views.results import PageQuery
from neardup.model.seen import Document

WHEN = datetime(2026, 3, 7, tzinfo=UTC)


def document(own="a", kept="a", text="the ferry", **fields):
    return Document(own, WHEN, WHEN, WHEN, kept, fields, text)


def test_one_that_stands_for_nobody():
    view = document_view(document(title="The ferry", url="https://a.example/"), 0, [], 1)
    assert view.entry.title == (("The ferry", False),)
    assert view.entry.href == "https://a.example/"
    assert (view.representative, view.others, view.pages) == (None, (), None)
    assert "no other document" in view.status


def test_one_that_stands_for_others_lists_them_by_pages():
    members = [(document(f"m{place:03}", title=f"Title {place}"), 0.876) for place in range(MEMBERS + 3)]
    first = document_view(document(), len(members), members[:MEMBERS], 1, measure="resemblance")
    second = document_view(document(), len(members), members[MEMBERS:], 2)
    assert [one.entry.name for one in (*first.others, *second.others)] == [f"Title {n}" for n in range(MEMBERS + 3)]
    assert first.number == str(MEMBERS + 3)
    assert first.pages.following == "/documents?id=a&page=2"
    assert second.pages.previous == "/documents?id=a"
    assert first.others[0].compare == "/compare?a=a&b=m000"
    assert first.others[0].entry.document == "/documents?id=m000"
    assert (first.others[0].why, first.others[0].entry.day) == ("Estimated resemblance 0.88", "7 Mar 2026")
    unknown = document_view(document(), 1, [(document("m"), None)], 1)
    assert unknown.others[0].why == ""


def test_every_link_leads_back_to_the_search():
    asked = PageQuery(q="ferry x", sort="newest", page=2)
    view = document_view(document(), 1, [(document("m"), 0.5)], 1, asked=asked)
    back = "back=q%3Dferry%2520x%26sort%3Dnewest%26page%3D2"
    assert (view.search.q, view.search.ways) == ("ferry x", {"sort": "newest"})
    assert view.search.link() == "/?q=ferry%20x&sort=newest&page=2"
    assert view.others[0].compare == f"/compare?a=a&b=m&{back}"
    assert view.others[0].entry.document == f"/documents?id=m&{back}"
    assert document_view(document("b", "a"), 0, [], 1, asked=asked).representative.href == f"/documents?id=a&{back}"


def test_a_repeat_leads_to_the_one_that_stands_for_it():
    view = document_view(document("b", "a/&"), 0, [], 1)
    assert view.representative.href == "/documents?id=a%2F%26"
    assert view.representative.compare == "/compare?a=a%2F%26&b=b"
    assert view.others == ()


def test_texts_are_cut_or_not_there():
    cut = document_view(document(text="x" * (MOST + 1)), 0, [], 1)
    assert len(cut.text) == MOST
    assert f"{MOST + 1:,}" in cut.note
    none = document_view(document(text=None), 0, [], 1)
    assert none.text is None
    assert none.note == "The index keeps no texts."


def test_fields_without_a_value_are_left_out():
    fields = dict(document_view(document(rank=3, site=None, at=WHEN), 0, [], 1).fields)
    assert fields == {"id": "a", "rank": "3", "at": str(WHEN)}
