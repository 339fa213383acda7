import contextlib
import socketserver
import threading
from importlib.util import find_spec

import pytest

from arena.store.home import ArenaHome, open_people
from arena.store.people.values import Role

if any(find_spec(name) is None for name in ("starlette", "uvicorn", "httptools", "argon2")):
    collect_ignore_glob = ["test_*.py"]  # the extra is not installed


@pytest.fixture(autouse=True)
def environment(tmp_path, monkeypatch):
    for name in ("ARENA_TOKEN", "XDG_CONFIG_HOME", "ARENA_PEOPLE", "ARENA_HOME", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    for scheme in ("http", "https", "all"):
        monkeypatch.delenv(f"{scheme}_proxy", raising=False)
        monkeypatch.delenv(f"{scheme}_proxy".upper(), raising=False)
    monkeypatch.setenv("ARENA_CREDENTIALS", str(tmp_path / "config" / "credentials.json"))


class Arena:
    def __init__(self, directory, address):
        self.url = f"http://{address}"
        self.people = open_people(directory)
        self.ada = self.people.accounts.add("ada", Role.AUTHOR, "the command line")

    def token(self, *scopes):
        return self.people.tokens.make(self.ada, "of a test", scopes or ("read", "submit"), 30)

    def tokens(self):
        return [token.name for token in self.people.tokens.all(self.ada)]


@contextlib.contextmanager
def answering(directory, is_open=True):
    import uvicorn

    from arena.server.http.app import Site
    from arena.server.http.opened_home import OpenedHome
    from arena.server.http.server import listen
    from arena.server.operations.opened_people import OpenedPeople
    from tests.server.conftest import FakeVersions

    home = OpenedHome(directory)
    people = OpenedPeople(directory) if is_open else None
    endpoints, links = (people.gate.endpoints, people.links) if people else ((), None)
    site = Site(home, versions=FakeVersions(), endpoints=endpoints, links=links)
    server = uvicorn.Server(uvicorn.Config(site, ws="none", lifespan="off", log_config=None, access_log=False))
    with listen("127.0.0.1", 0) as listening:
        host, port = listening.getsockname()
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()  # connections wait until it answers
        try:
            yield f"{host}:{port}"
        finally:
            server.should_exit = True
            thread.join()
            if people is not None:
                people.close()
            home.close()


@pytest.fixture
def arena_site(tmp_path):
    with ArenaHome(tmp_path / "home"):
        pass
    with answering(tmp_path / "home") as address:
        site = Arena(tmp_path / "home", address)
        yield site
        site.people.close()


@contextlib.contextmanager
def hostile(answer, context=None):
    """Yield the address of a server.

    Args:
        answer: called with each connection and the head of its request.
        context: for connections with encryption; None without.
    """

    class Handler(socketserver.StreamRequestHandler):
        def handle(self):
            head = b""
            while (line := self.rfile.readline()) not in (b"\r\n", b""):
                head += line
            with contextlib.suppress(OSError):
                answer(self, head.decode("latin-1"))

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        allow_reuse_address = True

        def get_request(self):
            connection, address = super().get_request()
            return context.wrap_socket(connection, server_side=True) if context else connection, address

        def handle_error(self, *_):
            """Say nothing of a client that has gone."""

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def response(body=b"{}", status="200 OK", kind="application/json", headers=()):
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


def saying(data):
    return lambda handler, _: handler.wfile.write(data)


def noting(heads, data=None):
    return lambda handler, head: (heads.append(head), handler.wfile.write(data or response()))
