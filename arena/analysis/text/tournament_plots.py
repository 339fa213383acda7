"""The plots of a tournament in the store, and of a tuning; ``plots.py`` draws them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import fmean, variance
from typing import Any

from arena.analysis.measures.game_statistics import BotTimes, Score, bot_times, pair_scores
from arena.analysis.measures.leaderboards import mu_histories
from arena.analysis.measures.noted_numbers import NotedNumber, noted_numbers
from arena.analysis.measures.result_table import read_results
from arena.analysis.measures.standings import Standings
from arena.analysis.text import plots
from arena.analysis.text.plots import ParameterPanel, parameters_plot
from arena.ratings.distributions import t_quantile
from arena.ratings.local_optimum import LocalOptimum, Sample
from arena.store.home import ArenaHome
from arena.store.results.match_records import Records
from arena.store.results.values import StoredTournament
from arena.tournament.tuning import Trial, TuningResult


@dataclass(frozen=True, slots=True)
class _Subject:
    """What plots are about; ``game`` is None for all games."""

    home: ArenaHome
    tournament: StoredTournament
    table: Standings
    game: str | None

    @property
    def shown(self) -> str:
        return self.tournament.name if self.game is None else f"{self.tournament.name}, {self.game}"

    @property
    def bots(self) -> list[str]:
        return [line.bot for line in self.table.lines]

    @property
    def ranks(self) -> list[int]:
        return [line.rank for line in self.table.lines]

    @property
    def records(self) -> Records:
        return self.home.store.records(self.tournament, self.game)


def tournament_plot(
    home: ArenaHome, tournament: StoredTournament, table: Standings, kind: str, game: str | None = None
) -> Any:
    """Return a plot of a tournament, of one of the kinds in ``PLOTS``; None if there is nothing to draw."""
    return PLOTS[kind](_Subject(home, tournament, table, game))


def _ratings(of: _Subject) -> Any:
    means, margins = [line.rating.mu for line in of.table.lines], [line.margin for line in of.table.lines]
    return plots.ratings_plot(f"Ratings: {of.shown}", of.bots, means, margins, of.ranks)


def _history(of: _Subject) -> Any:
    histories = mu_histories(of.home.store, of.tournament, of.table.shown_names)
    title = f"Rating of each bot over the matches: {of.tournament.name}"
    return plots.history_plot(title, histories, "matches of the tournament", "rating (mu)")


def _crosstable(of: _Subject) -> Any:
    labels = [line.label for line in of.table.lines]
    scores = pair_scores(read_results(of.home.store, of.tournament, of.game), labels)
    shares = [[_share(scores.get((bot, rival))) for rival in labels] for bot in labels]
    return plots.heat_map(f"Score against each rival: {of.shown}", of.bots, shares, of.ranks)


def _share(score: Score | None) -> float | None:
    return None if score is None else score.points / score.matches


def _seats(of: _Subject) -> Any:
    shares = [[line.seat_share(seat) for seat in range(len(line.seat_matches))] for line in of.table.lines]
    return plots.seats_plot(f"Score in each seat: {of.shown}", of.bots, shares, of.ranks)


def _times(of: _Subject) -> Any:
    times = {line.bot: line for line in bot_times(of.records)}
    used = [times.get(line.label, BotTimes(line.label)) for line in of.table.lines]
    means, p99s = [line.mean_ms for line in used], [line.p99_ms for line in used]
    return plots.times_plot(f"Time for an action: {of.shown}", of.bots, means, p99s, of.ranks)


def _notes(of: _Subject) -> Any:
    names = of.table.shown_names
    reported: dict[str, list[NotedNumber]] = {}
    for noted in noted_numbers(of.records, names):
        reported.setdefault(noted.key, []).append(noted)
    if not reported:
        return None
    most = sorted(reported, key=lambda key: -sum(noted.all.count for noted in reported[key]))[: plots.MAX_PANELS]
    panels = {
        key: {
            names[noted.bot]: [(ply, mean.total / mean.count) for ply, mean in sorted(noted.plies.items())]
            for noted in reported[key]
        }
        for key in sorted(most)
    }
    bots = [bot for bot in names.values() if any(bot in lines for lines in panels.values())]
    omitted = f", {len(panels)} of {len(reported)} numbers" if len(panels) < len(reported) else ""
    return plots.numbers_plot(f"Mean of what bots report: {of.shown}{omitted}", panels, bots)


PLOTS: Mapping[str, Callable[[_Subject], Any]] = {
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
