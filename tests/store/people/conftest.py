import pytest

from arena.store.people.people_store import PeopleStore
from arena.store.people.values import Role
from tests.databases import DATABASES


class FakeClock:
    def __init__(self, seconds=1_800_000_000.0):
        self.seconds = seconds

    def __call__(self):
        return self.seconds


@pytest.fixture
def now():
    return FakeClock()


@pytest.fixture(params=DATABASES)
def place(request, tmp_path):
    """Where a database may be: a file; in long runs and with ``on_both`` a server, too (why: ``tests.databases``)."""
    return tmp_path / "people.sqlite3" if request.param == "sqlite" else request.getfixturevalue("postgres_url")


@pytest.fixture
def store(place, now):
    with PeopleStore(place, now) as opened:
        yield opened


@pytest.fixture
def ada(store):
    return store.accounts.add("ada", Role.AUTHOR, "test")


@pytest.fixture
def eve(store):
    return store.accounts.add("eve", Role.AUTHOR, "test")
