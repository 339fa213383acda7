from arena.base.records import Bot
from tests.store.results.samples import definition, line, record

NAMES = ("a", "b", "c")

STORY = """
a b 1
b a 0
a c 1
c a 0
b c 1
c b =
"""
"""Each match: seat 0, seat 1, and what seat 0 has: 1 for a win, = for a draw. Two rows are an encounter."""


def tell(home, story, name="t", names=NAMES, **fields):
    entrants = tuple(Bot(name=bot, version="1", command=(bot,), directory="") for bot in names)
    played = [row.split() for row in story.split("\n") if row]
    ranks = {"1": [1, 2], "0": [2, 1], "=": [1, 1]}
    rows = [
        record(
            match,
            encounter=(match + 1) // 2,
            bots=[f"{first}@1", f"{second}@1"],
            ranks=ranks[result],
            scores=[2, 1] if result == "1" else [1, 2] if result == "0" else [1, 1],
            actions=[[0, (match, 1)], [1, (2, 2)]],
        )
        for match, (first, second, result) in enumerate(played, 1)
    ]
    schedule = [line(match) for match in range(1, len(rows) + 1 + fields.pop("missing", 0))]
    tournament = home.store.create_tournament(definition(name=name, entrants=entrants, **fields), schedule)
    home.store.record(tournament, rows)
    if len(schedule) == len(rows):
        home.store.set_finished(tournament, True)
    return home.store.tournament(name)
