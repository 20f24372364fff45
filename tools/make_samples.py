"""Make the bundled sample collection and its truth: ``python tools/make_samples.py [FOLDER]``.

Every text is original or made from an original by an edit of ``samples.edits``; nothing is random and nothing is read
from outside. What the truth says of a pair is checked here by ``samples.resemblance``, and so is what it does not say:
every pair that matches is listed, documents of different origin have a resemblance below 0.2 (below 0.45 under a
shared cookie notice), and no pair lies between 0.5 and 0.6 unless it is listed.
"""

import json
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterable
from datetime import date, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from samples import east, edits, forms, forum, kitchen, manuals, news, pages, releases, sports, tongues, world
from samples.grammar import Genre, Pen
from samples.resemblance import THRESHOLD, alike, matches
from samples.shorts import SHORT_PAIRS, SHORTS

FOLDER = Path(__file__).parents[1] / "src" / "neardup" / "samples"
MATCH, NO_MATCH = "match", "no-match"
UNRELATED = 0.2  # documents of different origin stay below
UNDER_ONE_NOTICE = 0.45  # as do pages that share nothing but a long notice
DOUBTFUL = 0.5  # from here to the threshold only what is listed
SINGLES = (
    (releases.RELEASES, 4),
    (sports.MATCHES, 3),
    (sports.OBITUARIES, 3),
    (kitchen.RECIPES, 5),
    (forum.THREADS, 4),
    (forum.NOTICES, 3),
)  # genres without tricks, and how many of their documents have a near copy
HEADLINES = ("From the region: {}", "{}, agency reports", "Elsewhere: {}", "{}: a summary")


class Page(NamedTuple):
    """A document to be: a copy has the title and the source of its original unless it says otherwise."""

    text: str | None
    title: str = ""
    source: str = ""


class Collection:
    """The documents so far, what kind each is, and what is stated about pairs of them."""

    def __init__(self) -> None:
        self.documents: dict[str, dict[str, Any]] = {}
        self.kinds: dict[str, str] = {}
        self.origins: dict[str, str] = {}
        self.pairs: list[tuple[str, str, str, str]] = []
        self._counts: Counter[str] = Counter()

    def add(self, genre: str, kind: str, page: Page) -> str:
        """Add an original."""
        pen = Pen(f"{genre}/{self._counts[genre]}/published")
        name = self._add(genre, kind, page, date(2021, 1, 4) + timedelta(days=pen.below(1400)))
        self.origins[name] = name
        return name

    def derive(self, original: str, kind: str, verdict: str, page: Page) -> str:
        """Add a document made from another, and state what the rule says of the two."""
        first = self.documents[original]
        if (page.text == first["text"]) != (kind == "exact-copy"):
            raise ValueError(f"the {kind} of {original} is not what its name says")
        genre = original.rpartition("-")[0]
        pen = Pen(f"{genre}/{self._counts[genre]}/published")
        published = date.fromisoformat(first["published"]) + timedelta(days=pen.between(0, 40))
        page = Page(page.text, page.title or first["title"], page.source or first["source"])
        name = self._add(genre, kind, page, published)
        self.origins[name] = self.origins[original]
        self.state(original, name, kind, verdict)
        return name

    def state(self, left: str, right: str, kind: str, verdict: str) -> None:
        """State what the rule says of two documents, and why they are of interest."""
        self.pairs.append((left, right, kind, verdict))

    def text(self, name: str) -> str:
        """Give the text of a document that has one."""
        return self.documents[name]["text"]

    def _add(self, genre: str, kind: str, page: Page, published: date) -> str:
        self._counts[genre] += 1
        number = self._counts[genre]
        name = f"{genre}-{number:04}"
        path = f"{published:%Y/%m}/{_slug(page.title)[:60].strip('-') or 'page'}-{number}"
        self.documents[name] = {
            "id": name,
            "url": f"https://{_slug(page.source)}.example/{path}",
            "title": page.title,
            "text": page.text,
            "published": published.isoformat(),
            "source": page.source,
        }
        self.kinds[name] = kind
        return name


def _slug(title: str) -> str:
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return "-".join(re.findall(r"[a-z0-9]+", plain))


def _originals(collection: Collection, genre: Genre, kind: str) -> list[str]:
    names = []
    for number in range(len(genre.subjects)):
        title, text = genre.compose(number)
        source = genre.sources[number % len(genre.sources)]
        names.append(collection.add(genre.name, kind, Page(text, title, source)))
    return names


