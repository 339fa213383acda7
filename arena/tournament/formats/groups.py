"""Groups of three and more, fewer than all there are, so that nobody is favoured.

Exact designs exist only for a few sizes (Colbourn and Dinitz, "Handbook of Combinatorial Designs"), so this is an
optimiser: groups are filled one seat at a time with whoever has played least and has met the others least. It is
deterministic: ties are broken by hashes of the seed.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations

from arena.seeds import derived_seed
from arena.tournament.formats.format import Pairing


def balanced_groups(entrants: int, players: int, wanted: int, rng_seed: int) -> list[Pairing]:
    """Return ``wanted`` different groups of ``players`` entrants, in which everybody plays as often as everybody else
    (within two) and meets everybody about equally often."""
    played: Counter[int] = Counter()
    met: Counter[tuple[int, int]] = Counter()
    seen: set[Pairing] = set()
    groups = []
    for number in range(wanted):
        for attempt in range(1000):
            group = _fill(entrants, players, played, met, (rng_seed, number, attempt), loose=attempt // 100)
            if group not in seen:
                break
        else:  # nearly all groups are taken: the free one whose members have played least
            free = (one for one in combinations(range(entrants), players) if one not in seen)
            group = min(free, key=lambda one: sorted((played[k] for k in one), reverse=True))
        seen.add(group)
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
    loose: int,
) -> Pairing:
    """Fill a group; with ``loose`` > 0 it matters less how often pairs have met, so that other groups come out."""
    group: list[int] = []
    while len(group) < players:
        free = [k for k in range(entrants) if k not in group]

        def strain(k: int) -> tuple[float, float, int]:
            meetings = [met[k, other] for other in group]
            return (
                played[k],
                sum(times * times for times in meetings) // (1 + loose),
                derived_seed("group", *seed, len(group), k),
            )

        group.append(min(free, key=strain))
    return tuple(sorted(group))
