import asyncio
import contextlib
import json
import logging
import shutil

import httpx
import pytest
from argon2 import PasswordHasher

from arena.base.programs.log_lines import JsonLines, TextLines
from arena.community.submissions.upload_directory import UploadDirectory
from arena.server.gate.gate import Gate
from arena.server.gate.homes import Homes
from arena.server.http.addresses import Hosts
from arena.server.http.app import Site
from arena.server.http.observation import let_requests_be_logged, log_request, observing
from arena.server.http.opened_home import OpenedHome
from arena.server.operations.opened_people import OPERATIONS
from arena.site.links import ServedLinks
from arena.site.render import asset_digests
from arena.store.people import secret
from arena.store.people.people_store import PeopleStore
from arena.store.people.values import Role, Scope
from tests.server.conftest import FakeVersions
from tests.store.people.conftest import FakeClock

PASSWORD = "correct horse battery"
COOKIE = "__Host-arena"
HOST = "arena.example"
HTML, JSON = "text/html,application/xhtml+xml,*/*;q=0.8", "application/json"
OURS = {"sec-fetch-site": "same-origin"}

ROLES = {"ann": Role.AUTHOR, "dora": Role.DIRECTOR, "olga": Role.OPERATOR, "otto": Role.OPERATOR}


def add_person(store, name, role):
    store.accounts.set_password(store.accounts.add(name, role, "test"), secret.hash_password(PASSWORD))
    return store.accounts.get(name)


class World:
    def __init__(self, store, now, site):
        self.store, self.now, self.site = store, now, site
        self._clients = contextlib.AsyncExitStack()

    def add(self, name, role):
        return add_person(self.store, name, role)

    def client(self, address="192.0.2.1", scheme="https", host=HOST, **headers):
        transport = httpx.ASGITransport(app=self.site, client=(address, 1234))
        headers = {"accept": HTML, **OURS} | headers
        client = httpx.AsyncClient(transport=transport, base_url=f"{scheme}://{host}", headers=headers)
        self._clients.push_async_callback(client.aclose)
        return client

    def browser(self, name, **options):
        client = self.client(**options)
        secret = self.store.sessions.begin(self.store.accounts.get(name), "a browser", "192.0.2.1")
        client.cookies.set(COOKIE, secret, domain=HOST)
        return client

    def program(self, name, *scopes, days=1):
        token = self.store.tokens.make(self.store.accounts.get(name), "test", scopes or (Scope.READ,), days)
        client = self.client(accept=JSON, authorization=f"Bearer {token}")
        del client.headers["sec-fetch-site"]
        return client

    def contents(self):
        """Return all that is stored of people, but for when they were seen and what counts requests."""

        def read(connection):
            from arena.store.people.schema import metadata

            return {
                table.name: [
                    {key: value for key, value in row._mapping.items() if key not in ("seen_at", "expires_at")}
                    for row in connection.execute(table.select())
                ]
                for table in metadata.sorted_tables
                if table.name != "rates"
            }

        return self.store._database.read(read)

    async def close(self):
        await self._clients.aclose()


def hash_quickly(monkeypatch):
    hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    monkeypatch.setattr(secret, "_hasher", lambda: hasher)


@pytest.fixture(autouse=True)
def quick_hashes(monkeypatch):
    hash_quickly(monkeypatch)
    secret._hash_of_nothing.cache_clear()
    yield
    secret._hash_of_nothing.cache_clear()


@pytest.fixture(scope="session")
def people_database(tmp_path_factory):
    path = tmp_path_factory.mktemp("people") / "people.sqlite3"
    with pytest.MonkeyPatch.context() as monkeypatch, PeopleStore(path, FakeClock()) as store:
        hash_quickly(monkeypatch)
        for name, role in ROLES.items():
            add_person(store, name, role)
    return path


@pytest.fixture
async def world(directory, people_database, tmp_path):
    now = FakeClock()
    home = OpenedHome(directory)
    links = ServedLinks(asset_digests(), "/account")
    with PeopleStore(shutil.copy(people_database, tmp_path / "people.sqlite3"), now) as store:
        uploads = UploadDirectory(tmp_path / "uploads")
        gate = Gate(store, uploads, Homes(home), links, OPERATIONS)
        hosts = Hosts("0.0.0.0", [HOST])
        site = Site(home, versions=FakeVersions(), hosts=hosts, endpoints=gate.endpoints, links=links)
        built = World(store, now, site)
        built.uploads = uploads
        try:
            yield built
        finally:
            await built.close()
            await site.close()
            await gate.close()
            home.close()


class Listener:
    """One who listens to a stream, as an ASGI server would for a browser."""

    def __init__(self, application, scope):
        self.heard, self.text, self.status, self._gone = asyncio.Queue(), "", None, asyncio.Event()
        self.task = asyncio.create_task(application(scope, self._receive, self._send))

    async def _receive(self):
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message):
        self.status = message.get("status", self.status)
        if body := message.get("body"):
            self.heard.put_nowait(body)

    async def leave(self):
        self._gone.set()
        await asyncio.wait_for(self.task, 60)


def stream_scope(path, headers, query=b""):
    return {
        "type": "http", "method": "GET", "scheme": "https", "path": path, "raw_path": path.encode(), "root_path": "",
        "query_string": query, "headers": headers, "client": ("192.0.2.1", 1), "server": (HOST, 443),
    }  # fmt: skip


class Lines(logging.Handler):
    def __init__(self):
        super().__init__(logging.NOTSET)
        self.texts, self.values = [], []

    def emit(self, record):
        if record.name.startswith(("httpx", "httpcore")):  # those of the browser in this test
            return
        self.texts.append(TextLines().format(record))
        self.values.append(json.loads(JsonLines().format(record)))


@pytest.fixture
def lines(monkeypatch):
    handler = Lines()
    logger = logging.getLogger()
    logger.addHandler(handler)
    monkeypatch.setattr(logger, "level", logging.DEBUG)
    requests = logging.getLogger("arena.requests")
    before = requests.level
    let_requests_be_logged()
    yield handler
    requests.setLevel(before)
    logger.removeHandler(handler)


@pytest.fixture
def logged_world(world, lines, monkeypatch):
    world.site._app = observing(world.site._app, [log_request])
    return world
