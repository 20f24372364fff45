"""Two texts compared, as one HTML page."""

from typing import TYPE_CHECKING, Final

from neardup import __version__
from neardup.interfaces.pages.style import POLICY, STYLE
from neardup.interfaces.pages.texts import marked, safe
from neardup.interfaces.pieces import pieces
from neardup.interfaces.rulings import answer_of, share, value_of

if TYPE_CHECKING:
    from neardup.evaluation.comparison import Comparison

CONTEXT: Final = 2_000  # characters of a shared passage that are shown at each end


def comparison_page(
    names: tuple[str, str], texts: tuple[str, str], found: "Comparison", *, context: int = CONTEXT
) -> bytes:
    """Render a comparison as a page that needs nothing else; what names and texts say is escaped."""
    a = marked(pieces(texts[0], [one.a for one in found.passages], found.only_in_a, context), "a", "b")
    b = marked(pieces(texts[1], [one.b for one in found.passages], found.only_in_b, context), "b", "a")
    page = _FRAME.format(
        policy=POLICY,
        style=STYLE,
        names=" and ".join(f"<code>{safe(name)}</code>" for name in names),
        schemes=_schemes(found),
        measures=_measures(found),
        note=_note(found),
        left=f'<h3>A: {safe(names[0])}</h3>\n<div class="text">{a or _EMPTY}</div>',
        right=f'<h3>B: {safe(names[1])}</h3>\n<div class="text">{b or _EMPTY}</div>',
        version=safe(__version__),
    )
    return page.encode("utf-8")


def _schemes(found: "Comparison") -> str:
    return "".join(
        f'<tr><th>{safe(one.scheme)}</th><td class="{"yes" if one.matches else "no"}">{answer_of(one)}</td>'
        f"<td>{safe(value_of(one))}</td><td>{safe(one.rule)}</td></tr>\n"
        for one in found.schemes
    )


def _measures(found: "Comparison") -> str:
    sets, bags = ([one for one in found.measures if one.bag == bag] for bag in (False, True))
    return "".join(
        f'<tr><th class="number">{as_set.shingle}</th>'
        + "".join(
            f'<td class="number">{share(number)}</td>'
            for one in (as_set, as_bag)
            for number in (one.resemblance, one.a_in_b, one.b_in_a)
        )
        + "</tr>\n"
        for as_set, as_bag in zip(sets, bags, strict=True)
    )


def _note(found: "Comparison") -> str:
    words = sum(passage.words for passage in found.passages)
    return (
        f"Shared passages: {len(found.passages):,}, of {words:,} words; each leads to its place in the other text."
        " What is marked stands in no shared passage."
    )


_EMPTY: Final = '<span class="omitted">empty</span>'
_FRAME: Final = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="referrer" content="no-referrer">
<title>Two texts compared</title>
<style>{style}</style>
</head>
<body>
<header>
<h1>Two texts compared</h1>
<p>{names}</p>
</header>
<main>
<section>
<h2>What each scheme says</h2>
<div class="wide"><table>
<tr><th>scheme</th><th>ruling</th><th>because</th><th>rule</th></tr>
{schemes}</table></div>
</section>
<section>
<h2>Measures</h2>
<div class="wide"><table>
<tr><th></th><th colspan="3">sets of shingles</th><th colspan="3">bags of shingles</th></tr>
<tr><th class="number">words</th><th class="number">resemblance</th><th class="number">A in B</th>
<th class="number">B in A</th><th class="number">resemblance</th><th class="number">A in B</th>
<th class="number">B in A</th></tr>
{measures}</table></div>
</section>
<section>
<h2>The texts</h2>
<p class="note">{note}</p>
<div class="texts">
<div>{left}</div>
<div>{right}</div>
</div>
</section>
</main>
<footer>neardup {version}</footer>
</body>
</html>
"""
