import asyncio
from types import SimpleNamespace

import httpx
import pytest
from programs import Process

from neardup import Checksum, Field, Index
from neardup.interfaces.http.app import create_app
from neardup.interfaces.http.limits import Limits
from neardup.interfaces.http.service import Service

STORM = "The storm broke over the harbour at dawn and tore three fishing boats from their moorings before noon"
BAKER = "A baker from the old town says rye and water and time and nothing else belongs into an honest loaf"
HERON = "Seven herons stood in the shallow water below the weir and did not move when the train went by"


@pytest.fixture(scope="session")
def texts():
    return SimpleNamespace(storm=STORM, again=f"{STORM} or so", baker=BAKER, heron=HERON)


@pytest.fixture
def folder(tmp_path):
    """An index of three documents, of which two are nearly the same."""
    with Index.create(tmp_path / "seen", texts=True, fields={"site": str, "rank": int}) as index:
        index.admit(["a", "b", "c"], [STORM, f"{STORM} or so", BAKER], {"site": ["one", "two", "one"]})
    return str(tmp_path / "seen")


class Client:
    """A service in this process, and its client."""

    def __init__(
        self,
        folder,
        *,
        limits=None,
        key=None,
        read_only=False,
        disk=None,
        addresses=None,
        writer=None,
        extraction=None,
        **options,
    ):
        self.loop = asyncio.new_event_loop()
        self.reports = []

        def opening(mode):
            return Index.open(folder, mode, key=key, disk=disk and disk())

        self.service = Service(
            opening,
            limits=limits or Limits(query_seconds=120.0),
            read_only=read_only,
            addresses=addresses,
            writer=writer,
            extraction=extraction,
            report=self.reports.append,
        )
        self.app = create_app(self.service, **options)
        self.loop.run_until_complete(self.service.start())
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        self.client = httpx.AsyncClient(transport=transport, base_url="http://localhost")

    def __call__(self, method, path, **given):
        return self.loop.run_until_complete(self.client.request(method, path, **given))

    def post(self, path, body, **given):
        return self("POST", path, json=body, **given)

    def get(self, path, **given):
        return self("GET", path, **given)

    def until(self, holds):
        """Let the service be until something holds."""

        deadline = self.loop.time() + 120
        while not holds():
            assert self.loop.time() < deadline
            self.loop.run_until_complete(asyncio.sleep(0.01))

    def together(self, *requests):
        """Ask several at a time."""

        async def all_():
            return await asyncio.gather(*(self.client.request(*some, **given) for some, given in requests))

        return self.loop.run_until_complete(all_())

    def close(self):
        self.loop.run_until_complete(self.client.aclose())
        self.loop.run_until_complete(self.service.stop())
        self.loop.run_until_complete(self.loop.shutdown_default_executor())
        self.loop.close()


@pytest.fixture
def serve(folder):
    """Make services; by default of the folder's index."""
    made = []

    def begin(where=folder, **options):
        made.append(Client(where, **options))
        return made[-1]

    yield begin
    for one in made:
        one.close()


@pytest.fixture
def titled(tmp_path, texts):
    """An index whose scheme signs titles, too."""
    scheme = Checksum(fields=(Field(name="title"), Field(name="body")))
    with Index.create(tmp_path / "titled", scheme, texts=True) as index:
        index.admit(["a", "b"], [texts.storm, texts.storm], {"title": ["Storm", "Storm"]})
    return str(tmp_path / "titled")


@pytest.fixture
def run(folder):
    running = []

    def begin(where=folder, *options, **given):
        running.append(Process(where, *options, **given))
        return running[-1]

    yield begin
    for one in running:
        one.forget()
