"""Two texts compared, as one HTML page."""

from typing import TYPE_CHECKING, Final

from neardup.interfaces.pages.frame import framed
from neardup.interfaces.pages.texts import marked, safe
from neardup.interfaces.pieces import pieces
from neardup.interfaces.rulings import decided_of, estimate_of, marked_in, passages_of, share, value_of

if TYPE_CHECKING:
    from neardup.evaluation.comparison import Comparison

CONTEXT: Final = 2_000  # characters of a shared passage that are shown at each end


def comparison_page(
    names: tuple[str, str], texts: tuple[str, str], found: "Comparison", *, context: int = CONTEXT
) -> bytes:
    """Render a comparison as a page that needs nothing else; what names and texts say is escaped."""
    a = marked(
        pieces(texts[0], [one.a for one in found.passages], marked_in(found, found.only_in_a), context), "a", "b"
    )
    b = marked(
        pieces(texts[1], [one.b for one in found.passages], marked_in(found, found.only_in_b), context), "b", "a"
    )
    sections = _SECTIONS.format(
        schemes=_schemes(found),
        measures=_measures(found),
        note=_note(found),
        left=f'<h3>A: {safe(names[0])}</h3>\n<div class="text">{a or _EMPTY}</div>',
        right=f'<h3>B: {safe(names[1])}</h3>\n<div class="text">{b or _EMPTY}</div>',
    )
    return framed("Two texts compared", " and ".join(f"<code>{safe(name)}</code>" for name in names), sections)


def _schemes(found: "Comparison") -> str:
    return "".join(
        f'<tr><th>{safe(one.scheme)}</th><td class="{"yes" if one.matches else "no"}">{decided_of(one)}</td>'
        f"<td>{safe(value_of(one))}</td><td>{safe(estimate_of(one.estimate))}</td><td>{safe(one.rule)}</td></tr>\n"
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
    leads = " Each passage links to its place in the other text." if found.passages else ""
    return f"{passages_of(found)}{leads}"


_EMPTY: Final = '<span class="omitted">empty</span>'
_SECTIONS: Final = """<section>
<h2>Decision by each scheme</h2>
<div class="wide"><table>
<tr><th>scheme</th><th>dedup decides</th><th>because</th><th>signatures alone</th><th>rule</th></tr>
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
"""
