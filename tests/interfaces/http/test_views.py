from datetime import UTC, datetime

from answers import answer, group, hit, repeat, shown

from neardup.evaluation.comparison import explain
from neardup.interfaces.http.views import (
    LISTED,
    MEMBERS,
    MOST,
    PIECES,
    PageQuery,
    comparison_view,
    document_view,
    entry,
    members_view,
    results_view,
)
from neardup.model.answers import Marked, Snippet
from neardup.model.seen import Document

WHEN = datetime(2026, 3, 7, 12, 30, tzinfo=UTC)
STORM = "The storm broke over the harbour at dawn and tore three fishing boats from their moorings before noon"
STEPS = {"loose": 0.4, "default": 0.6, "strict": 0.8, "strictest": 0.95}


def test_what_is_of_the_same_site_is_not_called_a_duplicate():
    one = repeat(hit("b"), rule="same site", measure="equality", value="a.example", threshold=None)
    found = answer(group(shown(hit()), [one], hides=18), collapse="site")
    (result,) = results_view(PageQuery(q="x", rule="site"), found, {}).results
    assert result.hidden == "18 more from this site"
    assert result.others.label == "List all 18 from this site"
    assert members_view(PageQuery(q="x", rule="site"), found).heading == "18 more from this site"
    (result,) = results_view(PageQuery(q="x"), answer(group(shown(hit()), [one])), {}).results
    assert result.hidden == "Duplicates (1)"


def test_a_hidden_hit_names_the_hit_that_it_repeats():
    found = answer(group(shown(hit("a", "Kept")), [repeat(hit("b", "Gone")), repeat(hit("c"), of="on another page")]))
    (result,) = results_view(PageQuery(q="x"), found, {}).results
    assert [one.of for one in result.repeats] == ["Kept", "on another page"]


def test_only_near_duplicates_with_thresholds_have_a_strictness():
    for query, steps in ((PageQuery(q="x"), {}), (PageQuery(q="x", rule="site"), STEPS)):
        assert results_view(query, answer(group(shown(hit()))), steps).strictness == ()


def test_links_take_along_what_was_asked_and_no_more():
    asked = PageQuery(q="a b&c#d", rule="exact", page=3)
    assert asked.link() == "/?q=a%20b%26c%23d&rule=exact&page=3"
    assert asked.link(page=1) == "/?q=a%20b%26c%23d&rule=exact"
    assert asked.link(repeats="shown", page=1) == "/?q=a%20b%26c%23d&rule=exact&repeats=shown"
    assert PageQuery(q="x").link() == "/?q=x"


def test_another_query_keeps_how_repeats_are_handled():
    view = results_view(PageQuery(q="x", strictness="strict", repeats="shown", page=4), answer(), STEPS)
    assert view.search.ways == {"strictness": "strict", "repeats": "shown"}
    assert results_view(PageQuery(q="x"), answer(), STEPS).search.ways == {}


def test_one_choice_of_each_kind_is_chosen():
    view = results_view(PageQuery(q="x", strictness="strict"), answer(group(shown(hit()))), STEPS)
    for choices in (view.rules, view.strictness, view.switch):
        assert sum(one.chosen for one in choices) == 1
    assert [one.label for one in view.strictness if one.chosen] == ["strict 0.8"]


def test_what_hides_nothing_has_no_choice_of_rule():
    view = results_view(PageQuery(q="x", repeats="shown"), answer(group(shown(hit())), collapse="off"), STEPS)
    assert (view.rules, view.strictness) == ((), ())
    assert [(one.label, one.chosen) for one in view.switch] == [("hidden", False), ("shown", True)]


def test_many_duplicates_have_a_page_of_their_own():
    few = group(shown(hit()), [repeat(hit(str(place))) for place in range(LISTED)])
    many = group(shown(hit()), [repeat(hit(str(place))) for place in range(LISTED + 1)], number=99)
    view = results_view(PageQuery(q="x", page=2), answer(few, many, page=2, pages=2), STEPS)
    assert [len(one.repeats) for one in view.results] == [LISTED, LISTED]
    assert [one.others and one.others.href for one in view.results] == [None, "/?q=x&include=99&from_page=2"]
    assert view.first == 11


def test_a_repeat_leads_to_its_comparison_with_the_one_that_stays():
    view = results_view(PageQuery(q="x"), answer(group(shown(hit("a#1")), [repeat(hit("b 2"), of="a#1")])), STEPS)
    assert view.results[0].repeats[0].compare == "/compare?a=a%231&b=b%202&back=q%3Dx"


def test_ids_too_long_for_an_address_have_no_link():
    long = "%" * 1024
    view = results_view(PageQuery(q="x"), answer(group(shown(hit(long)), [repeat(hit(long), of=long)])), STEPS)
    assert view.results[0].repeats[0].compare is None
    assert view.results[0].entry.document == "/documents?id=" + "%25" * 1024 + "&back=q%3Dx"


