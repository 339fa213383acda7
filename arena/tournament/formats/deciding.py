"""What is played next until a field is decided: pure functions of the definition and the results so far.

1. Every pair that may meet first plays ``min_encounters``. In fields of more than 200 bots only some pairs do: those of
   the first rounds of a round robin, then neighbours in rank, as in a Swiss.
2. A look follows once every pair has played as many encounters as it was to play. Bots about which a claim is open then
   play among their neighbours of whom none is known to be better, all of these pairs equally often, until they have
   played a quarter more, counting what these encounters tell: matches of close bots, on whom the verdict depends, tell
   most, and each counts for two open bots.
   Now and then open bots also play all others who are not so far off that their matches tell nothing. Where the points
   of a pair contradict what both score against the field, as where three bots beat each other in a circle, the two are
   measured against the whole field instead.
3. Nothing is played between pairs that only repeat what they have played.

The next batch depends on points alone and not on how long matches took, which differs from run to run: so any number of
workers, and a run that is resumed, play the same matches.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from arena.base.enums import StopReason
from arena.base.until import LARGE_FIELD, Until, first_pairings
from arena.ratings.decided import GROWTH, Decision, Look
from arena.ratings.distributions import Floats
from arena.ratings.light_fit import MATCHES, PairTotals
from arena.tournament.formats.format import Pairing

Bools = NDArray[np.bool_]

OPENING_STAGES = 4
NEIGHBOURS = 4
"""In larger fields: how many stages of neighbours follow the first rounds, and how many neighbours each bot has."""

WINDOW = 24
"""The largest distance in rank of two bots that meet in a batch."""

FIELD_SHARE = 4
"""Open bots play others a quarter as often as their neighbours, up to ``field_encounters``."""

FIELD_TELLING = 0.4
"""These others are those against whom an encounter tells this share of what the bot's most telling one does."""

TELLING = 0.5
"""An open pair is played if an encounter tells this share of what the most telling one does."""


MAX_REPEATS = 8
"""Two bots meet no more after this many encounters in a row that repeat earlier ones."""

ROUNDING = 1e-6


