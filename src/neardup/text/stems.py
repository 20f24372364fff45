"""Snowball stems, the only module that imports PyStemmer."""

from functools import cache


@cache
def stem_languages() -> tuple[str, ...]:
    """Return the names of the languages that have a Snowball stemmer."""
    import Stemmer

    return tuple(sorted(Stemmer.algorithms()))


def stemmer_version() -> str:
    """Return the release of the stemmers."""
    import Stemmer

    return str(Stemmer.version())


def stems(words: list[bytes], language: str) -> list[bytes]:
    """Stem each word (UTF-8). Words that are not valid UTF-8 are not changed."""
    import Stemmer

    stemmer = Stemmer.Stemmer(language, 0)  # the stemmer's own cache halves the speed, and each word is stemmed once
    return [stemmed if isinstance(stemmed, bytes) else stemmed.encode() for stemmed in stemmer.stemWords(words)]
