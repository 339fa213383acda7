"""Looking up a tournament of 998,000 recorded matches by its name, in a store that is open: the median of 20 times.

The records are made up (``benchmarks/synthetic_season.py``), in a database that is made on first use, in a minute.
"""

import statistics
import time

from arena.store.home import ArenaHome
from benchmarks.synthetic_season import NAME, home_of

BOTS = 1000
UNPLAYED = 1000  # the season of the figure about standings
RUNS = 20


def measure():
    taken = []
    with ArenaHome(home_of(BOTS, UNPLAYED)) as home:
        for _ in range(RUNS):
            started = time.perf_counter()
            home.store.tournament(NAME)
            taken.append((time.perf_counter() - started) * 1e3)
    return {"look-up of a tournament of 998,000 matches, ms": statistics.median(taken)}
