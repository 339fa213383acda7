from arena.base.definition import Definition, GameChoice
from arena.base.enums import CorrectionKind
from arena.base.records import Bot, MatchRecord, ScheduledMatch, SeatReport, TimeControl
from arena.store.results.correction_log import Change
from arena.store.results.rows import row_of
from arena.store.results.values import CorrectionDetails


def line(match):
    return ScheduledMatch(
        match=match,
        encounter=(match + 1) // 2,
        round=1,
        game=0,
        seats=(0, 1),
        opening=0,
        opening_actions=((1, 2), "+"),
        rng_seed=2**63 - match,
    )


def record(match, **changes):
    values = {
        "match": match, "tournament": "t", "game": "differences", "options": {"size": 2}, "bots": ["a@1", "b@1"],
        "rng_seed": 1, "encounter": 1, "opening": 0, "opening_plies": 0, "actions": [[0, (1, 1)], [1, (2, 2)]],
        "scores": [1, 1], "ranks": [1, 1], "termination": "normal", "faults": [], "wall_seconds": [0.1, 0.2],
        "cpu_seconds": [None, None], "seats": [SeatReport(), SeatReport()], "notes": [],
        "time_control": TimeControl(), "isolation": "none",
    }  # fmt: skip
    return row_of(MatchRecord(**{**values, **changes}))


def definition(**fields):
    entrants = tuple(Bot(name=name, version="1", command=(name,), directory="") for name in "ab")
    games = (GameChoice(game="differences", options={"size": 2}, players=2),)
    return Definition(**{"name": "t", "games": games, "entrants": entrants, **fields})


def void(store, tournament, *matches):
    details = CorrectionDetails(matches=matches)
    change = Change(kind=CorrectionKind.VOID, reason="why", details=details, set_aside=matches)
    return store.corrections.add(tournament, change)
