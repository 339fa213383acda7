from arena.base.records import Bot, MatchSpec


def small_match(*bots, match=1, **fields):
    fixed = {"tournament": "t", "game": "differences", "options": {"size": 4}, "rng_seed": 5}
    return MatchSpec(match=match, bots=bots, **(fixed | fields))


def paper_bots(players=2):
    """Return bots that are no programs: their players are scripts."""
    return tuple(Bot(name=f"bot{seat}", version="1", command=("x",), directory="/") for seat in range(players))
