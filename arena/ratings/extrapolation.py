"""Steps from sweep to sweep where sweeps alone come slowly to an end, or go to and fro.

That is so in fields in which the better bot always wins. There the results say little about how far apart bots are, so
that what a sweep finds depends on the beliefs that it begins with: it answers a narrower belief by a wider one, and
means and the prior's width approach the fit by small steps. Anderson's method finds the point at which sweeps would
change nothing, from the last sweeps ("Iterative procedures for nonlinear integral equations", Journal of the ACM 12,
1965; Walker and Ni, SIAM Journal on Numerical Analysis 49, 2011). Fits in which sweeps settle soon do without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import NamedTuple, Protocol

import numpy as np

from arena.ratings.distributions import Floats

FIRST_SWEEPS = 6
"""They move some bots far, so they do not show where the fit settles."""

CYCLING = 0.999
"""Sweeps that change this part of what the last one did go to and fro without an end."""

PATIENT_SWEEPS = 24
"""Sweeps that have not come to an end by then are slow in any case."""

MAX_KEPT = 10
MAX_KEPT_NUMBERS = 10_000_000
"""Of fields with more messages fewer sweeps are kept, so that they take about 100 MB at most."""

DAMPING, MIN_DAMPING, LESS = 0.25, 0.05, 0.7
"""Precisions follow a sweep by this part of the change of their logarithm, by less where they go to and fro."""

NEAR = 0.5
"""Steps of sigmas and of logarithms up to which the last sweeps tell where the end is."""

MAX_CLIP, MAX_STEP = 3.0, 1.0
"""The longest steps in the same units, of logarithms without extrapolation and with it."""

MAX_GROWTH, WAIT = 3.0, 2
"""Where an extrapolation makes the step of a sweep so much longer, the fit goes back, for some sweeps without it."""

NOISE = 1e-10
"""Steps below this are rounding errors, so it means nothing if they grow."""

ENOUGH = 4
"""An extrapolation from fewer sweeps does not tell how far the fit is from its end."""

SMALLEST = 1e-8
"""An extrapolation takes smaller singular values, relative to the largest, for zero."""

TINY = 1e-300
"""Keeps divisors above zero: two sweeps of a settled fit may be equal."""

LEAST, MOST = 0.4, 2.5
"""By which factors the precision of a message changes at most, so that it stays positive."""


class Fit(Protocol):
    """What is asked of a fit: see ``set_fit.SetFit``."""

    names: Sequence[str]

    @property
    def means(self) -> Floats: ...  # noqa: D102

    @property
    def variances(self) -> Floats: ...  # noqa: D102

    @property
    def information(self) -> Floats: ...  # noqa: D102

    def messages(self) -> list[Floats]: ...  # noqa: D102

    def take_messages(self, messages: Sequence[Floats]) -> None: ...  # noqa: D102

    def move_to(self, means: Floats, information: Floats) -> None: ...  # noqa: D102


class Sweep(NamedTuple):
    """Where a sweep began, by how much it moved, and the messages that it made.

    A point has the mean of each bot, the logarithms of the precisions that results give each bot, and further numbers.
    """

    begin: Floats
    step: Floats
    messages: list[Floats]


class Extrapolation:
    """The steps of one fit.

    Attributes:
        is_slow: whether the fit does not settle by sweeps alone.
        distance: how far the end was at the last step, in sigmas or of a logarithm; infinite if that is unknown.
    """

    def __init__(self, fit: Fit) -> None:
        self.is_slow, self.distance = False, inf
        self._fit, self._bots = fit, len(fit.names)
        self._sweeps, self._last_change, self._size = 0, inf, inf
        self._kept: list[Sweep] = []
        self._damping, self._wait = DAMPING, 0
        self._plain: Floats | None = None  # where the fit would be without the last extrapolation, if there was one

    def begin(self, further: Floats) -> None:
        """Note where a sweep begins; ``further`` are other logarithms that settle together with the fit."""
        self._begin = self._point(further)

    def end(self, change: float, further: Floats) -> Floats:
        """Move the fit after a sweep that changed something by ``change`` at most, and return the further numbers."""
        self._sweeps += 1
        is_cycling = self._sweeps > FIRST_SWEEPS and change > CYCLING * self._last_change
        self.is_slow = self.is_slow or is_cycling or self._sweeps > PATIENT_SWEEPS
        self._last_change = change
        return self._moved(further) if self.is_slow else further

    def _moved(self, further: Floats) -> Floats:
        step = self._point(further) - self._begin
        scale = np.ones(len(step))
        scale[: self._bots] = self._fit.variances**-0.5
        size, last_size = float(np.abs(step * scale).max()), self._size
        if self._plain is not None and not size < max(MAX_GROWTH * last_size, NOISE):
            return self._go_back(self._plain)
        if self._plain is None and self._wait == 0 and size > last_size:
            self._damping = max(MIN_DAMPING, LESS * self._damping)
        self._size, self._wait = size, max(0, self._wait - 1)
        self._keep(Sweep(self._begin, step, self._fit.messages()))
        plain = self._begin + np.clip(self._part() * step, -MAX_CLIP, MAX_CLIP)
        plain[: self._bots] = self._begin[: self._bots] + step[: self._bots]
        self._plain, self.distance = None, inf
        if size >= NEAR or len(self._kept) == 1 or self._wait:
            return self._go_to(plain)
        self._plain = plain
        return self._go_to(self._extrapolated(scale))

    def _keep(self, sweep: Sweep) -> None:
        numbers = sum(array.size for array in sweep.messages)
        self._kept = [*self._kept, sweep][-max(2, min(MAX_KEPT, MAX_KEPT_NUMBERS // numbers)) :]

    def _point(self, further: Floats) -> Floats:
        return np.concatenate([self._fit.means, np.log(self._fit.information), further])

    def _part(self) -> Floats:
        """Return which part of a step is taken, of each number of a point."""
        part = np.ones(len(self._begin))
        part[self._bots : 2 * self._bots] = self._damping
        return part

    def _go_to(self, point: Floats) -> Floats:
        self._fit.move_to(point[: self._bots], np.exp(point[self._bots : 2 * self._bots]))
        return point[2 * self._bots :]

    def _go_back(self, plain: Floats) -> Floats:
        self._fit.take_messages(self._kept[-1].messages)
        self._kept, self._plain, self._wait, self.distance = [], None, WAIT, inf
        return self._go_to(plain)

    def _extrapolated(self, scale: Floats) -> Floats:
        """Return where the combination of the last sweeps leads that would have changed least; mix messages alike."""
        last, others = self._kept[-1], self._kept[:-1]
        follow = self._part()
        changes = np.array([last.step - sweep.step for sweep in others])
        lengths = np.maximum(np.linalg.norm(changes * scale, axis=1), TINY)
        directions = (changes * scale).T / lengths
        shares = np.linalg.lstsq(directions, last.step * scale, rcond=SMALLEST)[0] / lengths
        begins = np.array([last.begin - sweep.begin for sweep in others])
        move = follow * last.step - shares @ (begins + follow * changes)
        length = float(np.abs(move * scale).max())
        self.distance = length if len(self._kept) >= ENOUGH else inf
        part = min(1.0, MAX_STEP / max(length, TINY))
        mixed = [
            now - part * sum(share * (now - sweep.messages[k]) for share, sweep in zip(shares, others, strict=True))
            for k, now in enumerate(last.messages)
        ]
        for precisions, now in zip(mixed[::2], last.messages[::2], strict=True):
            np.clip(precisions, LEAST * now, MOST * now, out=precisions)
        self._fit.take_messages(mixed)
        return np.asarray(last.begin + part * move)
