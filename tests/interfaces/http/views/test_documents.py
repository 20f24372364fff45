from datetime import UTC, datetime

from neardup.evaluation.comparison import explain
from neardup.interfaces.http.views.documents import MEMBERS, MOST, PIECES, comparison_view, document_view
from neardup.interfaces.http.views.results import PageQuery
from neardup.model.seen import Document

WHEN = datetime(2026, 3, 7, tzinfo=UTC)
STORM = "The storm broke over the harbour at dawn and tore three fishing boats from their moorings before noon"


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


def viewed(one, other, ids=("a", "b")):
    documents = [Document(own, WHEN, WHEN, WHEN, own, {}, text) for own, text in zip(ids, (one, other), strict=True)]
    return comparison_view(*documents, explain(one, other, most=MOST))


def whole(side):
    return "".join(piece.text + piece.rest for piece in side.text.pieces)


def test_both_texts_are_there_whole():
    view = viewed(f"{STORM}.\n\nOh", f"Well: {STORM}")
    assert [whole(side) for side in view.sides] == [f"{STORM}.\n\nOh", f"Well: {STORM}"]
    assert [side.text.left for side in view.sides] == [0, 0]
    assert view.matches


def test_what_only_one_has_is_told_apart_and_the_rest_linked():
    view = viewed(f"{STORM} and more", f"{STORM} and less")
    alone = [[piece.text for piece in side.text.pieces if piece.kind == "alone"] for side in view.sides]
    assert alone == [["more"], ["less"]]
    (a,), (b,) = ([piece for piece in side.text.pieces if piece.kind == "shared"] for side in view.sides)
    assert a.passages == b.passages == (0,)
    assert [side.anchors for side in view.sides] == ["ab", "ba"]


def test_measures_both_ways():
    measures = {name: value for name, value, _ in viewed(STORM, f"{STORM} {STORM[::-1]}").measures}
    assert measures["A in B"] == "100 %"
    assert measures["B in A"] not in {"0 %", "100 %"}


def test_a_long_text_is_cut_and_it_says_so():
    long = "word " * (MOST // 5) + "tail"
    view = viewed(long, STORM)
    assert any(f"{MOST:,} characters" in line for line in view.notes)
    assert view.sides[0].text.left == 4


def test_many_pieces_are_cut_and_the_rest_counted():
    one = " ".join(f"same words here {place} a{place}" for place in range(PIECES))
    other = " ".join(f"same words here {place} b{place}" for place in range(PIECES))
    view = viewed(one, other)
    assert all(len(side.text.pieces) <= PIECES for side in view.sides)
    lengths = [
        sum(len(piece.text) + len(piece.rest) for piece in side.text.pieces) if side.text.left else None
        for side in view.sides
    ]
    assert lengths[0] is not None
    assert view.sides[0].text.left == len(one) - lengths[0]


def test_empty_texts_say_why_there_is_no_match():
    view = viewed("", "")
    assert not view.matches
    assert "no signature" in view.decision
    assert [side.text.pieces for side in view.sides] == [(), ()]


def test_the_same_document_twice_is_said():
    assert viewed(STORM, STORM, ("a", "a")).answer == "Both are the same document"


def test_what_decides_comes_first_and_the_estimate_below():
    view = viewed(STORM, f"{STORM} on Tuesday")
    assert view.answer == "These two repeat each other, by the rule of the index, on their texts"
    assert view.decision.startswith(
        "minhash: resemblance 0.8889; rule: resemblance of sets of 3-word shingles at least"
    )
    assert view.estimate.startswith("Signatures alone: match: estimated resemblance 0.")
    assert view.measures[0][:2] == ("Resemblance", "0.89")


def test_texts_that_share_nothing_are_not_marked():
    view = viewed(STORM, "quite another text")
    assert view.notes == ("The texts share no passage, so nothing is marked.",)
    assert [piece.kind for side in view.sides for piece in side.text.pieces] == ["between", "between"]


def test_what_is_decided_is_decided_on_the_whole_texts():
    head = "word " * (MOST // 5)
    view = viewed(f"{head}{STORM}", f"{head}{STORM[::-1]}")
    assert not view.matches


def test_whole_texts_or_differences_only_are_chosen_by_links_that_keep_the_search():
    documents = [Document(own, WHEN, WHEN, WHEN, own, {}, STORM) for own in ("a", "b")]
    view = comparison_view(*documents, explain(STORM, STORM), "differences", PageQuery(q="storm", sort="newest"))
    assert [(one.label, one.chosen) for one in view.ways] == [("whole texts", False), ("differences only", True)]
    assert view.ways[0].href == "/compare?a=a&b=b&shown=whole&back=q%3Dstorm%26sort%3Dnewest"
    assert view.search.link() == "/?q=storm&sort=newest"
    assert not any(one.chosen for one in viewed(STORM, STORM).ways)  # the width of the screen decides
