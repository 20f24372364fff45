"""Pages from templates: all values are escaped, and an undefined value is an error."""

from functools import cache
from hashlib import blake2b
from importlib.resources import files
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from neardup import __version__
from neardup.interfaces.escaping import printable
from neardup.interfaces.pages.style import STYLE

PAGE_POLICY: Final = (  # styles, images and forms of this service only; no scripts
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_PACKAGE: Final = "neardup.interfaces.http"


@cache
def static(name: str) -> bytes:
    """Return a static file; the style sheet begins with the common style of all pages."""
    content = (files(_PACKAGE) / "static" / name).read_bytes()
    return STYLE.encode() + content if name.endswith(".css") else content


def render(name: str, **values: Any) -> bytes:
    """Render a template as UTF-8."""
    return TEMPLATES.get_template(f"{name}.html").render(values).encode("utf-8", errors="replace")


def _url(name: str) -> str:
    """Return the URL of a static file; it changes with the content, so that browsers may keep the file."""
    return f"/static/{name}?v={blake2b(static(name), digest_size=6).hexdigest()}"


TEMPLATES: Final = Environment(
    autoescape=True,
    auto_reload=False,
    cache_size=-1,
    loader=PackageLoader(_PACKAGE),
    lstrip_blocks=True,
    trim_blocks=True,
    undefined=StrictUndefined,
)
TEMPLATES.filters["printable"] = printable
TEMPLATES.globals.update(version=__version__, style=_url("page.css"), icon=_url("icon.svg"))
