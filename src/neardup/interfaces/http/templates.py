"""The templates and static files of the service."""

from collections.abc import Awaitable, Callable, Mapping
from functools import cache, partial
from hashlib import blake2b
from importlib.resources import files
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from neardup.interfaces.http.links import Mount
from neardup.interfaces.pages import templates as pages

PAGE_POLICY: Final = (  # styles, images and forms of this service only; no scripts
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_PACKAGE: Final = "neardup.interfaces.http"


@cache
def static(name: str) -> bytes:
    """Return a static file; the style sheet begins with the common style of all pages."""
    content = (files(_PACKAGE) / "static" / name).read_bytes()
    return pages.source("common.css") + content if name.endswith(".css") else content


def fixed(content: bytes, media: str, headers: Mapping[str, str]) -> Callable[[Request], Awaitable[Response]]:
    """Return the endpoint of a content that does not change."""

    async def endpoint(_: Request) -> Response:
        return Response(content, headers=headers, media_type=media)

    return endpoint


def _url(name: str) -> str:
    """Return the URL of a static file; it changes with the content, so that browsers may keep the file."""
    return f"{Mount.prefix}/static/{name}?v={blake2b(static(name), digest_size=6).hexdigest()}"


TEMPLATES: Final = pages.environment([_PACKAGE])
render: Final = partial(pages.render, templates=TEMPLATES)


def mount(prefix: str) -> None:
    """Let the links of all pages begin with a prefix."""
    Mount.prefix = prefix
    TEMPLATES.globals.update(root=prefix, style=_url("page.css"), icon=_url("icon.svg"))


mount("")
