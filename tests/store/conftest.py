"""A store on each kind of database."""

import pytest

from arena.store.store import Store


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path):
    """Where a database may be: every test of the store runs on both kinds."""
    return tmp_path / "arena.sqlite3" if request.param == "sqlite" else request.getfixturevalue("postgres_url")


@pytest.fixture
def store(place):
    store = Store(place)
    yield store
    store.close()
