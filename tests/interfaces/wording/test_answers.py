import pytest
from answers import answer, group, hit, repeat, shown

from neardup.interfaces.wording.answers import advice_of, because, total_of


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ({"groups": 12, "hidden": 31, "total": 43, "examined": 43}, "12 results, 31 repeats hidden"),
        ({"groups": 1, "hidden": 1, "total": 2, "examined": 2}, "1 result, 1 repeat hidden"),
        ({"groups": 1, "hidden": 0, "total": 1, "examined": 1}, "1 result, no repeats hidden"),
        ({"groups": 0, "hidden": 0, "total": 0, "examined": 0}, "No results"),
        (
            {"groups": 78, "hidden": 22, "total": 2341, "examined": 100},
            "78 results, 22 repeats hidden, of the first 100 of 2,341 matches",
        ),
        ({"groups": 43, "hidden": 0, "total": 43, "examined": 43, "collapse": "off"}, "43 results, repeats shown"),
        ({"groups": 1234, "hidden": 2000, "total": 3234, "examined": 3234}, "1,234 results, 2,000 repeats hidden"),
    ],
)
def test_the_total_says_what_was_looked_at(told, said):
    assert total_of(answer(**told)) == said


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (repeat(hit()), "Near duplicate, verified: resemblance 0.88, at least 0.6 by minhash"),
        (repeat(hit(), value=0.999), "Near duplicate, verified: resemblance 0.99, at least 0.6 by minhash"),
        (
            repeat(hit(), value=1.0, threshold=0.95, verified=False),
            "Near duplicate, not verified: estimated resemblance 1.00, at least 0.95 by minhash",
        ),
        (
            repeat(hit(), value=0.9246, threshold=0.9245, verified=False),
            "Near duplicate, not verified: estimated resemblance 0.925, at least 0.924 by minhash",
        ),
        (
            repeat(hit(), rule="checksum", measure="equality", value=1.0, threshold=1.0, verified=False),
            "Near duplicate, not verified: equal by checksum",
        ),
        (repeat(hit(), rule="same text", measure="equality", value=None, threshold=None), "Same text"),
        (
            repeat(hit(), rule="same site", measure="equality", value="a.example", threshold=None),
            "Same site: a.example",
        ),
        (repeat(hit(), rule="same site", measure="equality", value="a\u202e", threshold=None), "Same site: a\\u202e"),
    ],
)
def test_the_reason_names_rule_and_value(one, said):
    assert because(one) == said


def test_repeats_of_the_same_site_are_not_called_repeats():
    one = repeat(hit("b"), rule="same site", measure="equality", value="a.example", threshold=None)
    found = answer(group(shown(hit()), [one], hides=18), collapse="site")
    assert total_of(found) == "1 result, 18 more from the same sites hidden"
    assert total_of(answer(group(shown(hit())), collapse="site")) == "1 result, no others from the same sites hidden"


def test_all_hits_that_are_shown_are_counted_as_results():
    assert total_of(answer(keep=2, groups=1, examined=3, total=3, hidden=1)) == "2 results, 1 repeat hidden"


@pytest.mark.parametrize(
    ("told", "site", "said"),
    [
        ({}, None, "No document has all of these words."),
        ({}, "a.example", "No document of a.example has all of these words."),
        ({"query": " \t"}, None, "The query is empty."),
        ({"query": "+ -"}, None, "Only words and numbers are searched: signs and emoji are not."),
        ({"query": "?!"}, None, "Only words and numbers are searched: signs and emoji are not."),
        ({"query": "\U0001f30a"}, None, "Only words and numbers are searched: signs and emoji are not."),
        ({"page": 9, "pages": 3, "total": 21}, None, "There is no page 9: the last one is 3."),
    ],
)
def test_a_page_without_results_has_advice(told, site, said):
    assert advice_of(answer(**told), site)[0] == said


def test_a_page_with_results_needs_no_advice():
    assert advice_of(answer(group(shown(hit()))), None) == ()
