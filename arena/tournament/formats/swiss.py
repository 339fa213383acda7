"""Swiss system: in each round entrants with equal scores meet, and nobody meets the same rival twice.

1. A meeting is won with more than half of its points: one point of score for that, half a point for a draw.
2. Pairings of a round make the differences of score as small as they can be; within a score group the upper half meets
   the lower half, in the order of the table (FIDE Handbook C.04.3, the Dutch system, has the same aims).
3. With an odd number, the lowest in the table who has had none gets the bye, which counts as a win.
4. Seats need no balancing: a meeting is played in all seat rotations.
5. The order of the table is score, then the tie-breaks; before the first round, the order of the file.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, log2

import networkx

from arena.errors import DefinitionError
from arena.tournament.formats.format import AdaptiveFormat, Field, Meeting, Place, Round, shared_places
from arena.tournament.formats.tie_breaks import CODES, Card, CardLine, tie_breaks

NEIGHBOURS = 40
"""Rivals that are looked at for an entrant in a large field: those nearest to it in the table."""


class Swiss(AdaptiveFormat):
    """A fixed number of rounds; ``swiss.rounds``, or enough to tell a single winner."""

    two_only = True

    def __init__(self, field: Field) -> None:
        super().__init__(field)
        entrants = field.entrants
        self._rounds: int = field.settings.get("rounds") or ceil(log2(entrants))
        most = entrants - 1 + entrants % 2
        if self._rounds > most:
            raise DefinitionError(
                f"swiss.rounds = {self._rounds}: with {entrants} entrants at most {most} are possible without repeating"
                " a pairing"
            )
        self._tie_breaks: Sequence[str] = field.settings.get("tie_breaks") or ("BH-C1", "BH", "SB", "DE", "WON")
        self._cards: list[Card] = [[] for _ in range(entrants)]

    def expected_pairings(self) -> int:
        """Return how many pairings all rounds together have."""
        return self._rounds * (self.field.entrants // 2)

    def take(self, meetings: Sequence[Meeting]) -> None:
        """Enter a round into everybody's card; who is in no meeting had the bye."""
        entries = {k: CardLine(None, 1.0) for k in range(self.field.entrants)}
        for meeting in meetings:
            a, b = meeting.pairing
            share = meeting.share(a)
            score = 0.5 if abs(share - 0.5) < 1e-9 else float(share > 0.5)
            entries[a], entries[b] = CardLine(b, score), CardLine(a, 1.0 - score)
        for entrant, entry in entries.items():
            self._cards[entrant].append(entry)

    def next_round(self) -> Round | None:
        """Pair the next round.

        Raises:
            DefinitionError: if nobody can be paired without a repeat any more.
        """
        done = len(self._cards[0])
        if done >= self._rounds:
            return None
        order = [place.entrant for place in self.places()]
        byes = self._bye(order)
        order = [entrant for entrant in order if entrant not in byes]
        pairs = self._matched(order)
        if pairs is None and len(order) > NEIGHBOURS:
            pairs = self._matched(order, neighbours=len(order))
        if pairs is None:
            raise DefinitionError(
                f"swiss.rounds = {self._rounds}: after {done} rounds nobody can be paired without repeating a pairing;"
                f" {done} rounds are accepted"
            )
        return Round(tuple(pairs), tuple(byes))

    def _bye(self, order: Sequence[int]) -> list[int]:
        if len(order) % 2 == 0:
            return []
        had_one = {k for k in order if any(entry.rival is None for entry in self._cards[k])}
        return [next((k for k in reversed(order) if k not in had_one), order[-1])]

    def _matched(self, order: Sequence[int], neighbours: int = NEIGHBOURS) -> list[tuple[int, int]] | None:
        """Return the pairs of a round, the highest first, by a matching of least weight; None if there is none.

        The weight of a pair is first its difference of score, squared, then how far it is from meeting half its score
        group away.
        """
        scores = {k: sum(entry.score for entry in self._cards[k]) for k in order}
        sizes: dict[float, int] = {}
        for k in order:
            sizes[scores[k]] = sizes.get(scores[k], 0) + 1
        weight_of_score = (len(order) + 1) ** 2
        graph: networkx.Graph[int] = networkx.Graph()
        graph.add_nodes_from(order)
        for place, a in enumerate(order):
            met = {entry.rival for entry in self._cards[a]}
            reach = max(neighbours, sizes[scores[a]] // 2 + neighbours // 2)
            for distance, b in enumerate(order[place + 1 : place + 1 + reach], 1):
                if b not in met:
                    gap = round(4 * (scores[a] - scores[b]) ** 2)
                    off = distance - max(1, sizes[scores[a]] // 2) if gap == 0 else distance
                    graph.add_edge(a, b, weight=-(weight_of_score * gap + off * off))
        matching = networkx.max_weight_matching(graph, maxcardinality=True)
        if 2 * len(matching) < len(order):
            return None
        place_of = {k: place for place, k in enumerate(order)}
        pairs = [tuple(sorted(pair, key=place_of.__getitem__)) for pair in matching]
        return sorted(pairs, key=lambda pair: place_of[pair[0]])

    def places(self) -> list[Place]:
        """Return the table by score and tie-breaks."""
        values = tie_breaks(self._cards, self._tie_breaks)
        keyed = sorted(
            ([-values[k]["score"], *(-values[k][code] for code in self._tie_breaks)], k) for k in range(len(values))
        )
        return [
            Place(place, k, {"score": values[k]["score"], **{code: values[k][code] for code in self._tie_breaks}})
            for place, (_, k) in zip(shared_places(keyed), keyed, strict=True)
        ]

    def status(self) -> str:
        """Return the number of the round."""
        return f"round {len(self._cards[0])} of {self._rounds}"


def check_codes(codes: Iterable[str]) -> None:
    """Raise DefinitionError unless all are codes of tie-breaks."""
    for code in codes:
        if code not in CODES:
            raise DefinitionError(f"swiss.tie_breaks: {code!r} is none; accepted are {', '.join(CODES)}")
