from neardup import Trials
from neardup.model.ranked_rule import whole_term


def test_a_term_is_made_once():
    assert whole_term(3) is whole_term(3)
    assert whole_term(Trials().needed).tolist() == [2]
