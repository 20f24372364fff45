from types import SimpleNamespace

import pytest

from neardup.interfaces.wording.rows import reading_rows


@pytest.mark.parametrize(
    ("number", "words"), [(1, "1  page not read completely: 1 unk"), (2, "2  pages not read completely: 2 unk")]
)
def test_pages_with_faults_are_counted_in_words(number, words):
    read = SimpleNamespace(skipped={}, body_faults={"unknown coding": number}, quoted_lines=None, ignored=0)
    *_, (found, line) = reading_rows(read, [])
    assert f"{found}  {line}".startswith(words)
