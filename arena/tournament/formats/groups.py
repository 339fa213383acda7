"""A balanced choice of groups of three and more.

Exact designs exist only for a few sizes (Colbourn and Dinitz, "Handbook of Combinatorial Designs"), so this is an
optimiser: groups are filled one seat at a time with whoever has played least and has met the others least. It is
deterministic: ties are broken by hashes of the seed.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations

from arena.base.seeds import derived_seed
from arena.tournament.formats.format import Pairing

MAX_ATTEMPTS = 1000


def balanced_groups(entrants: int, players: int, wanted: int, rng_seed: int) -> list[Pairing]:
    """Return ``wanted`` different groups of ``players`` entrants, in which everybody plays as often as everybody else
    (within two) and meets everybody about equally often."""
    played: Counter[int] = Counter()
    met: Counter[tuple[int, int]] = Counter()
    seen: set[Pairing] = set()
    groups = []
    for number in range(wanted):
        for attempt in range(MAX_ATTEMPTS):
            group = _fill(entrants, players, played, met, (rng_seed, number, attempt), looseness=attempt // 100)
            if group not in seen:
                break
        else:  # nearly all groups are taken: the free one whose members have played least
            free = (other for other in combinations(range(entrants), players) if other not in seen)
            group = min(free, key=lambda other: sorted((played[k] for k in other), reverse=True))
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
