import pytest

from arena.store.results.store import Store
from tests.databases import DATABASES


@pytest.fixture(params=DATABASES)
def place(request, tmp_path):
    """Where a database may be: a file; in long runs and with ``on_both`` a server, too (why: ``tests.databases``)."""
    return tmp_path / "arena.sqlite3" if request.param == "sqlite" else request.getfixturevalue("postgres_url")


@pytest.fixture
def store(place):
    store = Store(place)
    yield store
    store.close()
