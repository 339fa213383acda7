"""Times of bots, added up by hand."""

from arena.analysis.bot_times import BotTimes, bot_times
from arena.records import MatchRecord, SeatReport, TimeControl


def record(bots, actions, wall, seats):
    played = [[seat, None] for seat in actions]
    reports = [SeatReport(wall_seconds=on, cpu_seconds=cpu, off_turn_cpu_seconds=off) for on, cpu, off in seats]
    ranks, none = [1] * len(bots), [None] * len(played)
    return MatchRecord(
        match=1, tournament="t", game="differences", options={}, bots=bots, rng_seed=0, encounter=1, opening=None,
        opening_plies=0, actions=played, scores=ranks, ranks=ranks, termination="normal", faults=[], wall_seconds=wall,
        cpu_seconds=none, seats=reports, notes=[], time_control=TimeControl(), isolation="none",
    )  # fmt: skip


def test_times_add_up_over_matches_and_seats():
    records = [
        record(["a@1", "b@1"], [0, 1, 0], [None, 0.5, 0.25], [(0.25, 0.1, 0.0), (0.5, 0.4, 2.0)]),
        record(["b@1", "a@1"], [0, 1], [0.75, 0.125], [(0.75, 0.3, 1.0), (0.125, 0.1, 0.5)]),
    ]
    assert bot_times(records) == [
        BotTimes("b@1", 2, 2, 1.25, 0.7, 3.0, 0.75),
        BotTimes("a@1", 2, 2, 0.375, 0.2, 0.5, 0.25),
    ]


def test_a_bot_that_plays_itself_is_counted_for_both_seats():
    (line,) = bot_times([record(["a@1", "a@1"], [0, 1], [1.0, 2.0], [(1.0, 1.0, 0.0), (2.0, 2.0, 0.0)])])
    assert (line.matches, line.actions, line.wall_seconds, line.longest_seconds) == (2, 2, 3.0, 2.0)