class Deciding:
    """The state of a tournament that plays until it is decided.

    Attributes:
        decision: the claims so far.
        look: what the last look has found; None before the first.
        reason: why it stops; None while it continues.
        targets: how many encounters each pair is to have before the next look, by the numbers of the bots.
        played: how many it has had.
    """

    def __init__(
        self, until: Until, entrants: int, active: Sequence[int], pairings: Iterable[Pairing], games: int = 1
    ) -> None:
        """Begin.

        Args:
            entrants: how many bots there are, counting those who are not paired any more.
            active: the numbers of those who are paired.
            pairings: who may meet whom, in the order of the first pass.
            games: how many games each encounter is played in.
        """
        self._games = games
        self.decision = Decision(until, tuple(active))
        self.look: Look | None = None
        self.reason = None if active else StopReason.DECIDED
        self.totals = PairTotals.empty(entrants)
        self.played = np.zeros((entrants, entrants))
        self.targets = np.zeros((entrants, entrants))
        self._before = self.played.copy(), self.played.copy()
        self._repeats = np.zeros((entrants, entrants))
        self._allowed = np.zeros((entrants, entrants), dtype=bool)
        takes_part = set(active)
        playing = [pairing for pairing in pairings if takes_part.issuperset(pairing)]
        for first, second in playing:
            self._allowed[[first, second], [second, first]] = True
        self._stage = 0 if len(active) > LARGE_FIELD else OPENING_STAGES
        for first, second in playing[: first_pairings(len(active), len(playing))]:
            self._require(first, second, max(until.min_encounters, 1))

    @property
    def until(self) -> Until:
        """What is to be decided."""
        return self.decision.until

    @property
    def is_begun(self) -> bool:
        """Whether a look has been made at the claims, after the first encounters of every pair."""
        return self.look is not None and (self._stage >= OPENING_STAGES or self.reason is not None)

    def add(self, first: int, second: int, share: float, tied: float, *, is_new: bool = True) -> None:
        """Add an encounter in one of the games.

        Args:
            first: a bot.
            second: another one.
            share: the first one's share of the points.
            tied: the share of matches that were tied.
            is_new: whether no encounter of the two has gone like this from this opening.
        """
        self.played[[first, second], [second, first]] += 1 / self._games
        if is_new:
            self.totals.add(first, second, share, tied)

    def advance(self) -> Floats:
        """Look at the field if it is time to; return how many more encounters each pair plays until the next look."""
        while self.reason is None and not (self.targets > self.played + ROUNDING).any():
            self._next_look()
        missing = np.ceil(self.targets - self.played - ROUNDING)
        return np.maximum(missing, 0.0) if self.reason is None else np.zeros(self.played.shape)

    def _next_look(self) -> None:
        look = self.look = self.decision.look(self.totals)
        if self._stage < OPENING_STAGES:
            self._stage += 1
            for distance in range(1, NEIGHBOURS + 1):
                for first, second in zip(look.ranking, look.ranking[distance:], strict=False):
                    self._require(first, second, max(self.until.min_encounters, 1))
            self._keep_budget()
            if self.reason is None or look.open:
                return
        if not look.open:
            is_each_better = all(
                claim.better is not None for pair in look.needed if (claim := self.decision.about(*pair))
            )
            self.reason = StopReason.DECIDED if is_each_better else StopReason.EQUAL
            return
        self._give_up_repeats()
        self.targets = np.maximum(self._next_targets(look), self.played)
        self._keep_budget()
        if self.reason is None and not (self.targets > self.played + ROUNDING).any():
            self.reason = StopReason.REPEATS

    def _next_targets(self, look: Look) -> Floats:
        playing = self._playing(look)
        is_open = self._is_open(look)
        settled = (self.played * look.telling).sum(1)
        to_tell = np.maximum((playing * look.telling).sum(1), 1e-9)
        level = (self.played * playing).sum(1) / np.maximum(playing.sum(1), 1)
        wanted = np.where(is_open, level + (GROWTH - 1) * settled / to_tell, 0.0)
        of_both = (wanted[:, None] + wanted[None, :]) / np.maximum(is_open[:, None] + is_open[None, :].astype(int), 1)
        fewest = self.targets.min(where=playing, initial=np.inf) + 1
        targets = np.where(playing, np.ceil(np.maximum(of_both, fewest) - ROUNDING), self.played)
        field = np.minimum(self.decision.field_encounters, np.ceil(targets.max(1) / FIELD_SHARE))
        against_all = np.where(is_open, field, 0.0)
        is_telling = look.telling >= FIELD_TELLING * look.telling.max(1)[:, None]
        least = np.where(is_telling, against_all[:, None], 0.0)
        return np.where(self._allowed, np.maximum(targets, np.maximum(least, least.T)), targets)

    def _is_open(self, look: Look) -> Bools:
        is_open = np.zeros(len(self.played), dtype=bool)
        is_open[[bot for pair in look.open for bot in pair.bots]] = True
        return is_open

    def _playing(self, look: Look) -> Bools:
        """Return which pairs play: open bots among their neighbours; those who may not meet, against everybody."""
        size = len(self.played)
        rank, block = np.zeros(size, dtype=int), np.zeros(size, dtype=int)
        rank[list(look.ranking)] = range(len(look.ranking))
        for above, below in pairwise(look.ranking):
            claim = self.decision.about(above, below)
            block[below] = block[above] + (claim is not None and claim.better is not None)
        bots = np.array([pair.bots for pair in look.open])
        is_open = self._is_open(look)
        telling_enough = look.telling >= TELLING * look.telling[bots[:, 0], bots[:, 1]].max()
        near = (block[:, None] == block[None, :]) & (np.abs(rank[:, None] - rank[None, :]) <= WINDOW) & telling_enough
        near[bots[:, 0], bots[:, 1]] = near[bots[:, 1], bots[:, 0]] = True
        agree = self._allowed.copy()
        for pair in self.decision.contradicted:
            agree[pair] = agree[pair[::-1]] = False
        playing = is_open[:, None] & is_open[None, :] & near & agree
        alone = is_open & ~playing.any(1)
        alone[[bot for pair in look.open if not agree[pair.bots] for bot in pair.bots]] = True
        return np.asarray(playing | ((alone[:, None] | alone[None, :]) & self._allowed))

    def _give_up_repeats(self) -> None:
        """Stop pairing two bots whose last encounters all repeated earlier ones."""
        encounters, played = self._before
        is_news = self.totals.encounters > encounters
        self._repeats = np.where(is_news, 0.0, self._repeats + self.played - played)
        self._allowed &= self._repeats < MAX_REPEATS
        self._before = self.totals.encounters.copy(), self.played.copy()

    def _require(self, first: int, second: int, encounters: float) -> None:
        if self._allowed[first, second]:
            for pair in ((first, second), (second, first)):
                self.targets[pair] = max(self.targets[pair], encounters)

    def _keep_budget(self) -> None:
        """Take encounters from the next batch until it fits into the budget; without any left, stop."""
        budget = self.until.max_matches
        if budget is None:
            return
        spare = int(budget / (MATCHES * self._games) - self.played.sum() / 2 + ROUNDING)
        if spare <= 0:
            self.reason = StopReason.MATCHES
            return
        missing = np.triu(np.ceil(self.targets - self.played - ROUNDING))
        while (surplus := int(missing.sum()) - spare) > 0:
            longest = np.argwhere(missing == missing.max())
            for first, second in longest[::-1][:surplus]:
                missing[first, second] -= 1
        self.targets = self.played + missing + missing.T
