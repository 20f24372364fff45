"""Labels of pairs: what people answered when they were shown two documents."""

from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from neardup.model.errors import (
    is_number,
    plain_value,
    require,
    require_choice,
    require_kind,
    require_name,
    require_sequence,
)

Label = Literal["same", "different", "unsure"]

LABELS: Final[tuple[str, ...]] = get_args(Label)
_HEAVIEST: Final = 1e15  # squares and sums of weights are finite


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledPair:
    """Two documents, by their ids, and whether a person considers them the same.

    *resemblance* is that of the scheme that drew the pair, ``None`` if it is unknown. *weight* is how many pairs of the
    collection the pair represents: 1 / the probability that it was drawn. *text_a* and *text_b* are the texts, ``None``
    for a text that was left out. Raises ``ParameterError`` for invalid values.
    """

    a: str
    b: str
    label: Label
    resemblance: float | None = None
    weight: float = 1.0
    text_a: str | None = None
    text_b: str | None = None

    def __post_init__(self) -> None:
        for name in self.__slots__:
            object.__setattr__(self, name, plain_value(getattr(self, name)))
        require_name("a", self.a)
        require_name("b", self.b)
        require(self.a != self.b, "b", self.b, "must be the id of another document than a")
        require_choice("label", self.label, LABELS, "must be same, different or unsure")
        rule = "must be a number from 0 to 1, or missing"
        among = self.resemblance is None or (is_number(self.resemblance) and 0 <= self.resemblance <= 1)
        require(among, "resemblance", self.resemblance, rule)
        fits = is_number(self.weight) and 1 / _HEAVIEST <= self.weight <= _HEAVIEST
        require(fits, "weight", self.weight, "must be a number from 1e-15 to 1e15")
        for name, text in (("text_a", self.text_a), ("text_b", self.text_b)):
            require(text is None or isinstance(text, str), name, text, "must be a string, or missing")

    @property
    def pair(self) -> tuple[str, str]:
        """The ids in ascending order: equal for both directions of a pair."""
        return (self.a, self.b) if self.a < self.b else (self.b, self.a)


def by_pair(name: str, labels: Any) -> dict[tuple[str, str], LabelledPair]:
    """Return the last label of each pair, in the order of the first ones; *name* is the parameter with the labels.

    Raises ``ParameterError`` for other values than labelled pairs.
    """
    for one in require_sequence(name, labels, "labelled pairs"):
        require_kind(name, one, LabelledPair)
    return {one.pair: one for one in labels}


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnPair:
    """Two documents to be labelled: their ids, their texts, and the resemblance by which they were drawn."""

    a: str
    b: str
    text_a: str
    text_b: str
    resemblance: float | None = None

    def labelled(self, label: Label, weight: float = 1.0) -> LabelledPair:
        """Return the pair with an answer; ``ParameterError`` for an invalid one."""
        texts = {"text_a": self.text_a, "text_b": self.text_b}
        return LabelledPair(a=self.a, b=self.b, label=label, resemblance=self.resemblance, weight=weight, **texts)
