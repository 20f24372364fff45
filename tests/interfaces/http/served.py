"""A service in a thread of this process."""

import threading
from contextlib import contextmanager

import uvicorn

from neardup import Index
from neardup.interfaces.http.app import create_app
from neardup.interfaces.http.limits import Limits
from neardup.interfaces.http.listening import listen
from neardup.interfaces.http.server import Deployment, uvicorn_config
from neardup.interfaces.http.service import Service


@contextmanager
def serving(folder, **options):
    """Serve an index; return the URL."""
    limits = Limits(query_seconds=120.0)
    key, read_only = options.pop("key", None), options.pop("read_only", False)
    ways = {"limits": limits, "read_only": read_only, "extraction": options.pop("extraction", None)}
    ways["addresses"] = options.pop("addresses", None)
    service = Service(lambda mode: Index.open(folder, mode, key=key), **ways)
    with listen("127.0.0.1", 0) as listening:
        started = threading.Event()
        server = uvicorn.Server(
            uvicorn_config(
                create_app(service, started=started.set, **options), Deployment(folder=str(folder), limits=limits)
            )
        )
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            assert started.wait(120)
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
