"""``arena tune``: better parameters for a bot, and whether they are."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.cli.common import (
    find_bots,
    open_home,
    print_json,
    print_wrapped,
    split_arguments,
    warn_of_given_up,
    warn_of_weak_isolation,
)
from arena.cli.group import INTERRUPTED
from arena.cli.options import (
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
from arena.errors import UsageError
from arena.report.tables import printable
from arena.text import counted

if TYPE_CHECKING:
    from arena.definition import Definition
    from arena.home import ArenaHome
    from arena.records import Bot
    from arena.tournament.tuning import TuningPlan, TuningResult, Values

BETTER, WORSE, OPEN = 0, 1, 3


@click.command("tune")
@click.argument("bot")
@click.option("--game", required=True, metavar="GAME", help="The game they play.")
@options_option
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
@click.option("--opening-plies", type=WholeNumber(0, 1000), default=2, show_default=True, help="Random actions first.")
@seconds_option
@ply_limit_option
@rng_seed_option
@workers_option
@name_option("made from the bots' names")
@click.option("--plot", "plot_path", type=click.Path(path_type=Path), help="Draw it into a .svg or .png file.")
@quiet_option
@json_option
def command(
    bot: str,
    game: str,
    options: tuple[str, ...],
    params: tuple[str, ...],
    args: str,
    encounters: int,
    rounds: int,
    test_encounters: int,
    opening_plies: int,
    seconds: float,
    ply_limit: int,
    rng_seed: int,
    workers: int | None,
    name: str | None,
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
    from arena.games import make_game, parse_options
    from arena.tournament.tuning import TuningPlan, TuningVerdict, tune
    from arena.tournament.tuning_parameter import check_parameters, default_args, parse_parameter

    parameters = tuple(map(parse_parameter, params))
    template = default_args(parameters) if not args else split_arguments(args)
    check_parameters(parameters, template)
    if bot == "human":
        raise UsageError(f"bot {bot!r}: tuning takes hundreds of matches; expected a program")
    if plot_path is not None and plot_path.suffix not in (".png", ".svg"):
        raise UsageError(f"--plot {str(plot_path)!r}: expected a name that ends in .png or .svg")
    plan = TuningPlan(
        parameters=parameters,
        encounters=encounters,
        rounds=rounds,
        test_encounters=test_encounters,
        rng_seed=rng_seed,
    )
    rules = make_game(game, **parse_options(game, options))
    rounds_of = _Rounds(bot, template, plan, quiet or as_json)
    base = rounds_of.base(name, game, rules, opening_plies, ply_limit, seconds, rng_seed, workers)
    warn_of_weak_isolation(base.isolation)
    with open_home() as arena_home:
        try:
            result = tune(plan, rounds_of.player(arena_home, base))
        except KeyboardInterrupt:
            click.echo("Stopped. The same command resumes where it stopped.", err=True)
            return INTERRUPTED
    if plot_path is not None:
        _draw(plot_path, base.name, result)
    if as_json:
        print_json(_as_json(base.name, result))
    else:
        _show(base.name, result)
    return {TuningVerdict.BETTER: BETTER, TuningVerdict.WORSE: WORSE}.get(result.verdict, OPEN)


@dataclass
class _Rounds:
    """Plays the rounds of a tuning as tournaments.

    Attributes:
        bot: as it was named.
        template: its arguments, with braces.
        plan: what is tuned.
        is_quiet: whether to show no progress.
    """

    bot: str
    template: list[str]
    plan: TuningPlan
    is_quiet: bool

    def variant(self, values: Values) -> Bot:
        """Return the bot with values in its arguments."""
        from arena.tournament.tuning_parameter import filled_args

        names = [one.name for one in self.plan.parameters]
        filled = filled_args(self.template, dict(zip(names, values, strict=True)))
        bot: Bot = find_bots([self.bot], shlex.join(filled))[0]
        return bot

    def base(
        self,
        name: str | None,
        game: str,
        rules: Any,
        opening_plies: int,
        ply_limit: int,
        seconds: float,
        rng_seed: int,
        workers: int | None,
    ) -> Definition:
        """Return what the tournaments of all rounds have in common, checked."""
        from arena.definition import Definition, GameChoice
        from arena.records import TimeControl
        from arena.tournament.tuning_rounds import MAX_TUNING_NAME_CHARACTERS, check_base

        start = self.variant(self.plan.start)
        made = f"tune {start.name} in {game.rpartition(':')[2]}"[:MAX_TUNING_NAME_CHARACTERS].strip()
        base = Definition(
            name=made if name is None else name,
            games=(GameChoice(game=game, options=rules.options, players=rules.players),),
            entrants=(),
            format="trials",
            opening_plies=opening_plies,
            ply_limit=ply_limit,
            time_control=TimeControl(per_action_seconds=seconds),
            rng_seed=rng_seed,
            workers=workers,
        )
        check_base(base, start)
        return base

    def player(self, arena_home: ArenaHome, base: Definition) -> Any:
        """Return what plays a round, or finds it in the home."""
        from arena.cli.progress import make_progress
        from arena.tournament.director import run_tournament
        from arena.tournament.tuning_rounds import START, named_variant, scores_of, trials_definition

        def play(number: int, variants: Sequence[Values], encounters: int) -> list[list[float]]:
            start = named_variant(self.variant(self.plan.start), (START,))
            bots = [named_variant(self.variant(values), values) for values in variants]
            definition = trials_definition(base, number, self.plan.rounds, [start, *bots], encounters)
            display = make_progress(definition, quiet=self.is_quiet)
            with display:
                progress = run_tournament(
                    definition,
                    arena_home.store,
                    log_path=arena_home.log_path(definition.name),
                    listener=display.update,
                )
            stored = arena_home.store.tournament(definition.name)
            if stored.recorded < stored.scheduled:
                warn_of_given_up(progress)
                missing = counted(stored.scheduled - stored.recorded, "match")
                raise UsageError(
                    f"tournament {definition.name!r}: {missing} without a result, and the next round depends on all;"
                    " the same command tries again"
                )
            results = [result for of_round in arena_home.store.results_by_round(stored) for result in of_round]
            return scores_of(results, bots)

        return play


def _setting(result: TuningResult, values: Values) -> str:
    pairs = zip(result.plan.parameters, values, strict=True)
    return ", ".join(f"{one.name} = {value}" for one, value in pairs)


def _show(name: str, result: TuningResult) -> None:
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


def _as_json(name: str, result: TuningResult) -> dict[str, Any]:
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


def _draw(path: Path, name: str, result: TuningResult) -> None:
    from arena.report.plots import rendered
    from arena.report.tuning_plot import tuning_plot

    data = rendered(tuning_plot(name, result), path.suffix[1:])
    try:
        path.write_bytes(data)
    except OSError as error:
        raise UsageError(f"--plot {str(path)!r}: can't be written: {error.strerror}") from error
