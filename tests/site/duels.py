from arena.base.definition import GameChoice
from arena.base.records import Bot, Fault, SeatReport
from tests.store.results.samples import definition, line, record


def bot(label, **fields):
    name, _, version = label.rpartition("@")
    return Bot(name=name, version=version, command=("/secret/program",), directory="/secret/place", **fields)


def tell(home, matches, name="t", entrants=("a@1", "b@1"), games=("differences",), faults=None, missing=0, **fields):
    """Store a tournament of matches, each ``(bots, ranks)`` or ``(bots, ranks, what was played)``.

    Two are an encounter, and each has actions of its own unless it says what was played. Entrants are labels or bots,
    games are played in turn, faults are kinds by match and seat, and so many matches more are scheduled.
    """
    players = len(matches[0][0]) if matches else 2
    rows = []
    for match, (bots, ranks, *played) in enumerate(matches, 1):
        kinds = {seat: kind for (number, seat), kind in (faults or {}).items() if number == match}
        wrong = [Fault(seat=seat, kind=kind, ply=2, detail=f"it is {kind}") for seat, kind in kinds.items()]
        rows.append(
            record(
                match, tournament=name, encounter=(match + 1) // 2, game=games[(match - 1) // 2 % len(games)],
                bots=list(bots), ranks=list(ranks), scores=[players - rank for rank in ranks],
                actions=[[0, (played[0] if played else match, 1)], [1, (2, 2)]], cpu_seconds=[0.05, 0.1],
                faults=wrong, termination="forfeit" if wrong else "normal",
                seats=[SeatReport(wall_seconds=0.1, cpu_seconds=0.05, stderr="first\nlast") for _ in bots],
            )
        )  # fmt: skip
    made = definition(
        name=name,
        entrants=tuple(bot(one) if isinstance(one, str) else one for one in entrants),
        games=tuple(GameChoice(game=game, options={"size": 2}, players=players) for game in games),
        **fields,
    )
    tournament = home.store.create_tournament(made, [line(match) for match in range(1, len(rows) + 1 + missing)])
    home.store.record(tournament, rows)
    home.store.set_finished(tournament, not missing)
    return home.store.tournament(name)


def duels(first, second, results):
    """Return encounters of two bots: a letter for the first bot's result in each match, which changes seats."""
    ranks = {"w": (1, 2), "l": (2, 1), "d": (1, 1)}
    return [
        ((first, second), ranks[one]) if number % 2 == 0 else ((second, first), ranks[one][::-1])
        for number, one in enumerate(results)
    ]
