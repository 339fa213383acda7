"""Wiring shared by tests of the store and of whole tournaments."""

from pathlib import Path

import pytest

from tests.postgres import Server, programs

BOTS = Path(__file__).parents[1] / "bots"


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


@pytest.fixture
def write_definition(tmp_path):
    """Return a function that writes a tournament file and returns its path."""

    def write(text="", file_name="t", bots=("minimal", "random_legal"), **keys):
        lines = [f"{key} = {value}" for key, value in {"game": '"differences"', **keys}.items() if value is not None]
        lines += [f'[[entrants]]\nbot = "{BOTS / bot}"' for bot in bots]
        path = tmp_path / f"{file_name}.toml"
        path.write_text("\n".join([*lines, text]))
        return path

    return write
