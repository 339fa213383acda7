"""Wiring shared by tests of the store and of whole tournaments."""

import pytest

from tests.postgres import Server, programs


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server of our own."""
    if programs() is None:
        pytest.skip("PostgreSQL is not installed")
    pytest.importorskip("psycopg")
    server = Server()
    yield server
    server.close()


@pytest.fixture
def postgres_url(postgres):
    """The URL of an empty database."""
    return postgres.new_database()
