"""What ``arena tune`` has found: as text, as JSON and as a plot."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.cli.common import print_wrapped
from arena.errors import UsageError
from arena.report.tables import printable
from arena.text import counted

if TYPE_CHECKING:
    from arena.tournament.tuning import TuningResult, Values


def _setting(result: TuningResult, values: Values) -> str:
    pairs = zip(result.plan.parameters, values, strict=True)
    return ", ".join(f"{one.name} = {value}" for one, value in pairs)


def show_tuning(name: str, result: TuningResult) -> None:
    plan = result.plan
    click.echo(f"start   {_setting(result, plan.start)}")
    click.echo(f"result  {_setting(result, result.values)}")
    click.echo(
        f"rests on {counted(len(result.trials), 'encounter')} of {plan.rounds} rounds, of which"
        f" {result.effective:.0f} are not confidently worse than the rest"
    )
    if result.test is None:
        conclusion = "Not distinguishable from the start: it is the start."
        if result.values != plan.start:
            conclusion = "Not distinguishable from the start: too few encounters of the test differ."
        print_wrapped("", 0, conclusion)
        return
    test = result.test
    click.echo(
        f"test    {counted(test.encounters, 'fresh encounter')}: {100 * test.score:.1f} % of the points"
        f" [{100 * test.low:.1f}, {100 * test.high:.1f}] at 95 %"
    )
    conclusion = {
        "better": "The result is better than the start.",
        "worse": "The result is worse than the start.",
    }.get(test.verdict, "The result is not distinguishable from the start.")
    print_wrapped("", 0, conclusion)
    click.echo(f"The matches of the test: arena matches {printable(shlex.quote(f'{name} test'))}")


def tuning_json(name: str, result: TuningResult) -> dict[str, Any]:
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
    from arena.report.plots import rendered
    from arena.report.tuning_plot import tuning_plot

    data = rendered(tuning_plot(name, result), path.suffix[1:])
    try:
        path.write_bytes(data)
    except OSError as error:
        raise UsageError(f"--plot {str(path)!r}: can't be written: {error.strerror}") from error
