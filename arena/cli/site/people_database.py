"""What commands share that change the database of people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from arena.cli.terminal.global_options import global_option

if TYPE_CHECKING:
    from arena.store.people.people_store import PeopleStore

COMMAND_LINE = "the command line"
"""Who did it, in the public log."""

required_reason_option = click.option("--reason", required=True, metavar="TEXT", help="Why, for the public log.")


def opened_people() -> PeopleStore:
    """Open the database of people of the home that was chosen. To be closed."""
    from arena.store.home import open_people

    return open_people(global_option("home"))
