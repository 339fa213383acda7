"""``arena extend``: let a finished tournament play on."""

from __future__ import annotations

import click

from arena.base.errors import UsageError
from arena.cli.terminal.common import open_home
from arena.cli.terminal.options import MAX_COUNT, WholeNumber, format_options, quiet_option, workers_option
from arena.cli.tournaments.run_command import (
    RunOptions,
    executor_option,
    play_and_show,
    until_from_options,
    until_options,
)


@click.command("extend")
@click.argument("tournament")
@click.option("--encounters", type=WholeNumber(1, 1_000_000), help="How many encounters each pairing has in the end.")
@click.option("--matches", type=WholeNumber(1, MAX_COUNT), help="How many matches there are in the end, at least.")
@until_options
@workers_option
@executor_option
@quiet_option
@format_options
def extend_command(
    tournament: str,
    encounters: int | None,
    matches: int | None,
    until_decided: bool,
    until: tuple[str, ...],
    workers: int | None,
    executor: str | None,
    quiet: bool,
    table_format: str,
) -> int:
    """Let TOURNAMENT play on, a round robin or a gauntlet that is finished.

    Each pairing plays the openings that follow those it has played; everything that is recorded stays as it is. With
    --until-decided, encounters are played where it is open which of two bots is better, and the tournament ends once
    that is decided, or certain to make no difference. After Ctrl-C or a crash, the same command resumes.
    """
    from arena.tournament.extension import extended

    if until and not until_decided:
        raise UsageError(f"--until {until[0]}: expected --until-decided with it")
    given = {"--encounters": encounters, "--matches": matches, "--until-decided": until_decided or None}
    ways = [name for name, value in given.items() if value is not None]
    if len(ways) != 1:
        named = f"{' and '.join(ways)}: " if ways else ""
        raise UsageError(f"{named}expected one of --encounters, --matches and --until-decided")
    with open_home(must_exist=True) as arena_home:
        before = arena_home.store.tournament(tournament).definition.until
        until_now = until_from_options(before, until_decided, until)
        definition = extended(
            arena_home.store,
            tournament,
            encounters=encounters,
            matches=matches,
            until=until_now if until_decided else None,
        )
        return play_and_show(
            arena_home, definition, RunOptions(executor or "local", workers, None, quiet, False, table_format), None
        )
