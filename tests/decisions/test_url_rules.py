from collections import defaultdict

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.decisions.url_rules import Forms, Support, support

RULES, URLS, CONTENTS = 3, 8, 3


def found(forms, own, contents):
    rules, values, urls = zip(*forms, strict=True) if forms else ((), (), ())
    return support(
        Forms(np.array(rules, np.int64), np.array(values, np.uint64), np.array(urls, np.int64)),
        np.array(own, np.uint64),
        np.array(contents, np.int64),
        RULES,
    )


def expected(forms, own, contents):
    """Its definition, with sets."""
    groups = defaultdict(set)
    for rule, value, url in forms:
        groups[rule, value].add(url)
        groups[rule, value] |= {each for each, its in enumerate(own) if its == value}
    answer = []
    for rule in range(RULES):
        several = [urls for (of, _), urls in groups.items() if of == rule and len(urls) > 1]
        all_ = [{contents[url] if contents[url] >= 0 else -1 - url for url in urls} for urls in several]
        one = [each for each in all_ if len(each) == 1 and min(each) >= 0]
        lost = sum(map(len, all_)) - len(all_)
        saved = sum(map(len, several)) - sum(map(len, all_))
        answer.append((len(one), len(several), len(set().union(*one)), lost, saved))
    return answer


@given(
    st.lists(st.tuples(st.integers(0, RULES - 1), st.integers(0, 12), st.integers(0, URLS - 1)), max_size=30),
    st.permutations(range(12)).map(lambda hashes: hashes[:URLS]),
    st.lists(st.integers(-1, CONTENTS), min_size=URLS, max_size=URLS),
)
def test_equals_its_definition(forms, own, contents):
    evidence = found(forms, own, contents)
    counts = (evidence.agreeing, evidence.groups, evidence.contents, evidence.lost, evidence.saved)
    assert list(zip(*(each.tolist() for each in counts), strict=True)) == expected(forms, own, contents)


def test_a_crawl_without_urls_has_no_evidence():
    evidence = found([], [], [])
    assert evidence.groups.tolist() == [0] * RULES
    assert not evidence.chosen.any()


def test_ten_groups_ten_contents_and_nine_tenths_in_agreement_are_needed():
    rows = [(10, 11, 10), (9, 9, 9), (10, 12, 10), (30, 30, 9), (0, 0, 0)]
    evidence = Support(*np.array([(*row, 0, 10) for row in rows]).T)
    assert evidence.chosen.tolist() == [True, False, False, False, False]


def test_a_rule_that_loses_more_than_a_tenth_of_what_it_saves_and_loses_does_not_hold():
    evidence = Support(*np.array([(30, 31, 30, lost, 27) for lost in (0, 3, 4, 29)]).T)
    assert evidence.chosen.tolist() == [True, True, False, False]
