import pytest

from neardup.interfaces.http.views.paging import paging


@pytest.mark.parametrize(("page", "pages"), [(1, 0), (1, 1), (0, 5), (6, 5), (-1, 5)])
def test_no_links_where_there_is_nothing_to_choose(page, pages):
    assert paging(page, pages, str) is None


@pytest.mark.parametrize("pages", range(2, 15))
def test_every_page_leads_to_its_neighbours_and_the_ends(pages):
    for page in range(1, pages + 1):
        found = paging(page, pages, str)
        numbers = [int(one.label) for one in found.numbers if one is not None]
        assert numbers == sorted(set(numbers))
        assert {1, pages, page, max(1, page - 1), min(pages, page + 1)} <= set(numbers)
        assert [int(one.label) for one in found.numbers if one is not None and one.chosen] == [page]
        assert found.previous == (str(page - 1) if page > 1 else None)
        assert found.following == (str(page + 1) if page < pages else None)


@pytest.mark.parametrize("pages", range(2, 15))
def test_dots_stand_for_two_pages_or_more(pages):
    for page in range(1, pages + 1):
        numbers = paging(page, pages, str).numbers
        for before, dots, behind in zip(numbers, numbers[1:], numbers[2:], strict=False):
            if dots is None:
                assert int(behind.label) - int(before.label) > 2
