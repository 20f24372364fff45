from hypothesis import given
from hypothesis import strategies as st

from neardup.sources.quoting import records

TEXT = st.text(alphabet='a",\n\r\t', max_size=40)


def by_definition(text):
    """Walk the text character by character: (start, stop, line) of each record, and whether the last is closed."""
    found = []
    start = position = 0
    line = first_line = 1
    inside = False
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
            elif letter in "\r\n":
                position += width - 1
                line += 1
        elif letter == '"' and at_field:
            inside, at_field = True, False
        elif letter in "\r\n":
            stop = position + width
            if position > start:
                found.append((start, stop, first_line))
            line += 1
            start, first_line, at_field = stop, line, True
            position = stop
            continue
        else:
            at_field = letter == ","
        position += 1
    if start < len(text):
        found.append((start, len(text), first_line))
    return found, not inside


@given(TEXT)
def test_equals_its_definition(text):
    start, stop, line, complete = records(memoryview(text.encode()), ",")
    found, closed = by_definition(text)
    assert list(zip(start.tolist(), stop.tolist(), line.tolist(), strict=True)) == found
    assert complete == closed


def test_a_mark_at_the_start_is_no_part_of_the_first_field():
    start, stop, _, complete = records(memoryview('\ufeff"a\nb",c\n1,2\n'.encode()), ",")
    assert list(zip(start.tolist(), stop.tolist(), strict=True)) == [(3, 11), (11, 15)]
    assert complete


def test_the_delimiter_decides_where_a_field_starts():
    text = memoryview(b'a\t"b\nc"\n')
    assert len(records(text, "\t")[0]) == 1
    assert len(records(text, ",")[0]) == 2
