"""Pages from templates: everything that they are given is escaped, and what they are not given is an error."""

from functools import cache
from hashlib import blake2b
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from neardup import __version__
from neardup.interfaces.pages.style import STYLE
from neardup.model.errors import ExtraMissing

if TYPE_CHECKING:
    from jinja2 import Environment

_ROOM: Final = "neardup.interfaces.http"


def prepare() -> None:
    """Compile all templates and read all files; ``ExtraMissing`` where the library of templates is not installed."""
    templates = _templates()
    for name in templates.list_templates():
        templates.get_template(name)


def render(name: str, **values: Any) -> bytes:
    """Fill a template in, as UTF-8."""
    page = _templates().get_template(f"{name}.html").render(values)
    return page.encode("utf-8", errors="replace")


@cache
def static(name: str) -> bytes:
    """Give a file that pages need; the style of all pages of the house is part of the pages' own."""
    content = (files(_ROOM) / "static" / name).read_bytes()
    return STYLE.encode() + content if name.endswith(".css") else content


@cache
def _templates() -> "Environment":
    """Compile the templates, once each."""
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ModuleNotFoundError as error:
        raise ExtraMissing("jinja2", "web") from error

    templates = Environment(
        autoescape=True,
        auto_reload=False,
        cache_size=-1,
        loader=PackageLoader(_ROOM),
        lstrip_blocks=True,
        trim_blocks=True,
        undefined=StrictUndefined,
    )
    templates.globals.update(
        version=__version__,
        style=f"/static/page.css?v={_digest('page.css')}",
        icon=f"/static/icon.svg?v={_digest('icon.svg')}",
    )
    return templates


def _digest(name: str) -> str:
    return blake2b(static(name), digest_size=6).hexdigest()
