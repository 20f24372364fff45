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
    """Stem each word (UTF-8). A word with an empty stem is not changed."""
    import Stemmer

    stemmer = Stemmer.Stemmer(language, 0)  # the stemmer's own cache halves the speed, and each word is stemmed once
    found: list[bytes] = stemmer.stemWords(words)
    return found if all(found) else [stem or word for stem, word in zip(found, words, strict=True)]
