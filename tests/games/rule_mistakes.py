"""Mistakes that authors make, as one replaced text each in a game that is right.

A file of them is a table in TOML, because the texts have quotes of all kinds.
"""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
GAMES = {
    "domineering": (ROOT / "docs" / "examples" / "domineering.py", "Domineering", ("width=4", "height=3")),
    "hex": (ROOT / "docs" / "examples" / "hex.py", "Hex", ("size=4",)),
    "reversi": (ROOT / "docs" / "examples" / "reversi.py", "Reversi", ("size=6", "players=3")),
    "dots": (ROOT / "docs" / "examples" / "dots_and_boxes.py", "DotsAndBoxes", ("columns=2", "rows=2")),
    "differences": (ROOT / "arena" / "games" / "differences.py", "Differences", ("size=4",)),
    "plusminus": (ROOT / "arena" / "games" / "plusminus.py", "Plusminus", ("size=3",)),
    "amazons": (ROOT / "tests" / "amazons.py", "Amazons", ()),
}
"""The file of a game, its class, and small options."""


def mistakes() -> dict[str, tuple[str, str]]:
    """Return the path of each game with a mistake, such as "hex_3:Hex", with the game it is made from and its text."""
    made = {}
    for game, changes in tomllib.loads(Path(__file__).with_suffix(".toml").read_text())["mistakes"].items():
        file, kind, _ = GAMES[game]
        text = file.read_text()
        for number, (old, new) in enumerate(changes):
            assert text.count(old) >= 1 and old != new, (game, old)
            made[f"{game}_{number}:{kind}"] = game, text.replace(old, new, 1)
    return made
