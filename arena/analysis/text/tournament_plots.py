"""The plots of a tournament in the store, and of a tuning."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import sqrt
from statistics import fmean, variance
from typing import Any

from arena.analysis.measures.game_statistics import Score, bot_times, pair_scores
from arena.analysis.measures.leaderboards import mu_histories
from arena.analysis.measures.noted_numbers import NotedNumber, noted_numbers
from arena.analysis.measures.result_table import read_results
from arena.analysis.measures.standings import Standings
from arena.analysis.text import plots
from arena.analysis.text.plots import ParameterPanel, parameters_plot
from arena.ratings.distributions import t_quantile
from arena.ratings.local_optimum import LocalOptimum, Sample
from arena.store.home import ArenaHome
from arena.store.results.values import StoredTournament
from arena.tournament.tuning import Trial, TuningResult

# From a tournament in the store to its plots.


def tournament_plot(
    home: ArenaHome, tournament: StoredTournament, table: Standings, kind: str, game: str | None = None
) -> Any:
    """Return a plot of a tournament, of one of the kinds in ``PLOTS``; None if there is nothing to draw."""
    subject = tournament.name if game is None else f"{tournament.name}, {game}"
    return PLOTS[kind](home, tournament, table, game, subject)


def _ratings(_: ArenaHome, __: StoredTournament, table: Standings, ___: str | None, of: str) -> Any:
    lines = table.lines
    return plots.ratings_plot(
        f"Ratings: {of}",
        [line.bot for line in lines],
        [line.rating.mu for line in lines],
        [line.margin for line in lines],
        _ranks(table),
    )


def _ranks(table: Standings) -> list[int]:
    return [line.rank for line in table.lines]


def _history(home: ArenaHome, tournament: StoredTournament, table: Standings, _: str | None, __: str) -> Any:
    histories = mu_histories(home.store, tournament, table.shown_names)
    title = f"Rating of each bot over the matches: {tournament.name}"
    return plots.history_plot(title, histories, "matches of the tournament", "rating (mu)")


def _crosstable(home: ArenaHome, tournament: StoredTournament, table: Standings, game: str | None, of: str) -> Any:
    scores = pair_scores(read_results(home.store, tournament, game), [line.label for line in table.lines])
    shares = [[_share(scores.get((a.label, b.label))) for b in table.lines] for a in table.lines]
    return plots.heat_map(f"Score against each rival: {of}", [line.bot for line in table.lines], shares, _ranks(table))


def _share(score: Score | None) -> float | None:
    return None if score is None else score.points / score.matches


def _seats(_: ArenaHome, __: StoredTournament, table: Standings, ___: str | None, of: str) -> Any:
    shares: Sequence[Sequence[float | None]] = [
        [line.seat_share(seat) for seat in range(len(line.seat_matches))] for line in table.lines
    ]
    return plots.seats_plot(f"Score in each seat: {of}", [line.bot for line in table.lines], shares, _ranks(table))


def _times(home: ArenaHome, tournament: StoredTournament, table: Standings, game: str | None, of: str) -> Any:
    times = {line.bot: line for line in bot_times(home.store.records(tournament, game))}
    used = [times.get(line.label) for line in table.lines]
    return plots.times_plot(
        f"Time for an action: {of}",
        [line.bot for line in table.lines],
        [line.mean_ms if line else None for line in used],
        [line.p99_ms if line else None for line in used],
        _ranks(table),
    )


def _notes(home: ArenaHome, tournament: StoredTournament, table: Standings, game: str | None, of: str) -> Any:
    reported: dict[str, list[NotedNumber]] = {}
    for noted in noted_numbers(home.store.records(tournament, game), [line.label for line in table.lines]):
        reported.setdefault(noted.key, []).append(noted)
    if not reported:
        return None
    most = sorted(reported, key=lambda key: -sum(noted.all.count for noted in reported[key]))[: plots.MAX_PANELS]
    names = {line.label: line.bot for line in table.lines}
    panels = {
        key: {
            names[noted.bot]: [(ply, mean.total / mean.count) for ply, mean in sorted(noted.plies.items())]
            for noted in reported[key]
        }
        for key in sorted(most)
    }
    bots = [bot for bot in names.values() if any(bot in lines for lines in panels.values())]
    omitted = f", {len(panels)} of {len(reported)} numbers" if len(panels) < len(reported) else ""
    return plots.numbers_plot(f"Mean of what bots report: {of}{omitted}", panels, bots)


PLOTS: Mapping[str, Callable[[ArenaHome, StoredTournament, Standings, str | None, str], Any]] = {
    "ratings": _ratings,
    "course": _history,
    "crosstable": _crosstable,
    "seats": _seats,
    "times": _times,
    "notes": _notes,
}


# The plot of a tuning: the scores of trials over the values of each parameter.

MEANS = 8
"""The number of groups of trials with similar values whose mean is drawn."""

MODEL_POINTS = 61


def tuning_plot(name: str, result: TuningResult) -> Any:
    """Return the figure of a tuning."""
    plan = result.plan
    optimum = None
    if result.trials:
        optimum = LocalOptimum([Sample(plan.point_of(trial.values), trial.score) for trial in result.trials])
    return parameters_plot(name, [_panel(result, optimum, number) for number in range(len(plan.parameters))])


def _panel(result: TuningResult, optimum: LocalOptimum | None, number: int) -> ParameterPanel:
    parameter, best = result.plan.parameters[number], result.plan.point_of(result.values)
    model = []
    for step in range(MODEL_POINTS):
        share = step / (MODEL_POINTS - 1)
        point = (*best[:number], share, *best[number + 1 :])
        if optimum is not None:
            model.append((float(parameter.value_at(share)), optimum.score(point)))
    return ParameterPanel(
        name=parameter.name,
        means=_means(result.trials, number),
        model=model,
        start=parameter.start,
        result=float(result.values[number]),
        is_logarithmic=parameter.is_logarithmic,
    )


def _means(trials: Sequence[Trial], number: int) -> list[tuple[float, float, float]]:
    """Return the mean value and the mean score of groups of trials, with half of the score's 95 % interval."""
    ordered = sorted(trials, key=lambda trial: float(trial.values[number]))
    groups = [ordered[k * len(ordered) // MEANS : (k + 1) * len(ordered) // MEANS] for k in range(MEANS)]
    means = []
    for group in groups:
        if len(group) > 1:
            scores = [trial.score for trial in group]
            reach = t_quantile(len(group) - 1, 0.975) * sqrt(variance(scores) / len(group))
            means.append((fmean(float(trial.values[number]) for trial in group), fmean(scores), reach))
    return means