def test_without_results_there_is_advice():
    view = results_view(PageQuery(q="x"), answer(), STEPS)
    assert view.results == ()
    assert len(view.advice) == 2
    assert view.instead == ()


def test_shorter_queries_have_their_numbers_and_stay_on_the_site():
    asked = PageQuery(q="rye storm", site="a.example", page=1)
    view = results_view(asked, answer(), STEPS, [("storm", "rye", 1), ("rye", "storm", 1200)])
    assert [one.label for one in view.instead] == ["Without storm: 1 document", "Without rye: 1,200 documents"]
    assert view.instead[0].href == "/?q=rye&site=a.example"
    assert "of a.example" in view.advice[0]
    assert view.everywhere.href == "/?q=rye%20storm"


def test_a_result_leads_to_those_of_its_site():
    found = answer(group(shown(hit(url="https://www.a.example/f"))), group(shown(hit(url=None))))
    view = results_view(PageQuery(q="x", page=2), found, STEPS)
    assert [one.site and (one.site.label, one.site.href) for one in view.results] == [
        ("a.example", "/?q=x&site=a.example"),
        None,
    ]
    assert view.everywhere is None
    assert [one.site for one in results_view(PageQuery(q="x", site="a.example"), found, STEPS).results] == [None, None]


def test_the_order_is_chosen_and_kept():
    view = results_view(PageQuery(q="x", sort="newest", page=2), answer(group(shown(hit()))), STEPS)
    assert [(one.label, one.href, one.chosen) for one in view.sorts] == [
        ("best first", "/?q=x", False),
        ("newest first", "/?q=x&sort=newest", True),
    ]
    assert view.search.ways == {"sort": "newest"}


def test_behind_the_last_page_it_leads_back():
    view = results_view(PageQuery(q="x", page=9), answer(page=9, pages=3, groups=21, total=21, examined=21), STEPS)
    assert view.advice == ("There is no page 9: the last one is 3.",)
    assert view.instead[0].href == "/?q=x&page=3"
    assert view.pages is None


def test_members_are_those_of_the_page():
    whole = group(shown(hit()), [repeat(hit("b"))], hides=31)
    view = members_view(PageQuery(q="x", include="7", page=2), answer(whole, include="7", page=2, pages=4, hidden=31))
    assert (view.heading, len(view.kept_hits), len(view.repeats)) == ("Duplicates (31)", 1, 1)
    assert view.back == "/?q=x"
    third = members_view(
        PageQuery(q="x", include="7", page=2, from_page=3), answer(whole, include="7", page=2, pages=4)
    )
    assert (third.back, third.pages.following) == ("/?q=x&page=3", "/?q=x&include=7&page=3&from_page=3")
    assert view.pages.following == "/?q=x&include=7&page=3"


def test_marks_are_where_they_were_found():
    view = results_view(PageQuery(q="x"), answer(group(shown(hit(), body="a\u202eb c", spans=((1, 2), (4, 5))))), STEPS)
    assert view.results[0].entry.snippet == (("a", False), ("\\u202e", True), ("b ", False), ("c", True))


def test_without_a_title_it_is_called_by_its_address_or_its_id():
    assert entry(id="a", title=None, url=None, moment=WHEN).name == "a"
    assert entry(id="a", title="", url="http://b.example/", moment=WHEN).name == "http://b.example/"


def test_a_blank_title_counts_as_missing():
    blank = Snippet(title=Marked(" \n", ()), body=Marked("storm", ((0, 5),)))
    one = entry(id="a", title=" \n", url="http://b.example/", moment=WHEN, snippet=blank)
    assert (one.name, one.title) == ("http://b.example/", (("http://b.example/", False),))


def test_the_day_is_that_of_the_moment_in_any_locale():
    one = entry(id="a", title="T", url=None, moment=WHEN)
    assert (one.day, one.stamp) == ("7 Mar 2026", "2026-03-07T12:30:00+00:00")


def test_an_id_that_is_an_address_leads_there():
    assert entry(id="https://a.example/x", title=None, url=None, moment=WHEN).href == "https://a.example/x"
    assert entry(id="a", title=None, url=None, moment=WHEN).href is None


def document(own="a", kept="a", text="the ferry", **fields):
    return Document(own, WHEN, WHEN, WHEN, kept, fields, text)


def test_a_document_that_represents_no_other():
    view = document_view(document(title="The ferry", url="https://a.example/"), 0, [], 1)
    assert view.entry.title == (("The ferry", False),)
    assert view.entry.href == "https://a.example/"
    assert (view.representative, view.others, view.pages) == (None, (), None)
    assert "no other document" in view.status


def test_a_document_that_represents_others_lists_them_by_pages():
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


def test_a_repeat_leads_to_its_representative():
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


def test_words_of_one_text_are_marked_and_shared_passages_linked():
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


def test_the_same_document_twice_is_reported():
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
