"""``arena replay``: step through a recorded match on the drawn board."""

from __future__ import annotations

import sys
from typing import Any

import click

from arena.cli.common import home_option, match_of, show_result
from arena.report.tables import printable

HELP = "Enter or Space: next   b: back   g: to the start   G: to the end   q: leave"


@click.command("replay")
@click.argument("match")
@home_option
def command(match: str, home: str | None) -> None:
    """Step through MATCH, written TOURNAMENT/NUMBER as `arena matches` lists it.

    Without a terminal, every position is printed.
    """
    from arena.match.replay import states_of
    from arena.tournament.arena_home import ArenaHome

    tournament, number = match_of(match)
    with ArenaHome(home, must_exist=True) as arena_home:
        record = arena_home.store.record_of(arena_home.store.tournament(tournament), number)
    pages = [_page(record, ply, game, state) for ply, (game, state) in enumerate(states_of(record))]
    if sys.stdin.isatty() and sys.stdout.isatty():
        _step_through(pages)
    else:
        click.echo("\n\n".join(pages))
    click.echo()
    show_result(record)


def _page(record: dict[str, Any], ply: int, game: Any, state: Any) -> str:
    """Return one position: the action that led to it, the board, the scores and the bot's note."""
    title = f"{record['tournament']}/{record['match']}  {record['game']}  ply {ply} of {len(record['actions'])}"
    lines = [title]
    if ply:
        lines.append(_action_line(record, ply - 1, game))
    scores = "  ".join(
        f"{printable(bot)} {score:g}" for bot, score in zip(record["bots"], game.scores(state), strict=True)
    )
    lines += ["", game.render(state), "", f"scores: {scores}"]
    return "\n".join(lines)


def _action_line(record: dict[str, Any], index: int, game: Any) -> str:
    seat, action = record["actions"][index]
    bot = printable(record["bots"][seat])
    if action is None:
        return f"{bot} (seat {seat}) is taken out of the match"
    text = f"{bot} (seat {seat}) plays {game.format_action(action)}"
    if index < record["opening_plies"]:
        return f"{text} (opening {record['opening']})"
    text += f" in {1000 * record['wall_seconds'][index]:.2f} ms"
    notes = [note for ply, note in record["notes"] if ply == index]
    return text + "".join(f"; note: {printable(str(note))}" for note in notes)


def _step_through(pages: list[str]) -> None:
    place = 0
    while True:
        click.clear()
        click.echo(pages[place])
        click.echo(f"\n{HELP}")
        key = click.getchar()
        if key in ("q", "\x1b", "\x04"):
            return
        if key in ("b", "k", "\x1b[A", "\x1b[D", "\x7f"):
            place = max(0, place - 1)
        elif key == "g":
            place = 0
        elif key == "G":
            place = len(pages) - 1
        elif place == len(pages) - 1:
            return
        else:
            place += 1
