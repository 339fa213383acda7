"""docs/reference/lab_json.md names every key that the commands of the lab print as JSON."""

import json
import re

import pytest

from arena.cli.group import run
from tests.conftest import BOTS, ROOT

PAGES = [(ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("reference/lab_json.md", "lab.md")]
NAMED = set(re.findall(r"`(\w+)`", "\n".join(PAGES)))
CALLS = {
    "solve": "solve differences -o size=3 --json",
    "solve for three": "solve coprimality -o size=3 -o players=3 --json",
    "analyse": "analyse cup/1 2 --json",
    "analyse for three": "analyse coprimality --position three.json --json",
    "annotate a match": "annotate cup/1 --json",
    "annotate": "annotate cup --json",
    "puzzles": "puzzles cup --json",
    "repair": "repair differences -o size=3 --json",
    "first actions": "repair differences cup --plies 1 --json",
    "prove": "prove differences -o size=3 --out proof.txt --json",
    "kernels": "kernels --json",
}
FILE = """game = "differences"
options = { size = 6 }
encounters = 2
"""


def keys_of(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from keys_of(inner) if key not in ("options", "paranoid", "shares") else ()
    elif isinstance(value, list):
        for inner in value:
            yield from keys_of(inner)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    place = tmp_path_factory.mktemp("lab")
    entrants = "".join(f'[[entrants]]\nbot = "{BOTS / name}"\n' for name in ("minimal", "random_legal"))
    (place / "cup.toml").write_text(FILE + entrants)
    (place / "three.json").write_text('{"options": {"size": 3, "players": 3}, "actions": []}')
    assert run(["--home", str(place / "home"), "run", str(place / "cup.toml"), "-q"]) == 0
    return place


@pytest.mark.parametrize("name", CALLS)
def test_every_key_of_the_lab_is_explained(name, place, monkeypatch, capsys):
    monkeypatch.chdir(place)
    call = CALLS[name]
    capsys.readouterr()
    assert run(["--home", "home", "lab", *call.split()]) == 0
    text = capsys.readouterr().out
    try:
        value = json.loads(text)
    except ValueError:
        value = [json.loads(line) for line in text.splitlines()]
    assert set(keys_of(value)) <= NAMED
