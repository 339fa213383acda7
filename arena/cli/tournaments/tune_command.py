"""``arena tune``: better parameters for a bot, and whether they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.base.errors import UsageError
from arena.base.text import counted
from arena.cli.terminal.common import (
    find_bots,
    open_home,
    print_json,
    split_arguments,
    warn_of_given_up,
    warn_of_weak_isolation,
)
from arena.cli.terminal.options import WholeNumber, json_option, quiet_option
from arena.cli.terminal.streams import INTERRUPTED
from arena.cli.tournaments.experiment import Experiment, check_programs, experiment_options, played, say_stopped
from arena.cli.tournaments.tuning_text import (
    check_plot,
    draw_tuning,
    round_label,
    round_notes,
    show_tuning,
    tuning_json,
)

if TYPE_CHECKING:
    from arena.base.definition import Definition
    from arena.base.records import Bot
    from arena.store.home import ArenaHome
    from arena.tournament.tuning import Play, TuningPlan, TuningRound, Values

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
    "--encounters", type=WholeNumber(1, 1_000_000), default=200, show_default=True, help="To play in all rounds."
)
@click.option("--rounds", type=WholeNumber(1, 100), default=4, show_default=True, help="How often to draw new values.")
@click.option(
    "--test-encounters",
    type=WholeNumber(8, 1_000_000),
    default=100,
    show_default=True,
    help="Fresh encounters of the result with the start.",
)
@click.option("--plot", "plot_path", type=click.Path(path_type=Path), help="Draw it into a .svg or .png file.")
@quiet_option
@json_option
def command(
    bot: str,
    experiment: Experiment,
    params: tuple[str, ...],
    args: str,
    encounters: int,
    rounds: int,
    test_encounters: int,
    plot_path: Path | None,
    quiet: bool,
    as_json: bool,
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
    from arena.tournament.tuning import TuningPlan, TuningVerdict, tune
    from arena.tournament.tuning_parameter import check_parameters, default_args, parse_parameter

    parameters = tuple(map(parse_parameter, params))
    template = default_args(parameters) if not args else split_arguments(args)
    check_parameters(parameters, template)
    check_programs((bot,), "tuning")
    check_plot(plot_path)
    plan = TuningPlan(
        parameters=parameters,
        encounters=encounters,
        rounds=rounds,
        test_encounters=test_encounters,
        rng_seed=experiment.rng_seed,
    )
    rounds_of = _Rounds(find_bots([bot])[0], template, plan, quiet or as_json)
    base = rounds_of.base(experiment)
    warn_of_weak_isolation(base.isolation)
    with open_home() as arena_home:
        try:
            result = tune(plan, rounds_of.player(arena_home, base))
        except KeyboardInterrupt:
            say_stopped()
            return INTERRUPTED
    if plot_path is not None:
        draw_tuning(plot_path, base.name, result)
    if as_json:
        print_json(tuning_json(base.name, result))
    else:
        show_tuning(base.name, result)
    return {TuningVerdict.BETTER: BETTER, TuningVerdict.WORSE: WORSE}.get(result.verdict, OPEN)


@dataclass(frozen=True, slots=True)
class _Rounds:
    """Plays the rounds of a tuning as tournaments.

    Attributes:
        bot: without the arguments that are tuned.
        template: these, with braces.
        plan: what is tuned.
        is_quiet: whether to show no progress.
    """

    bot: Bot
    template: list[str]
    plan: TuningPlan
    is_quiet: bool

    def variant(self, values: Values) -> Bot:
        """Return the bot with values in its arguments."""
        from arena.tournament.tuning_parameter import filled_args

        names = [one.name for one in self.plan.parameters]
        filled = filled_args(self.template, dict(zip(names, values, strict=True)))
        return replace(self.bot, command=(*self.bot.command, *filled))

    def base(self, experiment: Experiment) -> Definition:
        """Return what the tournaments of all rounds have in common, checked."""
        from arena.tournament.tuning_rounds import base_definition

        return base_definition(
            self.variant(self.plan.start),
            experiment.game,
            experiment.game_options,
            name=experiment.name,
            opening_plies=experiment.opening_plies,
            ply_limit=experiment.ply_limit,
            time_control=experiment.time_control,
            rng_seed=experiment.rng_seed,
            workers=experiment.workers,
        )

    def player(self, arena_home: ArenaHome, base: Definition) -> Play:
        """Return what plays a round, or finds it in the home."""
        from arena.tournament.tuning_rounds import START, check_start, named_variant, scores_of, trials_definition

        def play(upcoming: TuningRound) -> list[list[float]]:
            start = named_variant(self.variant(self.plan.start), (START,))
            bots = [named_variant(self.variant(values), values) for values in upcoming.variants]
            drawn = list(upcoming.variants.values())
            definition = trials_definition(
                base, upcoming.number, self.plan.rounds, [start, *bots], upcoming.encounters_each, drawn
            )
            label, notes = round_label(self.plan, upcoming), round_notes(self.plan, upcoming)
            progress = played(definition, arena_home, self.is_quiet, label, notes)
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
