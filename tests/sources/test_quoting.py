import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.sources.quoting import records

TEXT = st.text(alphabet='a",\n\r\t', max_size=40)


def by_definition(text):
    """Walk the text character by character: (start, stop, line, last line, torn) of each record, and the open quote."""
    found = []
    start = position = 0
    line = first_line = opened = 1
    inside = torn = False
    at_field = True
    while position < len(text):
        letter = text[position]
        width = 2 if text[position : position + 2] == "\r\n" else 1
        if inside:
            if letter == '"' and text[position + 1 : position + 2] == '"':
                position += 2
                continue
            if letter == '"':
                inside = False
                behind = text[position + 1 : position + 2]
                torn = torn or (line > opened and behind not in {"", ",", "\r", "\n"})
            elif letter in "\r\n":
                position += width - 1
                line += 1
        elif letter == '"' and at_field:
            inside, at_field, opened = True, False, line
        elif letter in "\r\n":
            stop = position + width
            if position > start:
                found.append((start, stop, first_line, line, torn))
            line += 1
            start, first_line, at_field, torn = stop, line, True, False
            position = stop
            continue
        else:
            at_field = letter == ","
        position += 1
    if start < len(text):
        found.append((start, len(text), first_line, line - text.endswith(("\r", "\n")), torn))
    return found, opened if inside else None


def found_in(text, delimiter=",", **options):
    got = records(memoryview(text.encode()), delimiter, **options)
    torn = np.isin(np.arange(got.start.size), got.torn).tolist()
    columns = (got.start, got.stop, got.line, got.last)
    return list(zip(*(column.tolist() for column in columns), torn, strict=True)), got.unclosed


@given(TEXT)
def test_equals_its_definition(text):
    assert found_in(text) == by_definition(text)


@given(TEXT)
def test_without_quoting_a_record_is_a_line(text):
    lines = text.splitlines(keepends=True)
    ends = np.cumsum([len(line) for line in lines]).tolist()
    expected = [
        (end - len(line), end, number, number, False)
        for number, (line, end) in enumerate(zip(lines, ends, strict=True), 1)
        if line.strip("\r\n")
    ]
    assert found_in(text, quoting=False) == (expected, None)


def test_a_mark_at_the_start_is_no_part_of_the_first_field():
    assert found_in('\ufeff"a\nb",c\n1,2\n') == ([(3, 11, 1, 2, False), (11, 15, 3, 3, False)], None)


def test_the_delimiter_decides_where_a_field_starts():
    text = 'a\t"b\nc"\n'
    assert len(found_in(text, "\t")[0]) == 1
    assert len(found_in(text, ",")[0]) == 2
