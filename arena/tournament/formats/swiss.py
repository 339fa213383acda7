"""The Swiss system. Its tie-breaks have FIDE codes (FIDE Handbook C.07, "Play-Off and Tie-Break Regulations"):

- BH, Buchholz: the sum of the rivals' scores. A round without a rival counts as met by a dummy that ends with one's own
  score.
- BH-C1, Buchholz cut 1: without the lowest of them.
- SB, Sonneborn-Berger: the scores of the rivals one has beaten, and half of those one has drawn with.
- DE, direct encounter: the score among those who have the same score, if all of them have met; otherwise 0. (By the
  Handbook it counts only among those whom earlier tie-breaks have left tied. Rounds depend on these values, so they
  stay as they are.)
- WON: how many rounds were won against a rival.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import ceil, log2
from typing import Annotated, Literal, NamedTuple

from annotated_types import Ge, Le, MinLen

from arena.base.errors import DefinitionError
from arena.base.results import competition_ranks
from arena.base.seeds import derived_seed
from arena.base.text import counted
from arena.tournament.formats.format import FOR_TWO, Field, Format, Meeting, Placing, Round


class CardLine(NamedTuple):
    """One round of one entrant.

    Attributes:
        rival: whom it met; None for a bye or another round without a rival.
        score: what the round counts: 1, 0.5 or 0.
        points: of the entrant and of the rival in the matches of their meeting; None without a rival.
    """

    rival: int | None
    score: float
    points: tuple[float, float] | None = None


Card = list[CardLine]
"""An entrant's rounds, in order."""

_TieBreak = Callable[[int, Sequence[Card], Sequence[float]], float]


def tie_breaks(cards: Sequence[Card], codes: Sequence[str]) -> list[dict[str, float]]:
    """Return for each entrant its ``score`` and the value of each tie-break."""
    scores = [sum(entry.score for entry in card) for card in cards]
    return [{"score": scores[k], **{code: CODES[code](k, cards, scores) for code in codes}} for k in range(len(cards))]


def _contributions(k: int, cards: Sequence[Card], scores: Sequence[float]) -> list[float]:
    return [scores[k] if entry.rival is None else scores[entry.rival] for entry in cards[k]]


def _buchholz_cut_1(k: int, cards: Sequence[Card], scores: Sequence[float]) -> float:
    values = _contributions(k, cards, scores)
    return sum(values) - min(values, default=0.0)


def _sonneborn_berger(k: int, cards: Sequence[Card], scores: Sequence[float]) -> float:
    values = _contributions(k, cards, scores)
    return sum(entry.score * value for entry, value in zip(cards[k], values, strict=True))


def _direct_encounter(k: int, cards: Sequence[Card], scores: Sequence[float]) -> float:
    equals = [other for other in range(len(cards)) if scores[other] == scores[k]]
    if not 2 <= len(equals) <= 1 + len(cards[k]):  # too many to have met them all
        return 0.0
    met = {other: {entry.rival for entry in cards[other]} for other in equals}
    if not all(b in met[a] for a in equals for b in equals if a != b):
        return 0.0
    return sum(entry.score for entry in cards[k] if entry.rival in equals)


def _won(k: int, cards: Sequence[Card], scores: Sequence[float]) -> float:
    return float(sum(entry.score == 1 and entry.rival is not None for entry in cards[k]))


CODES: Mapping[str, _TieBreak] = {
    "BH": lambda k, cards, scores: sum(_contributions(k, cards, scores)),
    "BH-C1": _buchholz_cut_1,
    "SB": _sonneborn_berger,
    "DE": _direct_encounter,
    "WON": _won,
}


# Swiss system: in each round entrants with equal scores meet, and nobody meets the same rival twice.
#
# 1. A meeting is won with more than half of its points: one point of score for that, half a point for a draw.
# 2. Pairings of a round make the differences of score as small as they can be; within a score group the upper half
#    meets the lower half, in the order of the table (FIDE Handbook C.04.3, the Dutch system, has the same aims).
# 3. With an odd number, the lowest in the table who has had none gets the bye, which counts as a win. Where all later
#    rounds have to be looked at, the next one gets it before other pairings are tried.
# 4. Seats need no balancing: a meeting is played in all seat rotations.
# 5. The order of the table is score, then the tie-breaks; before the first round, the order of the file.
# 6. An entrant who has withdrawn or is disqualified is not paired any more, and scores nothing in the rounds from which
#    it is absent; whoever was to meet it in such a round has the point, as with a bye. When nobody can be paired
#    any more after that, the tournament ends.

NEIGHBOURS = 40
"""How many rivals are considered for an entrant in a large field: those nearest to it in the table."""

TRIES = 20
BYE_CHAIR = -1
MAX_LOOKAHEAD_ENTRANTS = 24
"""Up to this many entrants, a round is only chosen if all later rounds can be paired. Larger fields have far fewer
rounds than entrants, so that a pairing can always be found."""

