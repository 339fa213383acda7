"""An experiment with bots: what ``arena compare`` and ``arena tune`` have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from arena.base.errors import UsageError
from arena.cli.terminal.options import (
    WholeNumber,
    name_option,
    options_option,
    ply_limit_option,
    rng_seed_option,
    seconds_option,
    workers_option,
)

if TYPE_CHECKING:
    from arena.base.definition import Definition
    from arena.base.records import TimeControl
    from arena.store.home import ArenaHome
    from arena.tournament.progress import Progress

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """What is played, and how, as the command line says it.

    Attributes:
        game: its name.
        options: of the game, as NAME=VALUE.
        opening_plies: random actions before the bots take over.
        seconds: the time limit of each action.
        ply_limit: after which a match ends.
        rng_seed: that determines all randomness.
        workers: matches at a time; None for one on each core.
        name: of the tournament; None for one made from the bots' names.
    """

    game: str
    options: tuple[str, ...]
    opening_plies: int
    seconds: float
    ply_limit: int
    rng_seed: int
    workers: int | None
    name: str | None

    @property
    def game_options(self) -> dict[str, Any]:
        """The options by name; UsageError for what is not one."""
        from arena.games import parse_options

        return parse_options(self.game, self.options)

    @property
    def time_control(self) -> TimeControl:
        """The time limit of each action."""
        from arena.base.records import TimeControl

        return TimeControl(per_action_seconds=self.seconds)


def experiment_options(function: Function) -> Function:
    """Add the options of an experiment; the command gets ``experiment``."""

    @click.option("--game", required=True, metavar="GAME", help="The game they play.")
    @options_option
    @click.option(
        "--opening-plies", type=WholeNumber(0, 1000), default=2, show_default=True, help="Random actions first."
    )
    @seconds_option
    @ply_limit_option
    @rng_seed_option
    @workers_option
    @name_option("made from the bots' names")
    @wraps(function)
    def with_experiment(*arguments: Any, **given: Any) -> Any:
        experiment = Experiment(**{field: given.pop(field) for field in Experiment.__dataclass_fields__})
        return function(*arguments, experiment=experiment, **given)

    return cast(Function, with_experiment)


def check_programs(bots: tuple[str, ...], use: str) -> None:
    """Raise UsageError if a person is among the bots: an experiment takes hundreds of matches."""
    if "human" in bots:
        raise UsageError(f"bot 'human': {use} takes hundreds of matches; expected a program")


def played(
    definition: Definition, arena_home: ArenaHome, quiet: bool, label: str = "", notes: Sequence[str] = ()
) -> Progress:
    """Play a tournament, or the rest of it, and show its progress; Ctrl-C raises KeyboardInterrupt.

    Args:
        definition: of the tournament.
        arena_home: where it is.
        quiet: whether to show nothing.
        label: what is being played; by default the tournament's name.
        notes: what is known of it, to be shown in place of a table of ratings.
    """
    from arena.cli.terminal.progress import make_progress
    from arena.tournament.director import run_tournament

    display = make_progress(definition, quiet, label, notes)
    with display:
        return run_tournament(
            definition, arena_home.store, log_path=arena_home.log_path(definition.name), listener=display.update
        )


def say_stopped() -> None:
    """Say how to go on after Ctrl-C."""
    click.echo("Stopped. The same command resumes where it stopped.", err=True)
