"""The puzzles of a tournament as one file that loads nothing; solutions unfold."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from arena.site.matches.puzzles import build_puzzle
from arena.site.matches.puzzles_model import PuzzleParameters, PuzzlesPage, PuzzlesParameters
from arena.site.publish.one_file import policy_hash
from arena.site.render import Setting, asset, render_template
from arena.store.home import ArenaHome


class NoLinks:
    """Addresses in a file in which there is no other page."""

    account = None

    def page(self, name: str, suffix: str = "", **values: Any) -> str | None:
        """Return None: there is no such page."""
        return None

    def asset(self, name: str) -> str:
        """Return an address where nothing is: what is needed is in the file."""
        return ""


def puzzles_file(home: ArenaHome, page: PuzzlesPage) -> str:
    """Return puzzles as HTML.

    Args:
        home: where they are kept.
        page: their list.
    """
    style = asset("site.css").decode()
    name = page.tournament
    return render_template(
        "puzzles_file.html.jinja",
        Setting(links=NoLinks(), is_served=False),
        room="",
        twin=None,
        parameters=PuzzlesParameters(tournament=name),
        model=page,
        puzzles=[
            build_puzzle(home, PuzzleParameters(tournament=name, puzzle=one.puzzle, answer=True))
            for one in page.puzzles
        ],
        style=Markup(style),
        style_hash=policy_hash(style),
    )
