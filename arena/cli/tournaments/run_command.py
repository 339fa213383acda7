"""``arena run`` plays a tournament or resumes it, ``arena extend`` plays it on; ``arena quickstart``: the first one."""

from __future__ import annotations

import logging
import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.base.checked_files import check_model
from arena.base.errors import DefinitionError, UsageError
from arena.base.folder import path_to_write
from arena.base.shipped import tournament_path
from arena.base.text import counted
from arena.base.until import Until
from arena.cli.terminal.common import (
    load_standings,
    open_home,
    print_ranking,
    print_standings,
    print_wrapped,
    warn_of_given_up,
    warn_of_rejected,
    warn_of_weak_isolation,
)
from arena.cli.terminal.global_options import global_option
from arena.cli.terminal.options import (
    A_PATH,
    MAX_COUNT,
    WholeNumber,
    format_options,
    json_option,
    name_option,
    quiet_option,
    workers_option,
)
from arena.cli.terminal.streams import FAILED, INTERRUPTED, OK

if TYPE_CHECKING:
    from arena.base.definition import Definition
    from arena.store.home import ArenaHome
    from arena.tournament.run import Refresh


executor_option = click.option(
    "--executor", metavar="URL", help="Where to play matches: local, in-process or dask://HOST:PORT [default: local]."
)


