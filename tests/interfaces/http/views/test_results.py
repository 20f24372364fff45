from datetime import UTC, datetime

import pytest
from answers import answer, group, hit, repeat, shown

from neardup.interfaces.http.views.results import (
    LISTED,
    PageQuery,
    entry,
    members_view,
    results_view,
)
from neardup.model.answers import Marked, Snippet

WHEN = datetime(2026, 3, 7, 12, 30, tzinfo=UTC)
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


@pytest.mark.parametrize("query", ["\U0001f30a", "?!", "+ -"])
def test_a_query_of_signs_only_is_told_so(query):
    said, _ = results_view(PageQuery(q=query), answer(query=query), {}).advice
    assert said == "Only words and numbers are searched: signs and emoji are not."


def test_no_other_step_where_there_is_no_threshold():
    assert results_view(PageQuery(q="x"), answer(group(shown(hit()))), {}).strictness == ()


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


def test_strictness_goes_with_near_duplicates_only():
    assert results_view(PageQuery(q="x", rule="site"), answer(group(shown(hit()))), STEPS).strictness == ()


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
