from types import SimpleNamespace

import pytest

from neardup.interfaces.wording.rows import Row, reading_rows, row, total


@pytest.mark.parametrize(
    ("number", "words"), [(1, "1  page not read completely: 1 unk"), (2, "2  pages not read completely: 2 unk")]
)
def test_pages_with_faults_are_counted_in_words(number, words):
    read = SimpleNamespace(skipped={}, body_faults={"unknown coding": number}, quoted_lines=None, ignored=0)
    found = reading_rows(read, [])[-1]
    assert f"{found.number}  {found.words}".startswith(words)


def test_a_total_is_shown_even_if_it_is_0():
    assert total(1, "document", " removed") == Row(1, "document removed", always=True)
    assert (row(0, "id").always, total(0, "id")) == (False, Row(0, "ids", always=True))