DEFAULT_TIE_BREAKS = ("BH-C1", "BH", "SB", "DE", "WON")


@dataclass(frozen=True, slots=True, kw_only=True)
class SwissSettings:
    """``[swiss]``: rounds and tie-breaks.

    Attributes:
        rounds: by default as many as a knockout would have, which leaves at most one entrant with only wins.
        tie_breaks: codes of the FIDE Handbook, C.07, the first one first; by default BH-C1, BH, SB, DE, WON.
    """

    rounds: Annotated[int, Ge(1), Le(10_000)] | None = None
    tie_breaks: Annotated[Sequence[Literal["BH", "BH-C1", "SB", "DE", "WON"]], MinLen(1)] | None = None


class Swiss(Format[SwissSettings]):
    """A fixed number of rounds."""

    Settings = SwissSettings
    players = FOR_TWO
    has_ranking = True

    def __init__(self, field: Field[SwissSettings]) -> None:
        super().__init__(field)
        entrants = field.entrants
        self._rounds = field.settings.rounds or ceil(log2(entrants))
        max_rounds = entrants - 1 + entrants % 2
        if self._rounds > max_rounds:
            raise DefinitionError(
                f"swiss.rounds = {self._rounds}: with {entrants} entrants at most {max_rounds} are possible without"
                " repeating a pairing"
            )
        self._tie_breaks: Sequence[str] = field.settings.tie_breaks or DEFAULT_TIE_BREAKS
        self._cards: list[Card] = [[] for _ in range(entrants)]

    def total_encounters(self) -> int:
        return self._rounds * (self.field.entrants // 2) * self.field.encounters

    def plan(self) -> str:
        return counted(self._rounds, "round")

    def add_results(self, meetings: Sequence[Meeting]) -> None:
        """Enter a round into everybody's card; who is in no meeting had the bye, or was absent (3, 6)."""
        number = len(self._cards[0]) + 1
        absent = {k for k in range(self.field.entrants) if self.field.is_absent(k, number)}
        entries = {k: CardLine(None, 0.0 if k in absent else 1.0) for k in range(self.field.entrants)}
        for meeting in meetings:
            a, b = meeting.pairing
            if absent & {a, b}:
                continue
            points = meeting.points(a), meeting.points(b)
            share = points[0] / len(meeting.results)
            score = 0.5 if abs(share - 0.5) < 1e-9 else float(share > 0.5)
            entries[a] = CardLine(b, score, points)
            entries[b] = CardLine(a, 1.0 - score, points[::-1])
        for entrant, entry in entries.items():
            self._cards[entrant].append(entry)

    def next_round(self) -> Round | None:
        done = len(self._cards[0])
        if done >= self._rounds:
            return None
        present = set(self._present())
        order = [line.entrant for line in self.ranking() if line.entrant in present]
        if len(order) < 2:
            return None
        for attempt in range(TRIES):
            for bye in self._byes(order):
                paired = self._round(order, bye, attempt)
                if paired is not None and self._leaves_enough(paired):
                    return paired
            if not self._is_tight():
                break
        planned = self._planned_round(order) if self._is_tight() else None
        if planned is not None:
            return planned
        for bye in self._byes(order):
            paired = self._round(order, bye, 0)
            if paired is not None:
                return paired
        if self.field.absences:
            return None
        raise DefinitionError(
            f"swiss.rounds = {self._rounds}: after {done} rounds nobody can be paired without repeating a pairing;"
            f" expected at most {done}"
        )

    def _byes(self, order: Sequence[int]) -> list[int | None]:
        if len(order) % 2 == 0:
            return [None]
        return [k for k in reversed(order) if not self._had_bye(k)] or list(reversed(order))

    def _present(self) -> tuple[int, ...]:
        return self.field.present(len(self._cards[0]) + 1)

    def _had_bye(self, entrant: int) -> bool:
        return any(entry.rival is None and entry.score > 0 for entry in self._cards[entrant])

    def _round(self, order: Sequence[int], bye: int | None, attempt: int) -> Round | None:
        rest = [entrant for entrant in order if entrant != bye]
        pairs = self._matched(rest, attempt)
        if pairs is None and len(rest) > NEIGHBOURS:
            pairs = self._matched(rest, attempt, neighbours=len(rest))
        return None if pairs is None else Round(tuple(pairs), () if bye is None else (bye,))

    def _is_tight(self) -> bool:
        """Return whether the last rounds may find nobody to pair, as beyond half the field (Dirac's theorem)."""
        return len(self._present()) < 2 * self._rounds and len(self._present()) <= MAX_LOOKAHEAD_ENTRANTS

    def _leaves_enough(self, chosen: Round) -> bool:
        if not self._is_tight():
            return True
        paired = {frozenset(pair) for pair in [*chosen.pairings, *((bye, BYE_CHAIR) for bye in chosen.byes)]}
        free = [pair for pair in self._free_pairs() if frozenset(pair) not in paired]
        return _rounds_in(free, self._to_be_paired(), self._rounds - len(self._cards[0]) - 1) is not None

    def _planned_round(self, order: Sequence[int]) -> Round | None:
        """Return a round after which all later ones can be paired, without regard to scores; None if none is found.

        What was found when the last round was chosen is found again here.
        """
        rounds = _rounds_in(self._free_pairs(), self._to_be_paired(), self._rounds - len(self._cards[0]))
        if not rounds:
            return None
        place_of = {k: place for place, k in enumerate(order)}
        byes = tuple(max(pair) for pair in rounds[0] if BYE_CHAIR in pair)
        pairs = [tuple(sorted(pair, key=place_of.__getitem__)) for pair in rounds[0] if BYE_CHAIR not in pair]
        return Round(tuple(sorted(pairs, key=lambda pair: place_of[pair[0]])), byes)

    def _to_be_paired(self) -> list[int]:
        """Return who may be paired; with an odd number also ``BYE_CHAIR``, whose rival has the bye."""
        present = self._present()
        return [*present, *[BYE_CHAIR] * (len(present) % 2)]

    def _free_pairs(self) -> list[tuple[int, int]]:
        met = {(k, entry.rival) for k in self._present() for entry in self._cards[k]}
        met |= {(k, BYE_CHAIR) for k in self._present() if self._had_bye(k)}
        return [pair for pair in combinations(self._to_be_paired(), 2) if pair not in met]

    def _matched(
        self, order: Sequence[int], attempt: int = 0, neighbours: int = NEIGHBOURS
    ) -> list[tuple[int, int]] | None:
        """Return the pairs of a round, the highest first, by a matching of least weight; None without a matching.

        The weight of a pair is first its difference of score, squared, then how far it is from meeting half its score
        group away. Later attempts care less for it, to find other pairs.
        """
        scores = {k: sum(entry.score for entry in self._cards[k]) for k in order}
        sizes: dict[float, int] = {}
        for k in order:
            sizes[scores[k]] = sizes.get(scores[k], 0) + 1
        weight_of_score = (len(order) + 1) ** 2
        weights: dict[tuple[int, int], int] = {}
        for place, a in enumerate(order):
            met = {entry.rival for entry in self._cards[a]}
            reach = max(neighbours, sizes[scores[a]] // 2 + neighbours // 2)
            for distance, b in enumerate(order[place + 1 : place + 1 + reach], 1):
                if b not in met:
                    gap = round(4 * (scores[a] - scores[b]) ** 2)
                    off = distance - max(1, sizes[scores[a]] // 2) if gap == 0 else distance
                    shuffled = derived_seed("swiss", attempt, a, b) % (attempt * weight_of_score) if attempt else 0
                    weights[a, b] = weight_of_score * gap + off * off + shuffled
        return _lightest_matching(order, weights)

    def ranking(self) -> list[Placing]:
        values = tie_breaks(self._cards, self._tie_breaks)
        ranks = competition_ranks([[-value for value in row.values()] for row in values])
        return sorted(Placing(rank, k, row) for k, (rank, row) in enumerate(zip(ranks, values, strict=True)))

    def cards(self) -> tuple[tuple[CardLine, ...], ...]:
        """Return each entrant's card: a line for each round so far."""
        return tuple(map(tuple, self._cards))

    def status(self) -> str:
        return f"round {len(self._cards[0])} of {self._rounds}"


def _rounds_in(
    free: Sequence[tuple[int, int]], members: Sequence[int], rounds: int
) -> list[list[tuple[int, int]]] | None:
    for seed in range(TRIES):
        unused = dict.fromkeys(free)
        rounds_found: list[list[tuple[int, int]]] = []
        while len(rounds_found) < rounds:
            weights = {
                (a, b): -(derived_seed("ahead", seed, len(rounds_found), min(a, b), max(a, b)) % 1000)
                for a, b in unused
            }
            matching = _lightest_matching(members, weights)
            if matching is None:
                break
            rounds_found.append(matching)
            for pair in matching:
                del unused[pair]
        else:
            return rounds_found
    return None


def _lightest_matching(members: Sequence[int], weights: Mapping[tuple[int, int], int]) -> list[tuple[int, int]] | None:
    """Return pairs with every member once and the least sum of weights; None if that is impossible.

    The pairs, each in the order of ``members``, are sorted by their first members.
    """
    number = {member: k for k, member in enumerate(members)}
    import rustworkx  # large, and a tournament file is read without it

    graph: rustworkx.PyGraph[int, int] = rustworkx.PyGraph()
    graph.add_nodes_from(members)
    graph.add_edges_from([(number[a], number[b], -weight) for (a, b), weight in weights.items()])
    matching = rustworkx.max_weight_matching(graph, max_cardinality=True, weight_fn=int)
    if 2 * len(matching) < len(members):
        return None
    return [(members[a], members[b]) for a, b in sorted((min(pair), max(pair)) for pair in matching)]
