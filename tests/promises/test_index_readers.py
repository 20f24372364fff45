"""Readers next to the writer: they see the state after some operation, and never an earlier one than before."""

import multiprocessing
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import pytest

from neardup import Index, MinHash
from neardup.verdicts import ExactDuplicate, NearDuplicate, New

SCHEME = MinHash(permutations=16, shingle=1, threshold=0.5, recall=0.9)


def text(number):
    """Make a text that is nearly the same as those of every twentieth number."""
    return " ".join([*(f"f{number % 20}w{word}" for word in range(12)), f"n{number}"])


# Operations are known by their numbers, so that everybody can tell what they lead to.


def operation(number):
    """Return an operation: documents are admitted, some in place of older ones, and others removed."""
    older = (number * 7 // 10) // 4 * 4
    if number % 4 == 3 and number > 40:
        return "remove", f"d{older}"
    return "admit", f"d{older + 1}" if number % 4 == 2 and number > 40 else f"d{number}"


class Expected:
    """The state after some operation: ids with the number of the operation that admitted them, in that order."""

    def __init__(self):
        self.done = 0
        self.numbers = {}

    def advance(self):
        kind, name = operation(self.done)
        self.numbers.pop(name, None)
        if kind == "admit":
            self.numbers[name] = self.done
        self.done += 1

    def advance_to(self, seen):
        """Advance until what is seen is the state; after the last admission there can be one removal."""
        last = seen[-1][1] if seen else -1
        assert self.done <= last + 2, "an earlier state than before"
        while self.done <= last:
            self.advance()
        if [*self.numbers.items()] != seen:
            self.advance()
        assert [*self.numbers.items()] == seen, f"no state after {last} or {last + 1}"


def perform(index, number):
    kind, name = operation(number)
    if kind == "remove":
        index.remove([name])
    else:
        index.admit([name], [text(number)], {"number": [number]})


def read(folder, ended, results, seen, place):
    """Read until the writer has ended: look at everything after each refresh, and count the states in *seen*."""
    try:
        reader, expected, states = Index.open(folder), Expected(), 0
        while True:
            last_time = ended.is_set()
            if states % 40 == 39:
                reader.close()
                reader = Index.open(folder)
            states += reader.refresh()
            seen[place] = states
            ids = [*reader.ids()]
            documents = reader.get(ids)
            expected.advance_to([(document.id, document.fields["number"]) for document in documents])
            assert len(reader) == len(ids)
            if ids:
                [verdict] = reader.judge([text(documents[0].fields["number"])])
                assert verdict.of in ids
                assert set(reader.group(ids[0])) <= {*ids}
            if last_time:
                break
        results.put((states, expected.done, reader.check().problems))
        reader.close()
    except BaseException as error:
        results.put(error)
        raise


@pytest.mark.parametrize(
    ("number_of_readers", "states"),
    [(3, 20), pytest.param(8, 10_000, marks=[pytest.mark.soak, pytest.mark.timeout(0)])],
)
@pytest.mark.filterwarnings(
    "ignore:This process:DeprecationWarning"
)  # the tests' own threads have nothing to do with it
def test_readers_see_a_state_after_some_operation(tmp_path, number_of_readers, states):
    folder = tmp_path / "index"
    index = Index.create(folder, SCHEME, fields={"number": int}, durability="bulk", memory=1 << 20)
    index.judge([text(0)])  # kernels are loaded before others fork
    processes = multiprocessing.get_context("fork")
    ended, results, seen = processes.Event(), processes.Queue(), processes.Array("l", number_of_readers)
    readers = [
        processes.Process(target=read, args=(folder, ended, results, seen, place), daemon=True)
        for place in range(number_of_readers)
    ]
    for reader in readers:
        reader.start()
    expected = Expected()
    for number in count():
        if number > 200 and number % 4 == 3 and (min(seen) >= states or not results.empty()):
            break
        perform(index, number)
        expected.advance()
        if number % 31 == 0:
            index.flush()
        if number % 173 == 0:
            index.compact()
    ended.set()
    for _ in readers:
        answer = results.get(timeout=120)
        if isinstance(answer, BaseException):
            raise answer
        _, done, problems = answer
        assert done == expected.done
        assert problems == []
    for reader in readers:
        reader.join()
    assert [*index.ids()] == [*expected.numbers]
    index.close()


@pytest.mark.parametrize("number", [160, pytest.param(100_000, marks=pytest.mark.soak)])
def test_threads_judge_while_one_admits(tmp_path, number):
    known, later = [text(place) for place in range(20)], text(number - 1)
    with Index.create(tmp_path / "index", SCHEME, durability="bulk", memory=1 << 20) as index:
        index.admit([f"d{place}" for place in range(20)], known)
        ended = threading.Event()

        def ask(which):
            met, last = 0, False
            while not last:
                last = ended.is_set()
                verdicts = index.judge([known[which], later, "nothing of the kind"])
                assert verdicts[0] == ExactDuplicate(f"d{which}")
                assert verdicts[2] == New()
                assert isinstance(verdicts[1], ExactDuplicate if met else (ExactDuplicate, NearDuplicate))
                met += isinstance(verdicts[1], ExactDuplicate)
            return met

        def look():
            seen = 0
            while not ended.is_set():
                ids = [*index.ids()]
                assert ids == [f"d{place}" for place in range(len(ids))]
                assert seen <= len(ids) <= len(index)
                assert index.get(ids[-1:])[0].id == ids[-1]
                assert ids[0] in index.group(ids[0])
                assert index.stats().documents >= len(ids)
                seen = len(ids)

        def write():
            try:
                for place in range(20, number):
                    index.admit([f"d{place}"], [text(place)])
                    if place % 50 == 0:
                        index.flush()
                    if place % 130 == 0:
                        index.compact()
            finally:
                ended.set()

        with ThreadPoolExecutor() as pool:
            futures = [pool.submit(ask, which) for which in range(4)]
            others = [pool.submit(look), pool.submit(write)]
            assert all(future.result() for future in futures)
            for future in others:
                future.result()
        assert len(index) == number
