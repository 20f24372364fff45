import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.decisions.placing import place

# a document: its component, its size in bytes, and whether it has candidates
DOCUMENTS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 9), st.booleans()), max_size=40)


def placed(documents, limit):
    """Place documents; return that, with the documents of each component that has some, in the order of the roots."""
    components = {}
    roots = []
    for document, (component, _, involved) in enumerate(documents):
        members = components.setdefault((component, involved), [])  # components have candidates, or are alone
        members.append(document)
        roots.append(members[0] if involved else document)
    sizes = np.array([size for _, size, _ in documents], np.int64)
    involved = np.array([own for *_, own in documents], np.bool_)
    found = place(np.array(roots, np.int64), involved, sizes, limit)
    together = [members for (_, own), members in components.items() if own]
    return found, sorted(together), sizes.tolist()


@given(DOCUMENTS, st.integers(1, 30))
def test_components_are_placed_whole(documents, limit):
    found, components, _ = placed(documents, limit)
    blocks = found.blocks.tolist()
    assert found.blocks.dtype == np.int32
    for members in components:
        assert len({blocks[member] for member in members}) == 1
    for block, (*_, involved) in zip(blocks, documents, strict=True):
        assert (block >= 0) == involved


@given(DOCUMENTS, st.integers(1, 30))
def test_no_block_is_empty_or_larger_than_the_limit_allows(documents, limit):
    found, components, sizes = placed(documents, limit)
    blocks = found.blocks.tolist()
    assert {*blocks} - {-1} == {*range(found.number)}
    of_block = [[own for own in components if blocks[own[0]] == block] for block in range(found.number)]
    totals = [[sum(sizes[member] for member in own) for own in components] for components in of_block]
    ordinary = found.number - found.large
    assert all(sum(block) <= 2 * limit and max(block) <= limit for block in totals[:ordinary])
    assert all(len(block) == 1 and block[0] > limit for block in totals[ordinary:])


@given(DOCUMENTS, st.integers(1, 30))
def test_components_are_in_the_order_of_their_roots(documents, limit):
    found, components, sizes = placed(documents, limit)
    large = [sum(sizes[member] for member in own) > limit for own in components]
    for kind in (False, True):
        blocks = [found.blocks[own[0]] for own, is_large in zip(components, large, strict=True) if is_large == kind]
        assert blocks == sorted(blocks)


def test_small_components_share_a_block_until_it_is_full():
    roots = np.arange(7)
    found = place(roots, np.array([True] * 6 + [False]), np.array([4, 4, 4, 11, 4, 4, 99]), 10)
    assert found.blocks.tolist() == [0, 0, 0, 2, 1, 1, -1]
    assert (found.number, found.large) == (3, 1)


def test_nothing_needs_no_blocks():
    found = place(np.arange(3), np.zeros(3, np.bool_), np.ones(3, np.int64), 10)
    assert (found.blocks.tolist(), found.number, found.large) == ([-1] * 3, 0, 0)
    assert place(np.empty(0, np.int64), np.empty(0, np.bool_), np.empty(0, np.int64), 1).number == 0
