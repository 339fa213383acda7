import pytest

from tests.cli.calls import calling


@pytest.fixture
def home(tmp_path):
    return tmp_path / "home"


@pytest.fixture
def arena(home, capsys):
    """Return a function that runs a command in the home and returns (exit code, stdout, stderr)."""
    return calling(home, capsys)
