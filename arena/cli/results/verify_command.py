"""``arena tournament verify``: replay the records and recompute what follows from them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from arena.analysis.text.tables import printable
from arena.base.errors import UsageError
from arena.base.text import counted
from arena.cli.terminal.common import open_home, print_json
from arena.cli.terminal.options import json_option
from arena.cli.terminal.streams import FAILED, OK
from arena.cli.tournaments.transfer import external_game_option

UNSETTLED = "all records hold; the ratings are not compared, because matches were recorded meanwhile"
MANIFEST = "manifest.json"
COUNTS_A_STEP = 100


@click.command("verify")
@click.argument("tournament", required=False, metavar="[TOURNAMENT or OUT]")
@external_game_option
@click.option("--key", metavar="KEY", help="Who has to have signed OUT: ed25519:…, or a PEM file.")
@json_option
def verify_command(tournament: str | None, external_games: tuple[str, ...], key: str | None, as_json: bool) -> int:
    """Replay every record of TOURNAMENT, or of all, through the rules, and recompute scores, ranks and ratings.

    Of a corrected tournament, the log of corrections has to explain every record and every match that does not count.
    OUT is a folder that arena publish has made: its digests, its records and every page are checked, from the folder
    alone; whoever has signed it is named.
    """
    if tournament is not None and os.path.isfile(os.path.join(tournament, MANIFEST)):  # noqa: PTH113, PTH118 (odd names)
        return _verify_folder(Path(tournament), external_games, key, as_json)
    if key is not None:
        raise UsageError("--key: expected a published folder, for nothing else is signed")
    if external_games:
        raise UsageError(
            "--external-game: the records of this arena's own home need none; it is for a published folder"
        )
    return _verify_home(tournament, as_json)


def _verify_home(tournament: str | None, as_json: bool) -> int:
    from arena.analysis.measures.verification import is_settled, verify

    with open_home(must_exist=True) as arena_home:
        chosen = [arena_home.store.tournament(tournament)] if tournament else arena_home.store.tournaments()
        if not chosen and not as_json:
            click.echo("There is no tournament yet.")
        rows = []
        for stored in chosen:
            checked, problems = verify(arena_home, stored)
            for problem in problems:
                click.echo(printable(f"{stored.name}: {problem}"), err=True)
            rows.append(
                {"tournament": stored.name, "checked": checked, "matches": stored.scheduled, "problems": problems}
            )
            if not as_json:
                held = "the ratings and the corrections" if stored.corrections else "the ratings"
                verdict = f"all records hold, and so do {held}" if is_settled(arena_home, stored) else UNSETTLED
                verdict = counted(len(problems), "problem") if problems else verdict
                matches = counted(stored.scheduled, "match")
                click.echo(f"{printable(stored.name)}: {checked:,} of {matches} checked: {verdict}")
    if as_json:
        print_json(rows)
    return FAILED if any(row["problems"] for row in rows) else OK


def _verify_folder(folder: Path, external_games: tuple[str, ...], key: str | None, as_json: bool) -> int:
    from arena.site.publish.signature import public_key
    from arena.site.publish.verification import verify_folder

    wanted = public_key(key) if key is not None else None
    found = verify_folder(folder, external_games=external_games, key=wanted, progress=_show_progress)
    if sys.stderr.isatty():
        click.echo("\r\x1b[K", nl=False, err=True)
    for problem in found.problems:
        click.echo(printable(f"{folder}: {problem}"), err=True)
    counts = {"files": found.files, "matches": found.matches, "pages": found.pages}
    if as_json:
        print_json({"folder": str(folder), **counts, "signed_by": found.signed_by, "problems": found.problems})
    else:
        parts = [counted(count, noun) for count, noun in zip(counts.values(), ("file", "match", "page"), strict=True)]
        verdict = counted(len(found.problems), "problem") if found.problems else "all of them hold"
        click.echo(printable(f"{folder}: {', '.join(parts)} checked: {verdict}"))
        if found.signed_by is not None and not found.problems:
            click.echo(
                f"signed with the key {found.signed_by}{'' if key else ', of whom only you can say whose it is'}"
            )
    return FAILED if found.problems else OK


def _show_progress(noun: str, count: int) -> None:
    if sys.stderr.isatty() and count % COUNTS_A_STEP == 0:
        click.echo(f"\r\x1b[K{counted(count, noun)}", nl=False, err=True)
