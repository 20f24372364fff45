"""A session in which a person labels pairs: the next pair, the answer, and the way back."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from neardup.model.errors import DataError, require, require_choice, require_whole
from neardup.model.labels import LABELS, DrawnPair, Label, LabelledPair, by_pair
from neardup.sources.labels import LabelFile

if TYPE_CHECKING:
    from neardup.pipeline.labels.pool import PairPool

PairSource: TypeAlias = "PairPool | LabelledPairs"  # where pairs come from


class LabelledPairs:
    """The pairs that another person has labelled, without the answers; *texts* are those of the documents, by id.

    A text that the labels left out must be among *texts*, or ``DataError`` is raised.
    """

    def __init__(self, labels: Sequence[LabelledPair], texts: Mapping[str, str] | None = None) -> None:
        known = by_pair("labels", labels)
        require(texts is None or isinstance(texts, Mapping), "texts", texts, "must map ids to strings")
        self._texts = dict(texts or {})
        self._pairs = {pair: _unanswered(one, self.text) for pair, one in known.items()}
        self._weights = {pair: one.weight for pair, one in known.items()}

    def __len__(self) -> int:
        return len(self._pairs)

    def __repr__(self) -> str:
        return f"LabelledPairs(pairs={len(self):,})"

    def draw(self, answers: Sequence[LabelledPair]) -> DrawnPair | None:
        """Return the first pair without an answer."""
        done = {one.pair for one in answers}
        return next((drawn for pair, drawn in self._pairs.items() if pair not in done), None)

    def weighed(
        self, answers: Sequence[LabelledPair], some: Sequence[LabelledPair] | None = None
    ) -> list[LabelledPair]:
        """Return the answers, or only *some* of them, with the weights of the other person's labels."""
        given = answers if some is None else some
        return [replace(one, weight=self._weights.get(one.pair, one.weight)) for one in given]

    def text(self, name: str) -> str | None:
        """Return the text of the document with this id; ``None`` if it is unknown."""
        return self._texts.get(name)


class Labelling(AbstractContextManager["Labelling"]):
    """Pairs that a person labels one after the other; each answer is in the *file* before the next pair is shown.

    *wanted* is the number of pairs with an answer after which no more are shown, ``None`` for all of the *source*. Use
    it as a context manager: at its end, the weights of all answers in the file are brought up to date, as they depend
    on how many pairs were answered.

    ::

        pool = neardup.labels.draw_pairs(table)
        with neardup.labels.Labelling(pool, "labels.jsonl", wanted=50) as labelling:
            while pair := labelling.current:
                labelling.answer(ask(pair.text_a, pair.text_b))
    """

    def __init__(self, source: PairSource, path: str, *, wanted: int | None = None) -> None:
        self.wanted = None if wanted is None else require_whole("wanted", wanted, 1)
        require(
            callable(getattr(source, "draw", None)), "source", source, "must be a pool of pairs, as from draw_pairs"
        )
        self._source = source
        self._file = LabelFile(path)
        self._answers = [*by_pair("path", self._file.answers).values()]
        self._at = len(self._answers)
        self._next = self._drawn()

    def __exit__(self, *_: object) -> None:
        with self._file:
            weighed = self._source.weighed(self._answers)
            if weighed != self._answers:
                self._file.replace(weighed)

    @property
    def answers(self) -> list[LabelledPair]:
        """The pairs with an answer, in the order in which they were shown first."""
        return [*self._answers]

    @property
    def number(self) -> int:
        """The number of the current pair, from 1."""
        return self._at + 1

    @property
    def current(self) -> DrawnPair | None:
        """The pair to label now; ``None`` if enough pairs have an answer, or no pair is left."""
        return _unanswered(self._answers[self._at], self._source.text) if self.given else self._next

    @property
    def given(self) -> Label | None:
        """The answer that the current pair already has, after going back."""
        return self._answers[self._at].label if self._at < len(self._answers) else None

    @property
    def exhausted(self) -> bool:
        """Whether every pair of the source has an answer."""
        return self._source.draw(self._answers) is None

    def answer(self, label: Label) -> None:
        """Write the answer for the current pair, and show the next new pair.

        Raises ``ParameterError`` for another answer than ``"same"``, ``"different"`` and ``"unsure"``, ``DataError`` if
        there is no current pair, and ``OutputError`` if the answer cannot be written.
        """
        require_choice("label", label, LABELS, "must be same, different or unsure")
        pair = self.current
        if pair is None:
            raise DataError("the labels", "all pairs have an answer")
        answered = pair.labelled(label)
        place = self._at
        following = [*self._answers[:place], answered, *self._answers[place + 1 :]]
        (answered,) = self._source.weighed(following, [answered])
        self._file.append(answered)
        following[place] = answered
        self._answers, self._at = following, len(following)
        self._next = self._drawn()

    def back(self) -> bool:
        """Show the pair before the current one again; return whether there is one."""
        if self._at == 0:
            return False
        self._at -= 1
        return True

    def _drawn(self) -> DrawnPair | None:
        if self.wanted is not None and len(self._answers) >= self.wanted:
            return None
        return self._source.draw(self._answers)


def _unanswered(one: LabelledPair, known: Callable[[str], str | None]) -> DrawnPair:
    found = []
    for name, written in ((one.a, one.text_a), (one.b, one.text_b)):
        text = known(name) if written is None else written
        if text is None:
            raise DataError("the labels", f"no text of {name!r}; the documents are needed, too")
        found.append(text)
    return DrawnPair(a=one.a, b=one.b, text_a=found[0], text_b=found[1], resemblance=one.resemblance)
