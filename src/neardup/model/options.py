"""The command-line options of a scheme, as data."""

from typing import Final, Literal, NamedTuple

OptionKind = Literal["whole", "number", "text", "flag"] | tuple[str, ...]


class Option(NamedTuple):
    """One parameter of a scheme on the command line.

    *kind* is the type of the value, or the values to choose from; *about* describes what it decides; *default* is the
    scheme's default in words, empty for a flag; *value* is the placeholder in the help.
    """

    name: str
    kind: OptionKind
    about: str
    default: str = ""
    value: str = "N"

    def by_default(self, default: str) -> "Option":
        """Return the same option with another default."""
        return self._replace(default=default)


THRESHOLD: Final = Option(
    "threshold", "number", "minimum measure of a match: its resemblance, containment, overlap or cosine", "", "T"
)
SHORT: Final = (
    Option(
        "short", "whole", "pairs with a document of fewer than N shingles (or sentences) need --short-threshold", "off"
    ),
    Option(
        "short_threshold",
        "number",
        "with --short, required: the threshold of these pairs, at least --threshold",
        "off",
        "T",
    ),
)
SHINGLE: Final = Option("shingle", "whole", "tokens in a row that make a shingle", "", "Q")
BAG: Final = Option("bag", "flag", "count the repeats of a shingle")
STEM: Final = Option("stem", "text", "stem words; none: leave them as they are", "none", "LANGUAGE")
MIN_LENGTH: Final = Option("min_length", "whole", "leave out words of fewer letters", "1")
ANALYSIS: Final = (
    Option("unit", ("letter", "word", "line", "sentence"), "what a token is", "word"),
    STEM,
    MIN_LENGTH,
    Option(
        "normalization",
        ("NFC", "NFKC", "none"),
        "which spellings of a character are equal: composed and decomposed accents (NFC), with NFKC also ligatures and"
        " full-width forms, or none",
        "NFC",
    ),
    Option(
        "symbols",
        ("count", "separate"),
        "operators, signs, currencies and emoji: words (count), or only separators",
        "count",
    ),
    Option(
        "stop_words",
        "text",
        "words to leave out: a file with one word per line, or words with commas, such as 'the,a'; a"
        " single word needs a comma at the end: 'the,'",
        "none",
        "FILE",
    ),
)
