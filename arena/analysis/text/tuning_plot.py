"""The plot of a tuning: the scores of trials beside the values of each parameter."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from statistics import fmean, variance
from typing import Any

from arena.analysis.text.plots import ParameterPanel, parameters_plot
from arena.ratings.distributions import t_quantile
from arena.ratings.local_optimum import LocalOptimum, Sample
from arena.tournament.tuning import Trial, TuningResult

MEANS = 8
"""Groups of trials with similar values, each with its mean."""

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
