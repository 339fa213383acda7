"""``arena tune``: better parameters for a bot, and whether they are."""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.analysis.text.tables import printable
from arena.base.errors import UsageError
from arena.base.text import counted
from arena.cli.terminal.common import (
    check_directories,
    find_bots,
    open_home,
    print_json,
    print_wrapped,
    split_arguments,
    warn_of_given_up,
    warn_of_weak_isolation,
    write_file,
)
from arena.cli.terminal.conditions import conditions
from arena.cli.terminal.options import A_PATH, WholeNumber, json_option, quiet_option
from arena.cli.terminal.streams import INTERRUPTED
from arena.cli.tournaments.compare_command import check_programs, experiment_options, played, report_stopped
from arena.match.players.program_file import unmentioned

if TYPE_CHECKING:
    from arena.base.definition import Definition
    from arena.base.records import Bot
    from arena.store.home import ArenaHome
    from arena.tournament.tuning import Play, TuningPlan, TuningResult, TuningRound, Values


NOTHING_CHANGED = "Each variant scored one half, as if nothing had changed: does the bot take these arguments?"


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
    return ", ".join(f"{parameter.name} = {value}" for parameter, value in pairs)


def show_tuning(name: str, result: TuningResult) -> None:
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
    test = result.test
    names = [parameter.name for parameter in result.plan.parameters]
    return {
        "name": name,
        "start": dict(zip(names, result.plan.start, strict=True)),
        "result": dict(zip(names, result.values, strict=True)),
        "verdict": str(result.verdict),
        "effective": result.effective,
        "test": None if test is None else asdict(test),
        "trials": [
            {"round": trial.round, "values": dict(zip(names, trial.values, strict=True)), "score": trial.score}
            for trial in result.trials
        ],
    }


BETTER, WORSE, OPEN = 0, 1, 3


@click.command("tune")
@click.argument("bot")
@experiment_options
@click.option(
    "--param",
    "params",
    multiple=True,
    required=True,
    metavar="NAME=LOW..HIGH[@START]",
    help="A parameter: whole numbers unless there is a decimal point; repeatable.",
)
@click.option("--args", default="", help="Arguments added to its command.")
@click.option(
    "--encounters",
    type=WholeNumber(1, 1_000_000),
    default=200,
    show_default=True,
    help="Encounters in all rounds together.",
)
@click.option("--rounds", type=WholeNumber(1, 100), default=4, show_default=True, help="How often to draw new values.")
@click.option(
    "--test-encounters",
    type=WholeNumber(8, 1_000_000),
    default=100,
    show_default=True,
    help="Fresh encounters of the result with the start.",
)
@click.option("--plot", "plot_path", type=A_PATH, help="Draw the result into a .svg or .png file.")
@quiet_option
@json_option
def tune_command(
    bot: str,
    game: str | None,
    options: tuple[str, ...],
    like: str | None,
    executor: str | None,
    name: str | None,
    rng_seed: int,
    params: tuple[str, ...],
    args: str,
    encounters: int,
    rounds: int,
    test_encounters: int,
    plot_path: Path | None,
    quiet: bool,
    as_json: bool,
    **_conditions: Any,
) -> int:
    """Look for the values of parameters with which BOT plays best, and say whether they are better than the start.

    \b
    arena tune arena:mcts --game differences -o size=6 \\
        --param rollouts=5..100@10

    Variants of BOT play encounters against BOT with the values it starts with (the middle of each range, unless @START
    says otherwise), in rounds: in each, values are drawn where the results so far are best (CLOP). The result then
    meets the start in fresh encounters; a 95 % interval of these says whether it is better, worse, or not
    distinguishable from the start. Ranges of positive numbers that span a factor of ten are searched by factors.

    The arguments of BOT are "--NAME {NAME}" for each parameter, unless --args says otherwise: "-c {c} --depth={depth}".

    Each round is a tournament, "NAME 1", "NAME 2", … and "NAME test". The same command resumes where it stopped.

    Exit codes: 0 better, 1 worse, 3 not distinguishable from the start; 2 wrong use, 130 interrupted.
    """
    from arena.tournament.experiments import base_definition, tested_values
    from arena.tournament.tuning import TuningPlan, TuningVerdict, check_parameters, default_args, parse_parameter, tune

    parameters = tuple(map(parse_parameter, params))
    template = default_args(parameters) if not args else split_arguments(args)
    check_parameters(parameters, template)
    check_programs((bot,), "tuning")
    if plot_path is not None and plot_path.suffix not in (".png", ".svg"):
        raise UsageError(f"--plot {str(plot_path)!r}: expected a name that ends in .png or .svg")
    check_directories(plot_path)
    plan = TuningPlan(
        parameters=parameters,
        encounters=encounters,
        rounds=rounds,
        test_encounters=test_encounters,
        rng_seed=rng_seed,
    )
    found = find_bots([bot])[0]
    for unknown in unmentioned(found, [] if args else [parameter.name for parameter in parameters]):
        notice = f"the program of {found.name} does not mention {unknown!r}; a bot may ignore an argument unknown to it"
        click.echo(printable(f"arena: {notice}"), err=True)
    rounds_of = _Rounds(found, template, plan, quiet or as_json, executor)
    base = base_definition(rounds_of.variant(plan.start), conditions(like, game, options), name=name)
    warn_of_weak_isolation(base.isolation)
    with open_home() as arena_home:
        try:
            tested = tested_values(arena_home.store, base, len(parameters))
            result = tune(plan, rounds_of.player(arena_home, base), tested)
        except KeyboardInterrupt:
            report_stopped()
            return INTERRUPTED
    if plot_path is not None:
        from arena.analysis.text.plots import rendered
        from arena.analysis.text.tournament_plots import tuning_plot

        write_file(plot_path, rendered(tuning_plot(base.name, result), plot_path.suffix[1:]))
    if as_json:
        print_json(tuning_json(base.name, result))
    else:
        show_tuning(base.name, result)
    return {TuningVerdict.BETTER: BETTER, TuningVerdict.WORSE: WORSE}.get(result.verdict, OPEN)


