"""``arena verify``: replay the records and recompute what follows from them."""

from __future__ import annotations

import click

from arena.cli.common import open_home
from arena.cli.group import FAILED, OK
from arena.report.tables import printable
from arena.text import counted


@click.command("verify")
@click.argument("tournament", required=False)
def command(tournament: str | None) -> int:
    """Replay every record of TOURNAMENT, or of all, through the rules, and recompute scores, ranks and ratings.

    Of a corrected tournament, the log of corrections has to explain every record and every match that does not count.
    """
    from arena.analysis.verification import verify

    with open_home(must_exist=True) as arena_home:
        chosen = [arena_home.store.tournament(tournament)] if tournament else arena_home.store.tournaments()
        if not chosen:
            click.echo("There is no tournament yet.")
        failed = False
        for stored in chosen:
            checked, problems = verify(arena_home, stored)
            for problem in problems:
                click.echo(printable(f"{stored.name}: {problem}"), err=True)
            failed = failed or bool(problems)
            held = "the ratings and the corrections" if stored.corrections else "the ratings"
            verdict = counted(len(problems), "problem") if problems else f"all records hold, and so do {held}"
            matches = counted(stored.scheduled, "match")
            click.echo(f"{printable(stored.name)}: {checked} of {matches} checked: {verdict}")
    return FAILED if failed else OK
