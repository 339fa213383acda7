"""The bots: a list of those submitted, and the profile of one."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from arena.analysis.text.corrections_table import correction_text
from arena.analysis.text.tables import Column, printable, row_of
from arena.base.errors import UnknownNameError, UsageError
from arena.base.text import minute_text
from arena.cli.terminal.common import open_home, print_done, print_json, print_table, sentences_text, table_text
from arena.cli.terminal.options import comparisons_option, confirm, format_options, json_option, wide_option, yes_option

if TYPE_CHECKING:
    from arena.analysis.measures.bot_profile import BotProfile
    from arena.analysis.measures.values import RatingPoint


BOT_COLUMNS = [
    Column("name", "bot", is_number=False),
    Column("version", "version", is_number=False, drop_order=1),
    Column("content", "digest", is_number=False, drop_order=3),
    Column("submitted_at", "submitted (UTC)", is_number=False, drop_order=2),
]
AUTHOR = Column("author", "author", is_number=False, drop_order=4)
"""The column for a home to which people have submitted bots."""


@click.command("bots")
@click.option("--remove", metavar="NAME@VERSION", help="Remove this bot and its files, after asking.")
@yes_option
@format_options
def bots_command(remove: str | None, is_confirmed: bool, table_format: str) -> None:
    """List the submitted bots, the oldest first; or remove one.

    The matches of a removed bot stay where they are, and arena tournament verify still checks them; arena bot repro
    asks for its files with --bot-path. You can't remove a bot whose files an unfinished tournament needs.
    """
    if remove is not None:
        is_removed = _remove_bot(remove, is_confirmed)
        if is_removed or table_format == "json":
            print_done(table_format == "json", {"bot": remove, "is_removed": is_removed}, f"{remove} is removed.")
        return
    with open_home() as arena_home:
        bots, owners = arena_home.store.submitted_bots(), arena_home.store.owners()
    rows = [
        bot._asdict() | {"content": bot.digest, "author": owners.owner(bot.label, bot.digest) or ""} for bot in bots
    ]
    if table_format != "json":
        rows = [row | {"submitted_at": minute_text(row["submitted_at"])} for row in rows]
    columns = [*BOT_COLUMNS, AUTHOR] if owners.by_bot else BOT_COLUMNS
    print_table(columns, rows, table_format, empty="No bot has been submitted yet: arena submit PATH")


def _remove_bot(label: str, is_confirmed: bool) -> bool:
    with open_home(must_exist=True) as arena_home:
        bot = arena_home.bots.removable(label)
        if not confirm(f"Remove bot {bot.label!r} and its files?", is_confirmed):
            return False
        arena_home.bots.remove(label)
        return True


SHOWN_RIVALS = 5

NO_HISTORY = "No match counts for its rating: those in comparisons do with --comparisons."
NOT_LISTED = "It has no line in any table or leaderboard; see its corrections below."

HISTORY_COLUMNS = [
    Column("game", "game", is_number=False),
    Column("tournament", "after", is_number=False),
    Column("at", "begun", is_number=False, drop_order=6),
    Column("rank", "rank", is_number=False, drop_order=1),
    Column("mu", "mu", 2, drop_order=3),
    Column("margin_95", "± 95 %", 2, drop_order=3),
    Column("exposure", "exposure", 2, drop_order=2),
    Column("matches", "matches", drop_order=5),
    Column("score_percent", "score %", 1, drop_order=4),
]
RIVAL_COLUMNS = [
    Column("rival", "rival", is_number=False),
    Column("score_percent", "score %", 1, drop_order=1),
    Column("margin_percent", "± 95 %", 1, drop_order=2),
    Column("encounters", "encounters", drop_order=3),
]
FAULT_COLUMNS = [
    Column("kind", "kind", is_number=False),
    Column("tournament", "tournament", is_number=False, drop_order=3),
    Column("match", "match", drop_order=3),
    Column("game", "game", is_number=False, drop_order=2),
    Column("repro", "see it again", is_number=False, drop_order=1),
]


@click.command("show")
@click.argument("bot")
@comparisons_option
@json_option
@wide_option
def show_command(bot: str, comparisons: bool, as_json: bool) -> None:
    """Show the profile of BOT, a name (all its versions) or name@version.

    Its rating after each tournament it took part in, game by game; the rivals it does best and worst against; its
    latest faults, each with the command that reproduces it. Comparisons count for ratings and rivals on request, and
    for faults always.
    """
    from arena.analysis.measures.bot_profile import bot_profile, known_bots
    from arena.base.names import find_labels
    from arena.store.results.scope import Scope

    with open_home(must_exist=True) as arena_home:
        known = known_bots(arena_home.store.tournaments())
        try:
            labels = find_labels(bot, known)
        except UnknownNameError:
            find_labels(bot, [*known, *arena_home.bots.labels()])
            raise UsageError(f"bot {bot!r}: it has not been in a tournament yet") from None
        scope, directory = Scope(comparisons=comparisons), arena_home.cache_directory
        profiles = [bot_profile(arena_home.store, label, scope, cache_directory=directory) for label in labels]
    if as_json:
        print_json([_as_json(profile) for profile in profiles])
        return
    click.echo("\n\n".join(_as_text(profile) for profile in profiles))


def _history_rows(profile: BotProfile) -> list[dict[str, Any]]:
    return [
        row_of(HISTORY_COLUMNS, point, at=minute_text(point.at), rank=f"{point.rank} of {point.bots}")
        for point in profile.history
    ]


def _json_of(point: RatingPoint) -> dict[str, Any]:
    return {name: value for name, value in asdict(point).items() if name not in ("bot", "round")}


def _fault_rows(profile: BotProfile) -> list[dict[str, Any]]:
    return [
        row_of(FAULT_COLUMNS, fault, repro=f"arena bot repro {fault.tournament}/{fault.match}")
        for fault in profile.faults
    ]


def _as_json(profile: BotProfile) -> dict[str, Any]:
    return {
        "bot": profile.label,
        "course": list(map(_json_of, profile.history)),
        "rivals": [row_of(RIVAL_COLUMNS, rival) for rival in profile.rivals],
        "faults": _fault_rows(profile),
        "fault_count": profile.fault_count,
        "own_times": [{"tournament": tournament, **asdict(own)} for tournament, own in profile.own_times],
    }


def _as_text(profile: BotProfile) -> str:
    without_history = NOT_LISTED if profile.corrections else NO_HISTORY
    history = table_text(HISTORY_COLUMNS, _history_rows(profile)) if profile.history else without_history
    parts = [printable(profile.label), history]
    for tournament, own in profile.own_times:
        parts.append(sentences_text(printable(f"Its own time in {tournament}: {own.shown}.")))
    rivals = [row_of(RIVAL_COLUMNS, rival) for rival in profile.rivals]
    if len(rivals) > 2 * SHOWN_RIVALS:
        parts.append("Does best against\n\n" + table_text(RIVAL_COLUMNS, rivals[:SHOWN_RIVALS]))
        parts.append("Does worst against\n\n" + table_text(RIVAL_COLUMNS, rivals[: -SHOWN_RIVALS - 1 : -1]))
    elif rivals:
        parts.append(sentences_text("Against its rivals, the best first") + "\n\n" + table_text(RIVAL_COLUMNS, rivals))
    if profile.faults:
        title = f"Faults: {profile.fault_count}, the latest first"
        parts.append(f"{title}\n\n{table_text(FAULT_COLUMNS, _fault_rows(profile))}")
    else:
        parts.append("No faults.")
    parts += [
        sentences_text(printable(f"Correction {c.number} of {tournament}: {correction_text(c)}. Reason: {c.reason}"))
        for tournament, c in profile.corrections
    ]
    return "\n\n".join(parts)
