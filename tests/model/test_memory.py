from neardup.model.memory import LEAST_OF_INDEX, LEAST_OF_RUN, OF_INDEX, OF_RUN


def test_the_defaults_are_not_below_the_least_values():
    assert LEAST_OF_RUN <= OF_RUN
    assert LEAST_OF_INDEX <= OF_INDEX
