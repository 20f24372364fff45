"""A page of this machine on which a person labels pairs, one after the other."""

import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from hashlib import blake2b
from secrets import compare_digest
from types import SimpleNamespace
from typing import Final
from urllib.parse import parse_qs

import uvicorn
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from neardup.interfaces.escaping import printable
from neardup.interfaces.http.hosts import Hosts
from neardup.interfaces.http.listening import listen
from neardup.interfaces.http.middleware import secure
from neardup.interfaces.http.server import QUIET, SignalledServer
from neardup.interfaces.http.templates import PAGE_POLICY, fixed, render, static
from neardup.interfaces.http.views import CONTEXT, MOST, PIECES
from neardup.interfaces.wording.excerpts import compared
from neardup.interfaces.wording.labelling import KEYS, QUESTION, counts_of, end_of, place_of
from neardup.model.errors import OutputError
from neardup.model.labels import DrawnPair, Label
from neardup.pipeline.labels.labelling import Labelling

HOST: Final = "127.0.0.1"
POLICY: Final = f"{PAGE_POLICY}; script-src 'self'"  # for the keys
_SECURITY: Final = {"content-security-policy": POLICY}
_FILES: Final = {"page.css": "text/css", "icon.svg": "image/svg+xml", "label.js": "text/javascript"}
_BODY: Final = 4 << 10  # bytes of a form
_BACK: Final = "back"
_STALE: Final = "This answer was about another pair than the one that is shown now. It was not recorded."


def serve(labelling: Labelling, port: int, started: Callable[[str], None]) -> None:
    """Serve the page on this machine until a signal ends it; port 0 takes a free one.

    *started* is called with the address, which has a token: other users of the machine do not know it. Raises
    ``ParameterError`` for a port that cannot be used.
    """
    token = secrets.token_urlsafe(24)
    with listen(HOST, port) as listening:
        address = f"http://{HOST}:{listening.getsockname()[1]}/{token}/"
        app = create_label_app(labelling, token, partial(started, address))
        SignalledServer(uvicorn.Config(app, **QUIET)).run(sockets=[listening])


def create_label_app(labelling: Labelling, token: str, started: Callable[[], None] = lambda: None) -> ASGIApp:
    """Create the application whose pages are below ``/TOKEN/``; *started* is called when it is ready."""

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        started()
        yield

    def known(request: Request) -> bool:
        return compare_digest(request.path_params["token"].encode(), token.encode())

    async def show(request: Request) -> Response:
        return _page(labelling) if known(request) else _missing()

    async def answer(request: Request) -> Response:
        if not known(request):
            return _missing()
        form = await _form(request)
        pair = labelling.current
        given = form.get("label", "")
        if form.get("pair") != _name(pair):
            return _page(labelling, _STALE, 409)
        if given == _BACK:
            labelling.back()
        elif given in KEYS.values() and pair is not None:
            label: Label = given  # type: ignore[assignment]  # one of them
            try:
                labelling.answer(label)
            except OutputError as error:
                return _page(labelling, f"The answer was not recorded: {error.rule}.", 507)
        else:
            return _page(labelling, "This is not an answer: nothing was recorded.", 422)
        return RedirectResponse(f"/{token}/", 303)

    app = Starlette(
        routes=[
            *(Route(f"/static/{name}", fixed(static(name), media, _SECURITY)) for name, media in _FILES.items()),
            Route("/{token}/", show, methods=["GET"]),
            Route("/{token}/", answer, methods=["POST"]),
        ],
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    return _guarded(app)


def _guarded(app: ASGIApp) -> ASGIApp:
    """Reject other hosts, so that no page of another site reaches the application, and add the security headers."""
    hosts = Hosts(HOST)

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        async def secured(message: Message) -> None:
            if message["type"] == "http.response.start":
                secure(message)
            await send(message)

        asked = scope["type"] != "http" or hosts.are_asked(scope["headers"])
        await (app if asked else PlainTextResponse("Unknown Host header.", 421))(scope, receive, secured)

    return guarded


def pair_view(pair: DrawnPair) -> SimpleNamespace:
    """Return the name of a pair, by which an answer refers to it, and its sides: both ids and texts.

    Passages are searched in the first ``MOST`` characters, which are shown.
    """
    one, other = pair.text_a[:MOST], pair.text_b[:MOST]
    left, right = compared(one, other, CONTEXT, most=PIECES)
    shown = (
        (printable(name), text._replace(left=text.left + len(whole) - min(len(whole), MOST)))
        for name, text, whole in ((pair.a, left, pair.text_a), (pair.b, right, pair.text_b))
    )
    return SimpleNamespace(name=_name(pair), sides=tuple(shown))


def _page(labelling: Labelling, note: str = "", status: int = 200) -> Response:
    pair = labelling.current
    content = render(
        "label",
        pair=None if pair is None else pair_view(pair),
        shown=_name(pair),
        place=place_of(labelling) if pair else end_of(labelling),
        counts=counts_of(labelling.answers),
        question=QUESTION,
        keys=KEYS,
        given=labelling.given,
        first=labelling.number == 1,
        note=note,
    )
    return Response(content, status, _SECURITY, "text/html")


def _name(pair: DrawnPair | None) -> str:
    """Return a name of a pair for forms; that of no pair is empty."""
    if pair is None:
        return ""
    return blake2b(repr((pair.a, pair.b)).encode("utf-8", "replace"), digest_size=12).hexdigest()


def _missing() -> Response:
    return PlainTextResponse("Nothing is served at this address; open the one that the command printed.", 404)


async def _form(request: Request) -> dict[str, str]:
    """Return the fields of a form; a long, invalid or incomplete body has none."""
    body = b""
    try:
        async for part in request.stream():
            body += part
            if len(body) > _BODY:
                return {}
        return {
            name: values[-1]
            for name, values in parse_qs(body.decode("ascii"), keep_blank_values=True, max_num_fields=8).items()
        }
    except (ValueError, ClientDisconnect):
        return {}
