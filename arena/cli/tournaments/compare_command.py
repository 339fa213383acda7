"""``arena compare``: whether a new version is better, and what ``arena tune`` shares with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from math import isfinite
from typing import TYPE_CHECKING, Any, TypeVar

import click

from arena.analysis.text.standings_columns import percent_text
from arena.analysis.text.tables import printable
from arena.base.enums import Decision
from arena.base.errors import UsageError
from arena.base.folder import path_to_write
from arena.base.text import counted
from arena.cli.terminal.common import find_bots, open_home, print_json, warn_of_given_up, warn_of_weak_isolation
from arena.cli.terminal.conditions import conditions, like_option
from arena.cli.terminal.options import (
    Number,
    RenamedOption,
    WholeNumber,
    json_option,
    name_option,
    options_option,
    ply_limit_option,
    quiet_option,
    rng_seed_option,
    seconds_option,
    workers_option,
)
from arena.cli.terminal.streams import INTERRUPTED
from arena.cli.tournaments.run_command import executor_option

if TYPE_CHECKING:
    from arena.base.definition import Definition
    from arena.store.home import ArenaHome
    from arena.tournament.experiments import ComparisonResult
    from arena.tournament.progress import Progress


Function = TypeVar("Function", bound=Callable[..., Any])


EXPERIMENT_OPTIONS = (
    click.option("--game", metavar="GAME", help="The game they play [default: those of --like]."),
    options_option,
    like_option,
    click.option(
        "--opening-plies", type=WholeNumber(0, 1000), default=2, show_default=True, help="Random actions at the start."
    ),
    seconds_option,
    ply_limit_option,
    rng_seed_option,
    workers_option,
    executor_option,
    name_option("made from the bots' names"),
)


def experiment_options(function: Function) -> Function:
    """Add the options of an experiment; ``conditions`` reads those that the command does not take itself."""
    for option in reversed(EXPERIMENT_OPTIONS):
        function = option(function)
    return function


def check_programs(bots: tuple[str, ...], use: str) -> None:
    """Raise UsageError if a person is among the bots: an experiment takes hundreds of matches."""
    if "human" in bots:
        raise UsageError(f"bot 'human': {use} takes hundreds of matches; expected a program")


def played(
    definition: Definition,
    arena_home: ArenaHome,
    quiet: bool,
    executor: str | None,
    label: str = "",
    notes: Sequence[str] = (),
) -> Progress:
    """Play a tournament, or the rest of it, and show its progress; Ctrl-C raises KeyboardInterrupt."""
    from arena.cli.terminal.progress import make_progress
    from arena.tournament.director import run_tournament

    display = make_progress(definition, quiet, label, notes)
    with display:
        return run_tournament(
            definition,
            arena_home.store,
            log_path=path_to_write(arena_home.directory, arena_home.log_path(definition.name)),
            listener=display.update,
            executor=executor,
        )


def report_stopped() -> None:
    click.echo("Stopped. The same command resumes where it stopped.", err=True)


ELO = Number(-2000, 2000)
ERROR_RATE = Number(0, 0.5)
"""Bounds that a line of help can show; ``SequentialTest`` also rejects the two bounds of an error rate."""

ACCEPTED, REJECTED, UNDECIDED = 0, 1, 3
CODES = {Decision.ACCEPTED: ACCEPTED, Decision.REJECTED: REJECTED, Decision.OPEN: UNDECIDED}


@click.command("compare")
@click.argument("new")
@click.argument("old")
@experiment_options
@click.option(
    "--elo0", type=ELO, default=0.0, show_default=True, help="Rejected if NEW is at most this many Elo better."
)
@click.option(
    "--elo1", type=ELO, default=10.0, show_default=True, help="Accepted if NEW is at least this many Elo better."
)
@click.option("--alpha", type=ERROR_RATE, default=0.05, show_default=True, help="Probability of accepting NEW wrongly.")
@click.option("--beta", type=ERROR_RATE, default=0.05, show_default=True, help="Probability of rejecting NEW wrongly.")
@click.option(
    "--max-encounters",
    cls=RenamedOption,
    earlier="--limit",
    type=WholeNumber(1, 10_000_000),
    default=10_000,
    show_default=True,
    help="Encounters to play at most; there is no verdict before the 8th.",
)
@click.option("--new-args", default="", help="Arguments for NEW, quoted as one.")
@click.option("--old-args", default="", help="Arguments for OLD, quoted as one.")
@quiet_option
@json_option
def compare_command(
    new: str,
    old: str,
    game: str | None,
    options: tuple[str, ...],
    like: str | None,
    executor: str | None,
    name: str | None,
    elo0: float,
    elo1: float,
    alpha: float,
    beta: float,
    max_encounters: int,
    new_args: str,
    old_args: str,
    quiet: bool,
    as_json: bool,
    **_conditions: Any,
) -> int:
    """Play NEW against OLD until a sequential test decides whether NEW is better.

    Its unit is the encounter: one opening played in all seat rotations. It stops when the log-likelihood ratio leaves
    its bounds. The same command resumes where it stopped.

    Exit codes: 0 NEW is accepted, 1 it is rejected, 3 undecided after --max-encounters; 2 wrong use, 130 interrupted.
    """
    from arena.ratings.sequential import Hypotheses
    from arena.tournament.experiments import comparison_definition, comparison_result

    hypotheses = Hypotheses(elo0, elo1, alpha, beta)
    check_programs((new, old), "a comparison")
    new_bot, old_bot = (find_bots([text], args)[0] for text, args in ((new, new_args), (old, old_args)))
    chosen = conditions(like, game, options)
    definition = comparison_definition(new_bot, old_bot, chosen, hypotheses, name=name, limit=max_encounters)
    warn_of_weak_isolation(definition.isolation)
    with open_home() as arena_home:
        try:
            progress = played(definition, arena_home, quiet, executor)
        except KeyboardInterrupt:
            report_stopped()
            return INTERRUPTED
        result = comparison_result(arena_home.store, arena_home.store.tournament(definition.name))
    names = tuple(definition.shown_names.values())
    if as_json:
        print_json(_as_json(result, names))
    else:
        click.echo(_as_text(result, names))
    warn_of_given_up(progress)
    return CODES[result.verdict.decision]


def _as_text(result: ComparisonResult, names: tuple[str, ...]) -> str:
    from arena.ratings.sequential import MIN_ENCOUNTERS

    evidence, hypotheses = result.verdict.evidence, result.hypotheses
    low, high = hypotheses.bounds
    elo0, elo1 = f"Elo {hypotheses.elo0:g}", f"Elo {hypotheses.elo1:g}"
    elo, low_elo, high_elo = evidence.elo
    scores = ", ".join(f"{100 * score:g} %: {count}" for score, count in sorted(result.verdict.scores.items()))
    new, old = map(printable, names)
    missing = ""
    if evidence.encounters < MIN_ENCOUNTERS:
        missing = f"; a verdict takes {MIN_ENCOUNTERS} encounters that differ, and there were {evidence.encounters}"
    conclusions = {
        "accepted": f"accepted: {new} is better than {old} ({elo1} rather than {hypotheses.elo0:g})",
        "rejected": f"rejected: {new} is not better than {old} ({elo0} rather than {hypotheses.elo1:g})",
        "open": f"undecided: the limit of encounters was reached first{missing}",
    }
    lines = [
        f"{new} against {old}: {counted(evidence.encounters, 'encounter')} of {result.players} matches, "
        f"{100 * evidence.score:.1f} % of the points",
        f"scores  {scores or 'none'}",
        f"Elo     {elo:+z.1f} [{low_elo:+z.1f}, {high_elo:+z.1f}] at 95 %",
        f"LOS     {percent_text(evidence.los)}",
        f"LLR     {evidence.llr:z.2f} in ({low:.2f}, {high:.2f}); Elo {hypotheses.elo0:g} against {hypotheses.elo1:g},"
        f" alpha {hypotheses.alpha:g}, beta {hypotheses.beta:g}",
    ]
    lines.append(f"faults  {new}: {_faults_text(result.faults[0])}; {old}: {_faults_text(result.faults[1])}")
    if result.duplicate_encounters:
        lines.append(
            f"{counted(result.duplicate_encounters, 'more encounter')} only repeated earlier ones and did not count:"
            " both bots always play the same, and the openings have run out; try more --opening-plies"
        )
    return "\n".join([*lines, conclusions[result.verdict.decision]])


def _faults_text(faults: Mapping[str, int]) -> str:
    kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(faults.items()))
    return f"{sum(faults.values()):,} ({kinds})" if kinds else "none"


def _as_json(result: ComparisonResult, names: tuple[str, ...]) -> dict[str, Any]:
    evidence, hypotheses = result.verdict.evidence, result.hypotheses
    elo, low_elo, high_elo = (value if isfinite(value) else None for value in evidence.elo)
    return {
        "new": names[0],
        "old": names[1],
        "decision": "undecided" if result.verdict.decision is Decision.OPEN else result.verdict.decision,
        "encounters": evidence.encounters,
        "repeats": result.duplicate_encounters,
        "faults": {"new": dict(result.faults[0]), "old": dict(result.faults[1])},
        "score": evidence.score,
        "elo": elo,
        "elo_95": [low_elo, high_elo],
        "los": evidence.los,
        "llr": evidence.llr,
        "bounds": list(hypotheses.bounds),
        **asdict(hypotheses),
        "scores": [{"score": score, "encounters": count} for score, count in sorted(result.verdict.scores.items())],
    }