def add_news(collection: Collection) -> list[str]:
    stories = _originals(collection, news.NEWS, "original")
    for number, story in enumerate(stories):
        pen = Pen(f"{story}/edits")
        text, title = collection.text(story), collection.documents[story]["title"]
        elsewhere = news.NEWS.sources[(number + 2) % len(news.NEWS.sources)]
        if number < 24:
            update = edits.UPDATES[number % len(edits.UPDATES)]
            edited = edits.lightly(text, pen, words=4) + f"\n\n{update}"
            second = collection.derive(story, "light-edit", MATCH, Page(edited))
            if number % 3 == 0:
                update = edits.UPDATES[(number + 2) % len(edits.UPDATES)]
                again = edits.lightly(edited, pen, words=2) + f"\n\n{update}"
                collection.state(
                    story, collection.derive(second, "edited-again", MATCH, Page(again)), "edited-again", MATCH
                )
        if number in range(1, 16, 2):
            collection.derive(story, "shortened", MATCH, Page(edits.shortened(text, pen)))
        if 2 <= number < 16:
            headline = pen.pick(HEADLINES).format(title)
            collection.derive(story, "syndicated", MATCH, Page(edits.syndicated(text, pen), headline, elsewhere))
        if number in news.RETOLD:
            headline, _, body = news.RETOLD[number].strip().partition("\n")
            retold = "\n\n".join(" ".join(paragraph.split()) for paragraph in body.split("\n\n"))
            collection.derive(story, "heavy-rewrite", NO_MATCH, Page(retold, headline, elsewhere))
        if number >= 24:
            other = stories[number - 24]
            mixed = collection.derive(story, "half-shared", NO_MATCH, Page(edits.halved(text, collection.text(other))))
            collection.state(other, mixed, "half-shared", NO_MATCH)
        if number >= 16:
            sites = [(number + turn) % len(pages.HEADERS) for turn in (0, 1)]
            shown = [edits.on_a_page(text, pages.HEADERS[site], pages.FOOTERS[site]) for site in sites]
            left, right = (collection.derive(story, "page-chrome", MATCH, Page(page)) for page in shown)
            collection.state(left, right, "page-chrome", MATCH)
    return stories


def add_singles(collection: Collection) -> list[str]:
    every = []
    for genre, copied in SINGLES:
        names = _originals(collection, genre, "original")
        for name in names[:copied]:
            copy = edits.lightly(collection.text(name), Pen(f"{name}/edits"), words=3)
            collection.derive(name, "light-edit", MATCH, Page(copy))
        every += names
    return every


def add_pages_under_one_notice(collection: Collection) -> None:
    contents = [
        (genre.name, *genre.compose(number), genre.sources[number % len(genre.sources)])
        for genre in (kitchen.PRODUCTS, world.TRAVEL, world.SCIENCE)
        for number in range(len(genre.subjects))
    ]
    names = []
    for place, (genre, title, content, source) in enumerate(contents[:-1]):
        paragraphs = [pages.COOKIES, content] if place % 4 == 0 else [content, pages.COOKIES]
        names.append(collection.add(genre, "boilerplate-heavy", Page("\n\n".join(paragraphs), title, source)))
    for left, right in pairwise(names):
        collection.state(left, right, "boilerplate-heavy", NO_MATCH)
    for name in names[3], names[17], names[30]:
        copy = edits.lightly(collection.text(name), Pen(f"{name}/edits"), words=3)
        collection.derive(name, "boilerplate-near-copy", MATCH, Page(copy))


def add_manuals(collection: Collection) -> None:
    for manual in range(len(manuals.MANUALS)):
        title, text = manuals.version(manual, 1)
        versions = [collection.add("manual", "version", Page(text, title, "Product Library"))]
        for number in range(2, manuals.VERSIONS + 1):
            title, text = manuals.version(manual, number)
            versions.append(collection.derive(versions[-1], "version", MATCH, Page(text, title)))
        collection.state(versions[0], versions[2], "version-drift", NO_MATCH)
        collection.state(versions[1], versions[4], "version-drift", NO_MATCH)
        collection.state(versions[0], versions[4], "version-drift", NO_MATCH)


def add_copies(collection: Collection, originals: list[str], accented: list[str]) -> None:
    """Copy documents exactly, and in ways that the analysis of words does not see."""
    for number, name in enumerate(originals[5:103:7]):
        source = f"Mirror {number % 3 + 1}"
        collection.derive(name, "exact-copy", MATCH, Page(collection.text(name), source=source))
    for turn, edit in enumerate((edits.shouted, edits.respaced, edits.repunctuated)):
        for name in originals[turn + 6 : 106 : 23]:
            collection.derive(name, f"normalised-copy-{edit.__name__}", MATCH, Page(edit(collection.text(name))))
    for name in accented:
        collection.derive(name, "normalised-copy-decomposed", MATCH, Page(edits.decomposed(collection.text(name))))


