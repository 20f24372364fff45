"""The analysis of text: how it becomes tokens."""

from collections.abc import Collection
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal, get_args

from neardup.model.errors import kind_of, require, require_choice, require_flag, require_whole
from neardup.text.stems import stem_languages, stemmer_version

Unit = Literal["letter", "word", "line", "sentence"]
Normalization = Literal["NFC", "NFKC"]

_LONGEST: Final = 1 << 40  # characters


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """How a text becomes tokens; part of the recipe.

    A *word* is a maximal run of letters, marks and numbers (Unicode 14.0 categories L, M, N) of any script. In scripts
    written without spaces (Han, Kana, Thai, Lao, Khmer, Myanmar) each character is a word, so that shingles are
    character n-grams. Invisible characters (Unicode's Default_Ignorable_Code_Point: soft hyphens, zero-width spaces and
    joiners, variation selectors) are skipped. Everything else separates words, except symbols that count.

    ``unit``
        ``word``; ``letter``: the characters of the words, one space between two words;
        ``line`` and ``sentence``: a token is the sequence of words on a line or in a sentence.
    ``fold_case``
        full Unicode case folding (``STRASSE`` is ``Straße``).
    ``normalization``
        ``NFC`` (composed and decomposed accents are equal), ``NFKC`` (so are ligatures and
        full-width forms) or ``None``. A text with more than 30 combining marks in a row is not
        normalized: no language uses that many, and ordering them takes quadratic time.
    ``min_length``
        words and symbols of fewer letters are omitted (never words of scripts without spaces). A syllable of Hangul or
        Ethiopic counts as two letters.
    ``stop_words``
        omitted words, compared after folding and before stemming. A stop word that is analysed as several
        words, such as ``don't``, is omitted where these follow each other.
    ``symbols``
        symbols with a meaning are words of one character: operators, signs, currencies, emoji, ``%``,
        ``#``, ``@``, ``&``. Symbols that structure prose are not: punctuation, quotes, brackets, dashes and
        hyphens, bullets, rulers, emphasis. ``neardup.kernels.symbols`` defines the rule. ``False``: all
        symbols separate words.
    ``stem``
        a Snowball language (``"english"``), or ``None``.

    ``min_length``, ``stop_words`` and ``stem`` select words, so with unit ``letter`` they raise ``ParameterError``.

    >>> Analysis(unit="paragraph")
    Traceback (most recent call last):
    ...
    neardup.model.errors.ParameterError: unit='paragraph' must be letter, word, line or sentence
    """

    unit: Unit = "word"
    fold_case: bool = True
    normalization: Normalization | None = "NFC"
    symbols: bool = True
    min_length: int = 1
    stop_words: tuple[str, ...] = field(default=())
    stem: str | None = None

    def __post_init__(self) -> None:
        require_choice("unit", self.unit, get_args(Unit), "must be letter, word, line or sentence")
        if self.normalization is not None:
            require_choice("normalization", self.normalization, get_args(Normalization), "must be NFC, NFKC or None")
        require_flag("fold_case", self.fold_case)
        require_flag("symbols", self.symbols)
        object.__setattr__(self, "min_length", require_whole("min_length", self.min_length, 1, _LONGEST))
        words: object = self.stop_words  # a string is a collection of strings, too
        several = isinstance(words, Collection) and not isinstance(words, str)
        listed = several and all(isinstance(word, str) for word in self.stop_words)
        rule = "must contain only strings" if several else f"must be a list of words, not {kind_of(words)}"
        require(listed, "stop_words", self.stop_words, rule)
        object.__setattr__(self, "stop_words", tuple(sorted(set(self.stop_words))))
        if self.stem is not None:
            known = stem_languages()
            require_choice("stem", self.stem, known, f"must be one of {', '.join(known)}")
        if self.unit == "letter":
            chosen = {"min_length": self.min_length > 1, "stop_words": self.stop_words, "stem": self.stem}
            for name, value in chosen.items():
                require(not value, name, getattr(self, name), "selects words, so it cannot be used with unit letter")

    @property
    def identity(self) -> dict[str, Any]:
        """What enters the recipe id, including the version of the stemmer, because its rules change."""
        return asdict(self) | ({"stemmer": stemmer_version()} if self.stem else {})
