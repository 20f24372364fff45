"""Web sites: articles between the navigation, advertisements and footers of their hosts."""

import random

WORDS = [first + rest for first in "bdfghklmnprstvwz" for rest in ("ale", "ering", "obo", "umi", "ostic", "ivat", "yn")]


def words(chance, number):
    return " ".join(chance.choices(WORDS, k=number))


def article(seed, paragraphs=3):
    """Paragraphs that no other article has."""
    chance = random.Random(f"article {seed}")
    return [words(chance, 30) for _ in range(paragraphs)]


def edited(paragraphs, seed):
    """An article with a few other words."""
    chance = random.Random(f"edit {seed}")
    return [
        " ".join(chance.choice(WORDS) if chance.random() < 0.02 else one for one in text.split()) for text in paragraphs
    ]


class Site:
    """The pages of a host: its template around articles."""

    def __init__(self, host, *, menu=30, varied=0.3):
        chance = random.Random(f"site {host}")
        self.host, self._varied = host, varied
        self._menu = [words(chance, 2) for _ in range(menu)]
        self._box = [words(chance, 15) for _ in range(3)]
        self._footer = f"{host}: {words(chance, 12)}"
        self._ads = [words(chance, 14) for _ in range(4)]

    def page(self, name, paragraphs):
        """Return the address and the HTML of a page; some of its links and its stamp are its own."""
        chance = random.Random(f"page {self.host} {name}")
        links = [words(chance, 2) if chance.random() < self._varied else link for link in self._menu]
        menu = "".join(f"<li><a href='/{number}'>{link}</a></li>" for number, link in enumerate(links))
        body = "".join(f"<p>{text}</p>" for text in paragraphs)
        box = "".join(f"<p>{text}</p>" for text in [*self._box, chance.choice(self._ads)])
        stamp = f"<p>Read {chance.randrange(10_000)} times until {chance.randrange(2000, 2026)}</p>"
        return f"https://{self.host}/{name}", (
            f"<html><head><title>{' '.join(paragraphs[0].split()[:4])}</title></head><body><nav><ul>{menu}</ul></nav>"
            f"<article>{stamp}{body}{box}</article><footer><p>{self._footer}</p></footer></body></html>"
        )


SITES = [Site(f"host{number}.example") for number in range(3)]
PAGES = [site.page(f"p{n}", article(f"{site.host} {n}")) for site in SITES for n in range(24)]


def renamed(pages):
    """Return the same pages with other boxes and menus."""
    return [(url, page.replace("the", "tho").replace("<li>", "<li>new ")) for url, page in pages]