def add_languages(collection: Collection) -> list[str]:
    accented = []
    for start in range(0, len(tongues.TRANSLATED), len(tongues.LANGUAGES)):
        told = tongues.TRANSLATED[start : start + len(tongues.LANGUAGES)]
        names = [
            collection.add(language, "translation", Page(piece.paragraphs[0], piece.title, "Four Voices"))
            for language, piece in zip(tongues.LANGUAGES, told, strict=True)
        ]
        accented.append(names[1 + start // len(tongues.LANGUAGES)])
        for place, left in enumerate(names):
            for right in names[place + 1 :]:
                collection.state(left, right, "translation", NO_MATCH)
    alone = [
        collection.add(
            tongues.LANGUAGES[1 + place // 2], "original", Page(piece.paragraphs[0], piece.title, "Four Voices")
        )
        for place, piece in enumerate(tongues.ALONE)
    ]
    for number, replaced, added in tongues.COPIED:
        copy = edits.patched(collection.text(alone[number]), replaced, added)
        collection.derive(alone[number], "light-edit", MATCH, Page(copy))
    for language in east.LANGUAGES:
        names = [
            collection.add(language, "original", Page(piece.paragraphs[0], piece.title, "Eastern Reader"))
            for piece in east.PIECES[language]
        ]
        for number, replaced, added in east.COPIED[language]:
            copy = edits.patched(collection.text(names[number]), replaced, added)
            collection.derive(names[number], "light-edit", MATCH, Page(copy))
        collection.state(names[0], names[1], "same-script", NO_MATCH)
        collection.state(names[1], names[2], "same-script", NO_MATCH)
        if language == "ko":
            accented.append(names[2])
    return accented


def add_forms(collection: Collection) -> None:
    for length, sheets, numbers, verdict in (
        ("long", forms.LONG_PAGES, forms.LONG_NUMBERS, MATCH),
        ("short", forms.SHORT_PAGES, forms.SHORT_NUMBERS, NO_MATCH),
    ):
        for sheet, (first, *others) in zip(sheets, numbers, strict=True):
            text = forms.fill(sheet, first)
            title = text[: text.index(".")].partition(":")[0]
            kind = f"differs-only-in-a-number-{length}"
            name = collection.add("form", kind, Page(text, title, "Citizens' Office"))
            for other in others:
                collection.derive(name, kind, verdict, Page(forms.fill(sheet, other), title.replace(first, other)))


def add_shorts(collection: Collection) -> None:
    names = [collection.add("short", kind, Page(text, title, "Odds and Ends")) for title, text, kind in SHORTS]
    for left, right, kind, verdict in SHORT_PAIRS:
        collection.state(names[left], names[right], kind, verdict)


def collected() -> Collection:
    collection = Collection()
    originals = add_news(collection) + add_singles(collection)
    add_pages_under_one_notice(collection)
    add_manuals(collection)
    accented = add_languages(collection)
    add_copies(collection, originals, accented)
    add_forms(collection)
    add_shorts(collection)
    return collection


def check(collection: Collection) -> dict[tuple[str, str], float]:
    """Hold every statement against the texts, complete the pairs that match, and give all resemblances from 0.1."""
    texts = {name: document["text"] for name, document in collection.documents.items()}
    stated = set()
    for left, right, kind, verdict in collection.pairs:
        if matches(texts[left], texts[right]) != (verdict == MATCH):
            raise ValueError(f"{left} and {right} ({kind}) are stated to be a {verdict}")
        stated.add(frozenset((left, right)))
    found = alike(texts, 0.1)
    noticed = {name for name, kind in collection.kinds.items() if kind.startswith("boilerplate")}
    for (left, right), value in sorted(found.items()):
        if frozenset((left, right)) in stated:
            continue
        if collection.origins[left] == collection.origins[right]:
            allowed = DOUBTFUL
            if value >= THRESHOLD:
                collection.state(left, right, "same-origin", MATCH)
                continue
        else:
            allowed = UNDER_ONE_NOTICE if {left, right} <= noticed else UNRELATED
            if "half-shared" in (collection.kinds[left], collection.kinds[right]):
                allowed = DOUBTFUL  # half of another story is in it
        if value >= allowed:
            raise ValueError(f"{left} and {right} have a resemblance of {value:.3f}, and nothing is stated about them")
    return found


def written(collection: Collection) -> Iterable[tuple[str, str]]:
    """Give the name and the content of each file."""
    documents = sorted(collection.documents.values(), key=lambda document: (document["published"], document["id"]))
    yield "collection.jsonl", "".join(json.dumps(document, ensure_ascii=False) + "\n" for document in documents)
    pairs = ",\n  ".join(json.dumps(pair) for pair in collection.pairs)
    kinds = ",\n  ".join(f"{json.dumps(name)}: {json.dumps(kind)}" for name, kind in sorted(collection.kinds.items()))
    yield "truth.json", f'{{\n "pairs": [\n  {pairs}\n ],\n "kinds": {{\n  {kinds}\n }}\n}}\n'


def main() -> None:
    folder = Path(sys.argv[1]) if sys.argv[1:] else FOLDER
    collection = collected()
    found = check(collection)
    for name, content in written(collection):
        (folder / name).write_bytes(content.encode())
    for kind, count in sorted(Counter(collection.kinds.values()).items()):
        print(f"{count:4} {kind}")
    apart = [v for (a, b), v in found.items() if collection.origins[a] != collection.origins[b]]
    print(f"{len(collection.documents)} documents, {len(collection.pairs)} pairs")
    print(f"highest resemblance of different origin: {max(apart):.3f}")


if __name__ == "__main__":
    main()
