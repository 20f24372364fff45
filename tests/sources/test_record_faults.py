from neardup.sources.record_faults import QuotedLines, Rejected, WithoutText, in_total


def test_a_record_rejected_says_where_and_why():
    assert str(Rejected("x.jsonl", 3, "it is broken", "json")) == "x.jsonl:3: it is broken"


def test_records_of_several_parts_are_added_up():
    parts = [None, QuotedLines(2, "a.csv", 3, 5), None, QuotedLines(1, "b.csv", 7, 8)]
    assert in_total(parts) == QuotedLines(3, "a.csv", 3, 5)
    assert in_total([WithoutText(1, "a", 2, "text")]) == WithoutText(1, "a", 2, "text")
    assert in_total([None]) is None
