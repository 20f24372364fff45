from datetime import UTC, datetime

from neardup.evaluation.comparison import explain
from neardup.interfaces.http.views.comparison import MOST, PIECES, comparison_view
from neardup.interfaces.http.views.results import PageQuery
from neardup.model.seen import Document

WHEN = datetime(2026, 3, 7, tzinfo=UTC)
STORM = "The storm broke over the harbour at dawn and tore three fishing boats from their moorings before noon"


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
