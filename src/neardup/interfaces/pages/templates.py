"""Templates of all pages: all values are escaped, and an undefined value is an error."""

from collections.abc import Sequence
from typing import Any, Final

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from neardup import __version__
from neardup.interfaces.escaping import printable, printable_lines, shortened
from neardup.interfaces.wording.match_decisions import decided_of, estimate_of, passages_of, value_of
from neardup.interfaces.wording.numbers import decimals
from neardup.interfaces.wording.runs import evidence_of, rule_of
from neardup.model.errors import counted

_PACKAGE: Final = "neardup.interfaces.pages"
_FILTERS: Final = (
    *(printable, printable_lines, shortened),
    *(counted, decimals, evidence_of, rule_of),
    *(decided_of, estimate_of, passages_of, value_of),
)


def environment(packages: Sequence[str] = ()) -> Environment:
    """Return an environment of the templates of *packages* and of those that all pages share."""
    made = Environment(
        autoescape=True,
        auto_reload=False,
        cache_size=-1,
        keep_trailing_newline=True,
        loader=ChoiceLoader([PackageLoader(package) for package in (*packages, _PACKAGE)]),
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    made.filters.update({one.__name__: one for one in _FILTERS})
    made.globals["version"] = __version__
    return made


def safe(markup: str) -> Markup:
    """Declare markup as safe: a page shows it as it is. For charts, which escape their texts."""
    return Markup(markup)  # noqa: S704 - that is what it is for


def source(name: str) -> bytes:
    """Return a shared file as it is, such as a style sheet."""
    return PackageLoader(_PACKAGE).get_source(TEMPLATES, name)[0].encode()


def render(name: str, *, templates: Environment | None = None, **values: Any) -> bytes:
    """Render a template as UTF-8."""
    page = (templates or TEMPLATES).get_template(f"{name}.html").render(values)
    return page.encode("utf-8", errors="replace")


TEMPLATES: Final = environment()
