import contextlib
import inspect
import shutil
import sys
from importlib.util import find_spec

import pytest

from arena.store.home import ArenaHome
from tests.store.results.samples import definition, line, record

if any(find_spec(name) is None for name in ("httpx", "starlette", "uvicorn", "httptools")):
    collect_ignore_glob = ["test_*.py"]  # the extra is not installed
if find_spec("sniffio") is None:
    sys.modules["sniffio"] = None  # httpx imports it for each request, and each would look for it everywhere


class FakeVersions:
    def __init__(self):
        self.version, self.progress, self.corrections, self.lost_at = "1", "", "", None

    def version_of(self, _):
        return self.version

    def progress_of(self, _):
        return self.progress

    def corrections_of(self, _):
        return self.corrections


def add_tournament(home, name="t"):
    tournament = home.store.create_tournament(definition(name=name), [line(1), line(2)])
    home.store.record(tournament, [record(1, tournament=name), record(2, tournament=name)])


@pytest.fixture(scope="session")
def played_home(tmp_path_factory):
    directory = tmp_path_factory.mktemp("played") / "home"
    with ArenaHome(directory) as home:
        add_tournament(home)
    return directory


@pytest.fixture
def directory(played_home, tmp_path):
    return shutil.copytree(played_home, tmp_path / "home")


@pytest.fixture
def versions():
    return FakeVersions()


@pytest.fixture(autouse=True)
def board_of_the_first_page_is_waited_for(monkeypatch):
    """On a busy machine it would come with a later answer, and two answers would differ."""
    from arena.server.http import page_response

    monkeypatch.setattr(page_response, "BOARD_SECONDS", 60.0)
    monkeypatch.setattr(page_response, "NEWER_BOARD_SECONDS", 60.0)


@contextlib.asynccontextmanager
async def client_of(directory, versions=None, **options):
    import httpx

    from arena.server.http.addresses import Hosts
    from arena.server.http.app import Site
    from arena.server.http.opened_home import OpenedHome

    home = OpenedHome(directory)
    site = Site(home, versions=versions or FakeVersions(), hosts=Hosts(), **options)
    transport = httpx.ASGITransport(app=site, raise_app_exceptions=True)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost:8000") as client:
        client.site = site
        try:
            yield client
        finally:
            await site.close()
            home.close()


async def answered(request, status, *texts):
    """Return the answer to a request, which has this status, and these texts in it."""
    response = await request
    assert response.status_code == status, response.text
    assert [text for text in texts if text not in response.text] == []
    return response


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(name, obj):
    if name.startswith("test") and inspect.iscoroutinefunction(obj):
        pytest.mark.anyio(obj)


@pytest.fixture
def anyio_backend():
    return "asyncio"
