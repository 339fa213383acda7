"""``arena verify``: replay the records and recompute what follows from them."""

from __future__ import annotations

import click

from arena.cli.common import open_home, print_json
from arena.cli.group import FAILED, OK
from arena.cli.options import json_option
from arena.report.tables import printable
from arena.text import counted

UNSETTLED = "all records hold; the ratings are not compared, because matches were recorded meanwhile"


@click.command("verify")
@click.argument("tournament", required=False)
@json_option
def command(tournament: str | None, as_json: bool) -> int:
    """Replay every record of TOURNAMENT, or of all, through the rules, and recompute scores, ranks and ratings.

    Of a corrected tournament, the log of corrections has to explain every record and every match that does not count.
    """
    from arena.analysis.verification import is_settled, verify

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
                click.echo(f"{printable(stored.name)}: {checked} of {matches} checked: {verdict}")
    if as_json:
        print_json(rows)
    return FAILED if any(row["problems"] for row in rows) else OK