@dataclass(frozen=True, slots=True)
class _Rounds:
    bot: Bot
    template: list[str]
    plan: TuningPlan
    is_quiet: bool
    executor: str | None

    def variant(self, values: Values) -> Bot:
        from arena.tournament.tuning import filled_args

        names = [parameter.name for parameter in self.plan.parameters]
        filled = filled_args(self.template, dict(zip(names, values, strict=True)))
        return replace(self.bot, command=(*self.bot.command, *filled))

    def player(self, arena_home: ArenaHome, base: Definition) -> Play:
        from arena.tournament.experiments import START, check_start, named_variant, scores_of, trials_definition

        def play(upcoming: TuningRound) -> list[list[float]]:
            start = named_variant(self.variant(self.plan.start), (START,))
            bots = [named_variant(self.variant(values), values) for values in upcoming.variants]
            drawn = list(upcoming.variants.values())
            definition = trials_definition(
                base, upcoming.number, self.plan.rounds, [start, *bots], upcoming.encounters_each, drawn
            )
            number, rounds = upcoming.number, self.plan.rounds
            label = "test" if number > rounds else f"round {number} of {rounds}"
            notes = round_notes(self.plan, upcoming)
            progress = played(definition, arena_home, self.is_quiet, self.executor, label, notes)
            stored = arena_home.store.tournament(definition.name)
            if stored.recorded < stored.scheduled:
                warn_of_given_up(progress)
                missing = counted(stored.scheduled - stored.recorded, "match")
                raise UsageError(
                    f"tournament {definition.name!r}: {missing} without a result, and the next round depends on all;"
                    " the same command tries again"
                )
            check_start(arena_home.store.records(definition.name), definition.name, start.label)
            results = [result for of_round in arena_home.store.results_by_round(stored) for result in of_round]
            return scores_of(results, bots)

        return play
