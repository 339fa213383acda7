"""``arena challenge``: let a bot of one's own play against another at a site, unrated."""

from __future__ import annotations

import time

import click

from arena.analysis.text.tables import Column
from arena.base.text import counted
from arena.cli.remote.site_client import Fields, SiteClient, for_site
from arena.cli.terminal.common import print_table
from arena.cli.terminal.options import format_options, plain_http_option
from arena.cli.terminal.streams import FAILED, OK
from arena.store.people.unrated_match import ENDED, MatchState

LISTED = 20
PAUSE_SECONDS = 1.0
MAX_PLIES = 1_000_000

COLUMNS = [
    Column("challenger", "challenger", is_number=False),
    Column("bot", "bot", is_number=False),
    Column("game", "game", is_number=False),
    Column("seat", "seat"),
    Column("state", "state", is_number=False),
    Column("plies", "plies"),
    Column("outcome", "outcome", is_number=False, wraps=True),
    Column("page", "page", is_number=False, drop_order=1),
]


@click.command("challenge")
@click.argument("bot", metavar="RIVAL")
@click.option("--mine", required=True, metavar="NAME", help="Your bot, which was accepted there.")
@click.option("--game", required=True, metavar="GAME", help="The game they play.")
@click.option("--at", "url", required=True, metavar="URL", help="The site of the arena, where you are signed in.")
@click.option("--one-match", "is_one", is_flag=True, help="Play one match, with your bot in seat 0.")
@plain_http_option
@format_options
def challenge_command(
    bot: str, mine: str, game: str, url: str, is_one: bool, plain_http: bool, table_format: str = "text"
) -> int:
    """Let your bot play against RIVAL at the site of an arena: two matches, with each bot in both seats, unrated.

    \b
    arena challenge greedy --mine mybot --game differences --at https://arena.example.org

    RIVAL is any bot that visitors may play against there. Only you see the matches.
    """
    client = for_site(url, plain_http)
    client.post_json("/challenges", {"challenger": mine, "bot": bot, "game": game, "both_seats": not is_one})
    count = 1 if is_one else 2
    while True:
        rows = _challenges(client)[:count]
        if all(row["state"] in ENDED for row in rows):
            break
        time.sleep(PAUSE_SECONDS)
    print_table(COLUMNS, rows, table_format, f"{counted(count, 'match')}, unrated")
    return OK if all(row["state"] == MatchState.OVER for row in rows) else FAILED


def _challenges(client: SiteClient) -> list[dict[str, object]]:
    """Return one's latest challenges, the latest first."""
    answer = Fields(client.get_json("/challenges"), client.no_arena())
    return [
        {
            **{name: one.text(name) for name in ("challenger", "bot", "game", "state")},
            "seat": one.whole("seat", 0, 1),
            "plies": one.whole("plies", 0, MAX_PLIES),
            "outcome": one.sentence("outcome"),
            "page": f"{client.site}{one.text('address')}",
        }
        for one in answer.objects("own", LISTED)
    ]
