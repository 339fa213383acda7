"""Round robin, gauntlet and trials: everybody meets everybody, or a few challengers meet the field or a start."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Annotated

from annotated_types import Ge, Le, MinLen

from arena.base.errors import DefinitionError, UnknownNameError
from arena.base.seeds import derived_seed
from arena.base.text import counted, toml_value
from arena.tournament.formats.format import Field, FixedFormat, Pairing, Round

# A balanced choice of groups of three and more.
#
# Exact designs exist only for a few sizes (Colbourn and Dinitz, "Handbook of Combinatorial Designs"), so this is an
# optimiser: groups are filled one seat at a time with whoever has played least and has met the others least. It is
# deterministic: ties are broken by hashes of the seed.

MAX_ATTEMPTS = 1000


def balanced_groups(entrants: int, players: int, count: int, rng_seed: int) -> list[Pairing]:
    """Return different groups in which everybody plays equally often, within two, and meets all about equally."""
    played: Counter[int] = Counter()
    met: Counter[tuple[int, int]] = Counter()
    taken: set[Pairing] = set()
    groups = []
    for number in range(count):
        for attempt in range(MAX_ATTEMPTS):
            group = _fill(entrants, players, played, met, (rng_seed, number, attempt), looseness=attempt // 100)
            if group not in taken:
                break
        else:  # nearly all groups are taken: the free one whose members have played least
            free = (group for group in combinations(range(entrants), players) if group not in taken)
            group = min(free, key=lambda group: sorted((played[k] for k in group), reverse=True))
        taken.add(group)
        groups.append(group)
        played.update(group)
        met.update((a, b) for a in group for b in group if a != b)
    return groups


def _fill(
    entrants: int,
    players: int,
    played: Counter[int],
    met: Counter[tuple[int, int]],
    seed: tuple[int, int, int],
    looseness: int,
) -> Pairing:
    """Fill a group; the higher ``looseness`` is, the less it matters how many times pairs have met."""
    group: list[int] = []
    while len(group) < players:
        free = [k for k in range(entrants) if k not in group]

        def strain(k: int) -> tuple[float, float, int]:
            meetings = [met[k, other] for other in group]
            return (
                played[k],
                sum(count * count for count in meetings) // (1 + looseness),
                derived_seed("group", *seed, len(group), k),
            )

        group.append(min(free, key=strain))
    return tuple(sorted(group))


# Round robin: everybody meets everybody.
#
# For two players, in rounds where everybody plays once, by the circle method (the tables of FIDE's Handbook, C.05 annex
# 1, are made the same way); with an odd number one entrant has a bye in each round. For more players a round is one
# pass through all groups, or through ``groups`` groups, chosen so that everybody plays and meets everybody as equally
# as possible.

MAX_GROUPS = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundRobinSettings:
    """``[round_robin]``: for games of three or more players.

    Attributes:
        groups: how many groups meet; by default all possible groups.
    """

    groups: Annotated[int, Ge(1), Le(MAX_GROUPS)] | None = None


class RoundRobin(FixedFormat[RoundRobinSettings]):
    """Everybody meets everybody, in ``encounters`` encounters."""

    Settings = RoundRobinSettings

    def __init__(self, field: Field[RoundRobinSettings]) -> None:
        super().__init__(field)
        players, groups = field.players, field.settings.groups
        if players == 2:
            if groups is not None:
                raise DefinitionError(f"round_robin.groups = {groups}: only for games of three or more players")
            return
        possible = comb(field.entrants, players)
        if groups is not None and groups > possible:
            raise DefinitionError(
                f"round_robin.groups = {groups}: {field.entrants} entrants make {possible} groups of {players};"
                f" expected at most {possible}"
            )
        if (groups or possible) > MAX_GROUPS:
            raise DefinitionError(
                f"entrants: {field.entrants} entrants make {possible} groups of {players}; set round_robin.groups to at"
                f" most {MAX_GROUPS}"
            )

    def rounds(self) -> Iterator[Round]:
        entrants, players = self.field.entrants, self.field.players
        groups = self.field.settings.groups
        if players == 2:
            yield from circle(entrants)
        elif groups is None or groups == comb(entrants, players):
            yield Round(tuple(combinations(range(entrants), players)))
        else:
            yield Round(tuple(balanced_groups(entrants, players, groups, self.field.rng_seed)))

    def late_pairings(self, entrant: int) -> tuple[Pairing, ...]:
        """Return every group of an entrant and the others; raise DefinitionError if only some of them meet."""
        if self.field.settings.groups is not None:
            raise DefinitionError("round_robin.groups: a balanced choice of groups takes no late entrants")
        others = [k for k in range(self.field.entrants) if k != entrant]
        return tuple((*group, entrant) for group in combinations(others, self.field.players - 1))


def circle(entrants: int) -> Iterator[Round]:
    """Yield rounds in which every entrant has a different rival, by the circle method.

    One entrant keeps its chair and the others move around it. With an odd number of entrants there is an empty chair;
    the entrant opposite has a bye.
    """
    chairs = entrants + entrants % 2
    moving = list(range(1, chairs))
    for _ in range(chairs - 1):
        row = [0, *moving]
        met = [(row[k], row[-1 - k]) for k in range(chairs // 2)]
        byes = tuple(min(pair) for pair in met if entrants in pair)
        yield Round(tuple((min(pair), max(pair)) for pair in met if entrants not in pair), byes)
        moving = [moving[-1], *moving[:-1]]


# Gauntlet: a few challengers against a field that does not play among itself.


@dataclass(frozen=True, slots=True, kw_only=True)
class GauntletSettings:
    """``[gauntlet]``: always needed.

    Attributes:
        challengers: the names of the entrants who meet all others; at least one.
    """

    challengers: Annotated[Sequence[str], MinLen(1)] = ()


class Gauntlet(FixedFormat[GauntletSettings]):
    """Every challenger meets everybody in the field; with more than two players, every group from the field."""

    Settings = GauntletSettings

    def __init__(self, field: Field[GauntletSettings]) -> None:
        super().__init__(field)
        names = field.settings.challengers
        if not names:
            raise DefinitionError(
                f"gauntlet.challengers is missing: expected names of entrants: {', '.join(field.names)}"
            )
        for name in names:
            if name not in field.names:
                raise DefinitionError(f"gauntlet.challengers: {UnknownNameError('entrant', name, field.names)}")
        self._challengers = sorted({field.names.index(name) for name in names})
        self._others = [k for k in range(field.entrants) if k not in self._challengers]
        if len(self._others) < field.players - 1:
            raise DefinitionError(
                f"gauntlet.challengers = {toml_value(names)}: expected at least"
                f" {counted(field.players - 1, 'other entrant')}"
                f" to meet, got {len(self._others)}"
            )

        groups = comb(len(self._others), field.players - 1)
        if groups * len(self._challengers) > MAX_GROUPS:
            raise DefinitionError(
                f"entrants: expected at most {MAX_GROUPS} pairings; the field of {len(self._others)} makes {groups}"
                " groups for each challenger"
            )

    def rounds(self) -> Iterator[Round]:
        """Yield a round for each group from the field: each challenger meets it once."""
        for group in combinations(self._others, self.field.players - 1):
            yield Round(tuple((challenger, *group) for challenger in self._challengers))

    def late_pairings(self, entrant: int) -> tuple[Pairing, ...]:
        """Return whom a late entrant meets in every group: a challenger the field, another the challengers."""
        if entrant in self._challengers:
            return tuple((entrant, *group) for group in combinations(self._others, self.field.players - 1))
        rest = [k for k in self._others if k != entrant]
        groups = list(combinations(rest, self.field.players - 2))
        return tuple((challenger, *group, entrant) for challenger in self._challengers for group in groups)


# Trials: variants of a bot, each against the one it began with; see ``arena/tournament/tuning.py``.
#
# 1. Entrant 0 is the start, which each other entrant meets; it sits in all other seats of games for more.
# 2. A variant that was drawn several times has as many rounds.
# 3. Each encounter has an opening of its own: a model of the results takes them as independent.
#
# Pages know this format, and the web process does without the NumPy that a comparison takes.

MAX_DRAWN = 10_000
"""Rounds of a pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialsSettings:
    """How often each variant was drawn; empty if each was drawn once."""

    drawn: Sequence[int] = ()


class Trials(FixedFormat[TrialsSettings]):
    """Every variant meets the start."""

    Settings = TrialsSettings
    has_fixed_field = True
    has_own_openings = True

    def check_field(self) -> None:
        if self.field.entrants < 2:
            raise DefinitionError(f"entrants: expected at least 2 in trials, got {self.field.entrants}")
        drawn = self.field.settings.drawn
        if drawn and (len(drawn) != self.field.entrants - 1 or min(drawn) < 1 or sum(drawn) > MAX_DRAWN):
            raise DefinitionError(
                f"trials.drawn: expected a number from 1 for each variant, together at most {MAX_DRAWN:,}"
            )

    def rounds(self) -> Iterator[Round]:
        drawn = self.field.settings.drawn or [1] * (self.field.entrants - 1)
        for entrant, times in enumerate(drawn, 1):
            for _ in range(times):
                yield Round(((entrant, *[0] * (self.field.players - 1)),))
