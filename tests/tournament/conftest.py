"""Wiring shared by the tournament tests."""

from pathlib import Path

import pytest

BOTS = Path(__file__).parents[2] / "bots"


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
