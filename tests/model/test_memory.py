from neardup.model.memory import LEAST_OF_INDEX, LEAST_OF_RUN, OF_INDEX, OF_RUN, MemoryShort


def test_the_defaults_are_not_below_the_least_values():
    assert LEAST_OF_RUN <= OF_RUN
    assert LEAST_OF_INDEX <= OF_INDEX


def test_the_warning_names_both_amounts_and_the_ways_out():
    short = MemoryShort(4_400_000_000, 3_000_000_000)
    assert (short.needed, short.available) == (4_400_000_000, 3_000_000_000)
    assert short.what.startswith("about 4.4 GB of memory will be needed")
    assert str(short).startswith(f"{short.what}; to use less, run in pieces")