def until_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of commands that play until something is decided."""
    command = click.option(
        "--until",
        multiple=True,
        metavar="KEY=VALUE",
        help='A key of [until] with --until-decided, such as "decided=top 3" or max_matches=5000; repeatable.',
    )(command)
    return click.option("--until-decided", is_flag=True, help="Play where the verdict is open, until it is decided.")(
        command
    )


def until_from_options(before: Until | None, until_decided: bool, keys: Sequence[str]) -> Until | None:
    """Return what is to be decided: the keys that are given, and the others as they are."""
    from arena.tournament.tournament_file import UntilTable

    if keys and not until_decided and before is None:
        raise UsageError(f"--until {keys[0]}: expected --until-decided with it")
    if not keys and not until_decided:
        return before
    values = {name: value for name, value in asdict(before or Until()).items() if value is not None}
    for key, _, value in (text.partition("=") for text in keys):
        values[key.strip()] = _parsed_value(value.strip())
    return Until(**check_model(UntilTable, values, "--until", DefinitionError).model_dump())


def _parsed_value(text: str) -> str | int | float:
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


@click.command("run")
@click.argument("file", type=A_PATH)
@workers_option
@executor_option
@click.option("--cluster", metavar="ADDRESS", help="Run on the Dask cluster with the scheduler at tcp://HOST:8786.")
@click.option("--local-cluster", type=WholeNumber(1, 1024), help="Run on a local Dask cluster with N processes.")
@name_option("that of the file")
@until_options
@quiet_option
@click.option("-v", "--verbose", is_flag=True, help="Show the log on stderr as well.")
@click.option("--log-file", type=A_PATH, help="Where to write the log.")
@format_options
def run_command(
    file: Path,
    workers: int | None,
    executor: str | None,
    cluster: str | None,
    local_cluster: int | None,
    name: str | None,
    until_decided: bool,
    until: tuple[str, ...],
    quiet: bool,
    verbose: bool,
    log_file: Path | None,
    table_format: str,
) -> int:
    """Play the tournament that FILE defines: a path, or an example such as arena:quickstart.

    Everything recorded stays: after Ctrl-C, a crash or a power cut, the same command resumes where it stopped, and
    once every match is played, it only shows the table. `--workers` and `--executor` may differ from run to run;
    results don't depend on them.
    """
    from arena.tournament.definition import load_definition, with_name

    executor_url = _executor_url(executor, cluster, local_cluster)
    with open_home() as arena_home:
        definition = load_definition(file, arena_home.bots)
        warn_of_rejected(definition)
        if name is not None:
            definition = with_name(definition, name, arena_home.bots)
        definition = replace(definition, until=until_from_options(definition.until, until_decided, until))
        return play_and_show(
            arena_home,
            definition,
            executor_url,
            workers,
            table_format,
            quiet=quiet,
            verbose=verbose,
            log_file=log_file,
            refresh=_WatchedFile(file, name, arena_home),
        )


def play_and_show(
    arena_home: ArenaHome,
    definition: Definition,
    executor_url: str,
    workers: int | None,
    table_format: str,
    *,
    quiet: bool,
    verbose: bool = False,
    log_file: Path | None = None,
    refresh: Refresh | None = None,
) -> int:
    """Play a tournament, show its table, and return the exit code."""
    from arena.cli.terminal.progress import make_progress
    from arena.tournament.director import run_tournament
    from arena.tournament.opening_information import has_openings_to_choose
    from arena.tournament.rounds import ranking_of

    if verbose:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(message)s"))
        logging.getLogger("arena").addHandler(handler)
    warn_of_weak_isolation(definition.isolation)
    stored = arena_home.store.find_tournament(definition.name)
    if has_openings_to_choose(definition) and stored is None and not quiet:
        click.echo("Choosing the openings that tell most about the bots; this may take a minute.", err=True)
    progress_display = make_progress(definition, quiet=quiet or verbose)
    if stored is not None:
        progress_display.count(arena_home.store.results(stored))
    try:
        with progress_display:
            progress = run_tournament(
                definition,
                arena_home.store,
                workers=workers,
                log_path=log_file or path_to_write(arena_home.directory, arena_home.log_path(definition.name)),
                listener=progress_display.update,
                executor=executor_url,
                refresh=refresh,
            )
    except KeyboardInterrupt:
        stored = arena_home.store.find_tournament(definition.name)
        recorded = f"{stored.recorded:,} of {counted(stored.scheduled, 'match')}" if stored is not None else "nothing"
        again = shlex.join(["arena", *sys.argv[1:]])
        click.echo(f"Stopped with {recorded} recorded. To resume: {again}", err=True)
        return INTERRUPTED
    stored = arena_home.store.tournament(definition.name)
    own = ranking_of(arena_home.store, stored)
    if own is not None and table_format == "text":
        print_ranking(own, stored.finished_at is not None, table_format)
        click.echo()
    print_standings(load_standings(arena_home, definition.name), table_format)
    warn_of_given_up(progress)
    return OK if progress.is_complete else FAILED


class _WatchedFile:
    def __init__(self, path: Path, name: str | None, home: ArenaHome) -> None:
        self._path, self._name, self._home = tournament_path(path), name, home
        self._modified_ns = self._modification_time()

    def _modification_time(self) -> int:
        try:
            return self._path.stat().st_mtime_ns
        except OSError:
            return self._modified_ns

    def __call__(self) -> Definition | None:
        from arena.match.players.building import build_bots
        from arena.sandbox.isolation.levels import choose_isolation
        from arena.tournament.definition import load_definition, with_name

        if self._modification_time() == self._modified_ns:
            return None
        self._modified_ns = self._modification_time()
        try:
            definition = load_definition(self._path, self._home.bots)
            build_bots(definition.entrants, choose_isolation(definition.isolation))
            return with_name(definition, self._name, self._home.bots) if self._name is not None else definition
        except UsageError as error:
            click.echo(f"arena: the changed file is rejected: {error}", err=True)
            return None


def _executor_url(executor: str | None, cluster: str | None, local_cluster: int | None) -> str:
    values = {"--executor": executor, "--cluster": cluster, "--local-cluster": local_cluster}
    options = [f"{name} {value}" for name, value in values.items() if value is not None]
    if len(options) > 1:
        raise UsageError(f"{' and '.join(options)}: expected one of them")
    if cluster is not None:
        return f"dask+{cluster}" if "://" in cluster else f"dask://{cluster}"
    if local_cluster is not None:
        return f"dask://local?processes={local_cluster}"
    return "local" if executor is None else executor


NEXT_STEPS = (
    ("arena replay quickstart/1", "step through a match"),
    ("arena play differences human arena:greedy", "play yourself"),
    ("arena new my_bot", "write the beginning of a bot in Python, or in another --language"),
    ("arena play differences my_bot arena:greedy", "watch it play"),
    ("arena check my_bot", "find out whether it keeps the protocol"),
    ("arena bot protocol", "read how the arena and a bot talk to each other"),
)


@click.command("quickstart")
@quiet_option
@json_option
@click.pass_context
def quickstart_command(context: click.Context, quiet: bool, as_json: bool) -> int:
    """Play the example tournament arena:quickstart, which takes less than a minute, and suggest next steps.

    Like `arena run arena:quickstart`, it resumes where it was stopped, and only shows the table when all is played.
    """
    code: int = context.invoke(run_command, file=Path("arena:quickstart"), quiet=quiet, as_json=as_json)
    if code == OK and not quiet and not as_json:
        steps = [*_activation(), *_next_steps()]
        width = max(len(step) for step, _ in steps)
        click.echo("\nWhat next:")
        for step, purpose in steps:
            print_wrapped(f"  {step:{width}}  ", width + 4, purpose)
    return code


def _activation() -> list[tuple[str, str]]:
    activate = Path(sys.prefix, "bin", "activate")
    if shutil.which("arena") is not None or not activate.exists():
        return []
    return [(f". {shlex.quote(str(activate))}", "let this shell find arena")]


def _next_steps() -> list[tuple[str, str]]:
    options = [(name, global_option(name)) for name in ("home", "store")]
    arena = " ".join(["arena", *(f"--{name} {shlex.quote(value)}" for name, value in options if value is not None)])
    return [(step.replace("arena", arena, 1) if "replay" in step else step, purpose) for step, purpose in NEXT_STEPS]


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
    --until-decided, pairs play on while it is open which of the two bots is better, and the tournament ends once that
    is decided, or certain to make no difference. After Ctrl-C or a crash, the same command resumes.
    """
    from arena.tournament.extension import extended

    if until and not until_decided:
        raise UsageError(f"--until {until[0]}: expected --until-decided with it")
    values = {"--encounters": encounters, "--matches": matches, "--until-decided": until_decided or None}
    ways = [name for name, value in values.items() if value is not None]
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
        return play_and_show(arena_home, definition, executor or "local", workers, table_format, quiet=quiet)
