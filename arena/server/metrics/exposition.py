"""Metrics as text: version 0.0.4 of the exposition format of Prometheus."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class MetricKind(StrEnum):
    """What a metric's numbers are."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Sample:
    """A number.

    Attributes:
        value: the number.
        labels: what it is about, by the name of the label.
        ending: of the metric's name, for the parts of a histogram.
    """

    value: float
    labels: Mapping[str, str] = field(default_factory=dict)
    ending: str = ""


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric with its numbers.

    Attributes:
        name: with its unit.
        kind: what its numbers are.
        meaning: a sentence.
        samples: the numbers.
    """

    name: str
    kind: MetricKind
    meaning: str
    samples: Iterable[Sample]


def exposition(metrics: Iterable[Metric]) -> str:
    """Return metrics as text."""
    return "".join(line for metric in metrics for line in _lines(metric))


def _lines(metric: Metric) -> Iterable[str]:
    yield f"# HELP {metric.name} {_escaped(metric.meaning)}\n"
    yield f"# TYPE {metric.name} {metric.kind}\n"
    for sample in metric.samples:
        labels = ",".join(f'{name}="{_escaped(value, quote=True)}"' for name, value in sample.labels.items())
        yield f"{metric.name}{sample.ending}{f'{{{labels}}}' if labels else ''} {_number(sample.value)}\n"


def _escaped(text: str, *, quote: bool = False) -> str:
    text = text.replace("\\", "\\\\").replace("\n", "\\n")
    return text.replace('"', '\\"') if quote else text


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))
