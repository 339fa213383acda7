"""What ``arena tune`` has found: as text, as JSON and as a plot."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.analysis.text.tables import printable
from arena.base.errors import UsageError
from arena.base.text import counted
from arena.cli.terminal.common import print_wrapped
from arena.cli.terminal.output_file import check_directories

if TYPE_CHECKING:
    from arena.tournament.tuning import TuningPlan, TuningResult, TuningRound, Values


NOTHING_CHANGED = "Each variant scored one half, as if nothing had changed: does the bot take these arguments?"


def check_plot(path: Path | None) -> None:
    """Raise UsageError for a file that no plot can be written to."""
    if path is not None and path.suffix not in (".png", ".svg"):
        raise UsageError(f"--plot {str(path)!r}: expected a name that ends in .png or .svg")
    check_directories(path)


def round_label(plan: TuningPlan, upcoming: TuningRound) -> str:
    """Return which round is played."""
    return "test" if upcoming.number > plan.rounds else f"round {upcoming.number} of {plan.rounds}"


def round_notes(plan: TuningPlan, upcoming: TuningRound) -> tuple[str, ...]:
    """Return what is known while a round is played: its encounters, those before it, and the estimate from these."""
    encounters = upcoming.encounters_each * sum(upcoming.variants.values())
    before = counted(upcoming.trials_before, "encounter")
    if upcoming.number > plan.rounds:
        values = _setting(plan, upcoming.estimate or plan.start)
        return (f"{counted(encounters, 'fresh encounter')} of the start with the result, {values}",)
    kinds = counted(len(upcoming.variants), "variant")
    note = f"{counted(encounters, 'encounter')} of the start with {kinds}, after {before} in earlier rounds"
    if upcoming.estimate is None:
        return (note, "no estimate yet")
    return (note, f"estimate from earlier rounds: {_setting(plan, upcoming.estimate)}")


def _setting(plan: TuningPlan, values: Values) -> str:
    pairs = zip(plan.parameters, values, strict=True)
    return ", ".join(f"{one.name} = {value}" for one, value in pairs)


def show_tuning(name: str, result: TuningResult) -> None:
    """Print what was found, on how many encounters it rests, and whether it is better than the start."""
    plan = result.plan
    print_wrapped("start   ", 8, _setting(plan, plan.start))
    print_wrapped("result  ", 8, _setting(plan, result.values))
    trials, rounds = counted(len(result.trials), "encounter"), counted(plan.rounds, "round")
    print_wrapped("trials  ", 8, f"{trials} in {rounds}, which count as {result.effective:.0f}: poor values weigh less")
    if result.trials and all(trial.score == 0.5 for trial in result.trials):
        print_wrapped("", 0, NOTHING_CHANGED)
    if result.test is None:
        conclusion = "Not distinguishable from the start: it is the start."
        if result.values != plan.start:
            conclusion = "Not distinguishable from the start: too few encounters of the test differ."
        print_wrapped("", 0, conclusion)
        return
    test = result.test
    interval = f"[{100 * test.low:.1f}, {100 * test.high:.1f}] at 95 %"
    encounters = counted(test.encounters, "fresh encounter")
    print_wrapped("test    ", 8, f"{encounters}: {100 * test.score:.1f} % of the points {interval}")
    conclusion = {
        "better": "The result is better than the start.",
        "worse": "The result is worse than the start.",
    }.get(test.verdict, "The result is not distinguishable from the start.")
    print_wrapped("", 0, conclusion)
    click.echo(f"The matches of the test: arena matches {printable(shlex.quote(f'{name} test'))}")


def tuning_json(name: str, result: TuningResult) -> dict[str, Any]:
    """Return the object of ``--json``."""
    test = result.test
    names = [one.name for one in result.plan.parameters]
    return {
        "name": name,
        "start": dict(zip(names, result.plan.start, strict=True)),
        "result": dict(zip(names, result.values, strict=True)),
        "verdict": str(result.verdict),
        "effective": result.effective,
        "test": None
        if test is None
        else {"encounters": test.encounters, "score": test.score, "low": test.low, "high": test.high},
        "trials": [
            {"round": one.round, "values": dict(zip(names, one.values, strict=True)), "score": one.score}
            for one in result.trials
        ],
    }


def draw_tuning(path: Path, name: str, result: TuningResult) -> None:
    """Write the plot; UsageError if it can't be written."""
    from arena.analysis.text.plots import rendered
    from arena.analysis.text.tuning_plot import tuning_plot

    data = rendered(tuning_plot(name, result), path.suffix[1:])
    try:
        path.write_bytes(data)
    except OSError as error:
        raise UsageError(f"--plot {str(path)!r}: can't be written: {error.strerror}") from error
