from arena.base.enums import FaultKind, Termination
from arena.base.records import Fault, MatchRecord, SeatReport, TimeControl


def record(actions, **changed):
    count = len(actions)
    fixed = {
        "match": 3, "tournament": "t", "game": "differences", "options": {"size": 4, "scoring": "distinct"},
        "bots": ("alpha@1", "beta@2"), "rng_seed": 7, "encounter": 2, "opening": None, "opening_plies": 0,
        "actions": tuple(actions), "scores": (2, 3), "ranks": (2, 1), "termination": Termination.NORMAL, "faults": (),
        "wall_seconds": (0.5,) * count, "cpu_seconds": (0.25,) * count, "seats": (SeatReport(), SeatReport()),
        "notes": (), "time_control": TimeControl(), "isolation": "none",
    }  # fmt: skip
    return MatchRecord(**{**fixed, **changed})


def fault(seat=1, kind=FaultKind.TIMEOUT, ply=2, detail="no answer within 1 s"):
    return Fault(seat=seat, kind=kind, ply=ply, detail=detail)


FULL = [[0, [1, 1]], [1, [3, 2]], [0, [2, 4]], [1, [4, 3]]]
"""Marks at a1, c2, b4 and d3: heights 1 4 2 3, columns 1 3 4 2."""
