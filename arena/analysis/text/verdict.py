"""What standings say in sentences: who is best, which bots can't be told apart, and what the ratings rest on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arena.analysis.measures.standings import SURE, Standing, Standings
from arena.analysis.text.corrections_table import corrections_line
from arena.base.enums import ClaimKind, StopReason
from arena.base.records import DEFAULT_LIMITS
from arena.base.text import all_of, counted
from arena.base.until import LARGE_FIELD, RANGES
from arena.ratings.alternatives import connected_components
from arena.ratings.consistency import MIN_ENCOUNTERS, MIN_FREEDOM
from arena.tournament.formats.format import Placing

# The sentences under standings: what was counted, and what the ratings rest on.

MAX_FUNCTIONS = 8
"""More Python functions are counted instead of named."""

MIN_BOTS = 4
"""The ratings of two bots fit any results between them, and those of three all but a cycle."""


def standings_footer(table: Standings) -> str:
    """Return the sentences under standings: what was counted, and what the ratings rest on.

    Before any match it is only what was corrected, if anything.
    """
    corrected = corrections_line(table.corrections)
    if not table.matches:
        return corrected
    of = f"{table.matches:,} of " if table.scheduled is not None else ""
    played = of + counted(table.matches if table.scheduled is None else table.scheduled, "match")
    if table.scheduled is not None and (table.matches < table.scheduled or not table.is_finished):
        played += ": the tournament is not complete"
    sentences = [f"{played}.", *([corrected] if corrected else []), *conditions(table)]
    if table.first_seat_share is not None:
        sentences.append(f"Seat 0 scores {100 * table.first_seat_share:.1f} %.")
    if table.draw_probability is not None:
        sentences.append(f"Two equal bots draw with probability {table.draw_probability:.3f}.")
    sentences.append(_about_the_fit(table))
    if any(line.same_as_next for line in table.lines):
        sentences.append('"=": the rating and the next one can\'t be told apart at 95 %.')
    return " ".join(sentences)


def conditions(table: Standings) -> Iterator[str]:
    """Yield which matches are not rated or were cut short, and which bots played under conditions of their own."""
    if duplicates := table.matches - table.rated:
        are = "is" if duplicates == 1 else "are"
        yield (
            f"{counted(duplicates, 'duplicate match')} {are} not rated:"
            " their bots always play the same match from that opening."
        )
    if table.adjudicated:
        yield f"{counted(table.adjudicated, 'match')} ended at the limit of plies, ranked by the scores as they stood."
    by_time: dict[str, list[str]] = {}
    for line in table.lines:
        if line.label in table.odds:
            by_time.setdefault(table.odds[line.label].shown, []).append(line.bot)
    for time, names in by_time.items():
        yield f"{_listed(names)} {_by_number(names, 'has a time of its', 'have a time of their')} own: {time}."
    if table.cores != DEFAULT_LIMITS.cores:
        yield f"Each match has {counted(table.cores, 'core')}."
    if functions := [line.bot for line in table.lines if line.is_function]:
        who = all_of(functions) if len(functions) <= MAX_FUNCTIONS else counted(len(functions), "bot")
        are = _by_number(functions, "is a Python function", "are Python functions")
        yield f"{who} {are}, played without isolation."


def _about_the_fit(table: Standings) -> str:
    """Return how wide the prior is, and whether a single rating for each bot fits the results."""
    tested = table.consistency
    prior = f"Prior sd {table.fitted.prior_width:.1f} (estimated)"
    if tested.phi is None:
        return f"{prior}. {untested_text(table)}"
    overdispersion = f"{prior}. Overdispersion φ = {tested.phi:.2f}"
    if not tested.is_flagged:
        return f"{overdispersion}: a single rating per bot fits."
    cycles = ", ".join(cycle_text(cycle, table.shown_names) for cycle in tested.cycles[:3])
    shown_cycles = f" ({cycles})" if cycles else ""
    return (
        f"{overdispersion}: A SINGLE RATING PER BOT DOES NOT FIT{shown_cycles}; see the crosstable, or Nash averaging"
        " with arena stats."
    )


def untested_text(table: Standings) -> str:
    """Return why there is no test whether a single rating per bot fits: what there is, and what it takes."""
    tested, bots = table.consistency, len(table.fitted.names)
    if bots < MIN_BOTS:
        reason = f"that takes {MIN_BOTS} bots or more"
    elif not tested.pairs:
        most = counted(tested.most_encounters, "encounter")
        reason = f"no two bots have met in more than {most}, and it takes {MIN_ENCOUNTERS}"
    elif tested.pairs <= bots:
        met = f"{counted(tested.pairs, 'pair')} of bots {'has' if tested.pairs == 1 else 'have'} met"
        reason = f"{met} in {MIN_ENCOUNTERS} encounters or more, and with {bots} bots it takes {bots + 1} such pairs"
    else:
        reason = (
            f"the {tested.pairs} pairs of bots that have met in {MIN_ENCOUNTERS} encounters or more leave"
            f" {tested.freedom:.1f} degrees of freedom, and it takes {MIN_FREEDOM:g}: more encounters, or more bots"
        )
    return f"Whether a single rating per bot fits can't be tested: {reason}."


def cycle_text(cycle: Sequence[str], names: Mapping[str, str]) -> str:
    """Return a cycle of bots (``name@version``) as ``a > b > c > a``; a disqualified bot has no name in ``names``."""
    return " > ".join(names.get(label, label) for label in (*cycle, cycle[0]))


# The verdict names the best bot, and the bots that the results do not tell apart.
#
# It uses the likelihood of superiority of every pair of bots, not only of neighbours in the table, which orders bots by
# exposure. It writes "can't be told apart" where the results separate no pair of these bots, and
# "not all can be told apart" where they separate only some pairs.

MAX_NAMES = 4
"""More bots are counted instead of named."""

MAX_COMPARED = 2000
"""Of more bots, the first in the table are compared with each other."""

STOPPED = {
    StopReason.MATCHES: " It has stopped at max_matches.",
    StopReason.HOURS: " It has stopped at max_hours.",
    StopReason.REPEATS: " It has stopped because these bots only repeat matches that they have played.",
}

MAX_GROUPS = 2
"""More groups are summed up."""


def verdict(table: Standings, introduction: str = "") -> str:
    """Return what standings mean, as plain text with names as the bots have them.

    Args:
        introduction: the sentence's first words; by default they say whether matches are still to be played.
    """
    if not table.matches:
        return "No match has been recorded yet."
    number = {label: number for number, label in enumerate(table.fitted.names)}
    rated = [line for line in table.lines if line.label in number]
    if not rated:
        return "No bot has a rating yet: that takes a match of two different bots."
    index = [number[line.label] for line in rated]
    field = _Field([line.bot for line in rated[:MAX_COMPARED]], table.fitted.los(index[:MAX_COMPARED]) >= SURE)
    if len(rated) > MAX_COMPARED:
        clauses = [field.top(), *_below_in_a_large_field(rated)]
    elif field.is_alike(range(len(rated))):
        clauses = [_alike(field, rated)]
    else:
        clauses = [field.top(), *field.below()]
    unrated = [line.bot for line in table.lines if line.label not in number]
    if unrated:
        clauses.append(f"{_listed(unrated)} {_by_number(unrated, 'has', 'have')} no rated match yet")
    begun = introduction or _proviso(table)
    if not begun and not clauses[0].startswith(rated[0].bot):
        clauses[0] = clauses[0][0].upper() + clauses[0][1:]
    doubt = " But a single rating per bot does not fit the results." if table.consistency.is_flagged else ""
    return f"{begun}{'; '.join(clauses)}.{doubt}{_what_is_decided(table)}"


def _what_is_decided(table: Standings) -> str:
    """Return what a tournament that plays until it is decided has decided, what is open, and why it has stopped."""
    decided = table.decided
    if decided is None:
        return ""
    if decided.matches_needed is None:
        begin = "Every pair of bots meets" if len(table.lines) <= LARGE_FIELD else "Every bot meets a few rivals"
        return f" {begin} first; then it plays until it is decided."
    names, promise = table.shown_names, f"at an error of {100 * decided.until.error:g} % over all looks"
    equals = sum(claim.claim is ClaimKind.EQUAL for claim in decided.claims)
    are = "is" if equals == 1 else "are"
    within = f" {counted(equals, 'pair')} of bots {are} equal within {decided.until.indifference:g}." if equals else ""
    if decided.decided:
        return f" All is decided, {promise}.{within}"
    pairs = [f"{names.get(pair.bot, pair.bot)} and {names.get(pair.rival, pair.rival)}" for pair in decided.open]
    shown = f"{'; '.join(pairs)}" if len(pairs) <= MAX_NAMES else f"{len(pairs)} pairs of neighbours"
    stopped = STOPPED.get(decided.stopped_because, "") if decided.stopped_because else ""
    needed = decided.matches_needed
    cost = (
        f"about {counted(needed, 'match')} more"
        if needed <= RANGES["max_matches"][1]
        else "more matches than any budget has"
    )
    return f" Not decided, {promise}: {shown}, which takes {cost}.{within}{stopped}"


def ranking_verdict(ranking: Sequence[tuple[str, Placing]], is_finished: bool) -> str:
    """Return what the ranking of a Swiss or a knockout means, as plain text; names and placings, the best first."""
    leaders = [name for name, placing in ranking if placing.rank == 1]
    if not is_finished:
        return f"So far, {_listed(leaders)} {_by_number(leaders, 'leads', 'share the first rank')}."
    decided = next((f", {placing.decided}" for _, placing in ranking if placing.decided), "")
    return f"{_listed(leaders)} {_by_number(leaders, f'wins the tournament{decided}', 'share the first rank')}."


def _alike(field: _Field, rated: Sequence[Standing]) -> str:
    drawn = sum(line.draws for line in rated) == sum(line.matches for line in rated)
    return f"{field.described(range(len(rated)))} can't be told apart{': every match was drawn' if drawn else ''}"


def _below_in_a_large_field(rated: Sequence[Standing]) -> list[str]:
    if not any(line.same_as_next for line in rated[1:]):
        return []
    return [f"not all of the other {len(rated) - 1} can be told apart"]


def _proviso(table: Standings) -> str:
    is_running = table.scheduled is not None and (table.matches < table.scheduled or not table.is_finished)
    return "So far, " if is_running else ""


@dataclass(frozen=True, slots=True)
class _Field:
    """Rated bots in the order of the table.

    Attributes:
        beats: whether the bot of the row is better than the bot of the column, for sure.
    """

    names: Sequence[str]
    beats: NDArray[np.bool_]

    def is_alike(self, bots: Sequence[int]) -> bool:
        return not self.beats[np.ix_(bots, bots)].any()

    def alike_first(self) -> list[int]:
        """Return the first bot, and those tied with it."""
        return np.flatnonzero(~(self.beats[0] | self.beats[:, 0])).tolist()

    def leaders(self) -> list[int]:
        """Return the first bots if they are tied and each is better than every other; else the first bot alone."""
        tied = self.alike_first()
        others = [bot for bot in range(len(self.names)) if bot not in tied]
        return tied if self.is_alike(tied) and self.beats[np.ix_(tied, others)].all() else [0]

    def top(self) -> str:
        first, leaders, rivals = self.names[0], self.leaders(), self.alike_first()[1:]
        better = np.flatnonzero(self.beats[:, 0]).tolist()
        if better:
            are = _by_number(better, "is", "are")
            return f"{first} has the highest exposure, but {_listed(self._names(better))} {are} clearly better"
        if len(leaders) > 1:
            return f"{self.described(leaders)} are clearly ahead of the others, but can't be told apart"
        if not rivals:
            return (
                f"{first} is clearly better than {self.names[1]}"
                if len(self.names) == 2
                else f"{first} is clearly best"
            )
        return f"{first} leads, but can't be told apart from {_listed(self._names(rivals), 'other bot')}"

    def below(self) -> list[str]:
        lower = [bot for bot in range(len(self.names)) if bot not in self.leaders()]
        groups = [group for group in self._connected(lower) if len(group) > 1]
        if len(groups) > MAX_GROUPS or any(not self._can_be_named(group) for group in groups):
            return [f"not all of the other {len(lower)} can be told apart"]
        if not groups:
            return ["all others can be told apart"] if len(lower) > 1 else []
        return [
            f"{self.described(group)} can't be told apart"
            if self.is_alike(group)
            else f"not all of {self.described(group)} can be told apart"
            for group in groups
        ]

    def described(self, bots: Sequence[int]) -> str:
        """Return bots by their names, or many as the number from one to another."""
        if len(bots) <= MAX_NAMES:
            return _listed(self._names(bots))
        if len(bots) == len(self.names):
            return f"the {len(bots)} bots"
        return f"the {len(bots)} bots from {self.names[bots[0]]} to {self.names[bots[-1]]}"

    def _can_be_named(self, bots: Sequence[int]) -> bool:
        return len(bots) <= MAX_NAMES or bots[-1] - bots[0] == len(bots) - 1

    def _names(self, bots: Sequence[int]) -> list[str]:
        return [self.names[bot] for bot in bots]

    def _connected(self, bots: Sequence[int]) -> list[list[int]]:
        """Return groups of bots in the order of the table; bots of different groups are not tied."""
        beats = self.beats[np.ix_(bots, bots)]
        labels = connected_components(len(bots), *np.nonzero(~(beats | beats.T)))
        return [[bots[k] for k in np.flatnonzero(labels == first).tolist()] for first in sorted(set(labels.tolist()))]


def _listed(names: Sequence[str], noun: str = "bot") -> str:
    if len(names) > MAX_NAMES:
        return counted(len(names), noun)
    return all_of(names)


def _by_number(things: Sequence[object], one: str, several: str) -> str:
    return one if len(things) == 1 else several
