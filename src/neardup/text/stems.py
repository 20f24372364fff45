"""Snowball stems; the one module that imports PyStemmer."""

from functools import cache


@cache
def stem_languages() -> tuple[str, ...]:
    """Name the languages that have a Snowball stemmer."""
    import Stemmer

    return tuple(sorted(Stemmer.algorithms()))


def stemmer_version() -> str:
    """Name the release of the stemmers."""
    import Stemmer

    return str(Stemmer.version())


def stems(words: list[bytes], language: str) -> list[bytes]:
    """Stem each word (UTF-8). Words that are not UTF-8 stay as they are."""
    import Stemmer

    stemmer = Stemmer.Stemmer(language, 0)  # its own cache halves the speed, and each word comes here once
    return [stemmed if isinstance(stemmed, bytes) else stemmed.encode() for stemmed in stemmer.stemWords(words)]
