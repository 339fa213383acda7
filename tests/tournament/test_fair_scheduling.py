import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.base.results import StoredResult
from arena.ratings.alternatives import connected_components
from arena.tournament.director import run_tournament
from arena.tournament.executors.executor import Void
from arena.tournament.fair_scheduling import (
    BOT_VOIDS,
    FIRST_PAUSE_SECONDS,
    RUN_VOIDS,
    EndedMatch,
    FairScheduling,
    TimeQuotas,
    VoidSuspensions,
)
from arena.tournament.formats.format import Field, Meeting
from arena.tournament.formats.ladder import MAX_ROUNDS_WAITING, Ladder, LadderSettings
from arena.tournament.run import Order, RunControl
from benchmarks.ladder_shares import Clock, SimulatedExecutor, UntilThen, ladder_of, simulated

BOTS = st.lists(st.sampled_from([0.0, 1.0, 1.0, 1.0, 2.0, 10.0, 50.0, 200.0]), min_size=3, max_size=8)


def test_charges_are_the_time_that_passed_and_whoever_is_as_quick_as_others_owes_nothing():
    """A slow match is played on one of two workers while the other plays quick ones, and then has nothing to do."""
    shares = TimeQuotas()
    present = ["a", "b", "slow"]
    shares.pass_time(2.0, [EndedMatch(1, {"a": 1.0, "b": 1.0})], [2], present)
    shares.pass_time(48.0, [EndedMatch(2, {"a": 0.0, "slow": 50.0})], [], present)
    # the first two seconds are shared by the two matches; b had a quarter of them, and slow one second and the rest
    assert shares._usual == pytest.approx({"a": 0.35, "b": 0.5, "slow": 49.0})
    shares = TimeQuotas()
    for match in range(100):
        pair = ("a", "b") if match % 2 else ("b", "c")
        shares.pass_time(2.0, [EndedMatch(match, dict.fromkeys(pair, 1.0 + match % 3 / 2))], [], "abc")
    assert shares.over_quota() == {}


def test_a_debt_is_paid_by_the_time_of_others():
    shares = TimeQuotas()
    for match in range(5):
        shares.pass_time(2.0, [EndedMatch(match, {"a": 1.0, "b": 1.0})], [], "abcd")
    shares.pass_time(31.0, [EndedMatch(6, {"c": 1.0, "slow": 30.0})], [], ["a", "b", "c", "slow"])
    owed = shares.over_quota()["slow"]
    assert owed == pytest.approx(3 * (30 - 2 * 1.0))
    shares.pass_time(2.0, [EndedMatch(7, {"a": 1.0, "b": 1.0})], [], ["a", "b", "c", "slow"])
    assert shares.over_quota()["slow"] == pytest.approx(owed - 2)
    shares.pass_time(200.0, [EndedMatch(8, {"a": 100.0, "b": 100.0})], [], ["a", "b", "c", "slow"])
    assert "slow" not in shares.over_quota()


@pytest.mark.slow
@given(seconds=BOTS, rng_seed=st.integers(0, 1000), margin=st.sampled_from([None, 3.0]))
@settings(max_examples=25, deadline=None)
def test_nobody_starves(seconds, rng_seed, margin):
    """However slow its rivals and itself are: who has waited for long owes the time of that, or is precise."""
    names = tuple(f"b{k}" for k in range(len(seconds)))
    chosen = LadderSettings(margin_95=margin)
    ladder = Ladder(Field(bots=names, names=names, players=2, settings=chosen, rng_seed=rng_seed))
    shares, match = TimeQuotas(), 0
    time_at, last_seen, played = 0.0, dict.fromkeys(names, 0.0), dict.fromkeys(names, 0)
    rounds_waited = dict.fromkeys(names, 0)
    for _ in range(60):
        over_quota = frozenset(names.index(bot) for bot in shares.over_quota())
        ladder.suspended = over_quota
        upcoming = ladder.next_round()
        if upcoming is None:
            ladder.suspended = frozenset()
            upcoming = ladder.next_round()
        if upcoming is None:
            break
        meetings = []
        for first, second in upcoming.pairings:
            pair = (names[first], names[second])
            took = {bot: seconds[names.index(bot)] for bot in pair}
            match += 1
            time_at += sum(took.values())
            shares.pass_time(sum(took.values()), [EndedMatch(match, took)], [], names)
            ranks = (1, 2) if (match * 7 + first) % 3 else (2, 1)
            result = StoredResult(1, match, "differences", pair, ranks, "", "")
            meetings.append(Meeting((first, second), (result,)))
            for bot in pair:
                last_seen[bot] = time_at
                played[bot] += 1
        ladder.add_results(meetings)
        met = {names[k] for pairing in upcoming.pairings for k in pairing}
        for k, bot in enumerate(names):
            rounds_waited[bot] = 0 if bot in met or k in over_quota else rounds_waited[bot] + 1
            assert rounds_waited[bot] <= MAX_ROUNDS_WAITING + len(names)  # all may be due at once
            most = 2 * len(names) * (seconds[k] + 2 * max(seconds))
            assert time_at - last_seen[bot] <= most + 1000 * (k in over_quota)
    assert all(played.values())


@pytest.mark.slow
def test_a_slow_bot_has_a_share_of_the_time_and_not_of_the_matches(tmp_path):
    """The others learn as much in an hour as they would without it, but for its share: one of seven."""
    kinds = ((0, True), (50, False), (50, True))
    alone, plain, scheduling = (simulated(6, slowness, 2, 0.3, has_it, 3) for slowness, has_it in kinds)
    share = 1 / 7
    assert plain.precision < 0.5 * alone.precision
    assert scheduling.precision >= (1 - share - 0.06) * alone.precision
    assert scheduling.matches >= (1 - share - 0.06) * alone.matches
    assert scheduling.slow_matches >= 4


def test_a_bot_whose_matches_are_void_with_several_rivals_rests_for_longer_each_time_and_no_rival_rests():
    now = Clock()
    suspensions = VoidSuspensions(now)
    pauses = []
    for _ in range(3):
        began = []
        for turn in range(BOT_VOIDS):
            rival = f"rival {turn % 2}"
            began += suspensions.note_void(["broken", rival])
            suspensions.note_recorded([rival, "another"])
            if began:
                break
        assert began == ["broken"]
        pauses.append(suspensions.suspended()["broken"])
        now.seconds += pauses[-1] + 1
        assert suspensions.suspended() == {}
    assert pauses == [FIRST_PAUSE_SECONDS, 2 * FIRST_PAUSE_SECONDS, 4 * FIRST_PAUSE_SECONDS]
    suspensions.note_recorded(["broken", "rival 1"])
    assert suspensions.note_void(["broken", "rival 0"]) == []
    suspensions = VoidSuspensions(Clock())
    for _ in range(2 * BOT_VOIDS):
        assert suspensions.note_void(["broken", "rival"]) == []


def test_many_void_matches_in_a_row_are_a_storm_and_one_record_ends_it():
    suspensions = VoidSuspensions(Clock())
    for number in range(RUN_VOIDS):
        assert not suspensions.has_too_many
        suspensions.note_void([f"a{number}", f"b{number}"])
    assert suspensions.has_too_many
    suspensions.begin_run()
    assert not suspensions.has_too_many
    suspensions.note_void(["a", "b"])
    assert suspensions.has_too_many
    suspensions.note_recorded(["a", "b"])
    assert (suspensions.in_row, suspensions.has_too_many) == (0, False)


class Broken(SimulatedExecutor):
    broken = frozenset({"broken@1"})

    def _result(self, spec):
        if any(bot.label in self.broken for bot in spec.bots):
            return Void(spec, "the arena failed")
        return super()._result(spec)


NAMES = ("a", "b", "c", "d", "broken")


def seconds_of(names):
    return {f"{name}@1": 1.0 for name in names}


@pytest.mark.slow
def test_matches_of_others_go_on_and_the_bot_is_tried_again_and_recovers(store, monkeypatch):
    clock = Clock()
    monkeypatch.setattr("arena.tournament.run.time.monotonic", clock)
    executor = Broken(clock, seconds_of(NAMES), 1)
    scheduling = FairScheduling(clock)
    progress = run_tournament(ladder_of(NAMES), store, executor=executor, control=UntilThen(clock, 1000.0, scheduling))
    assert [record for record in store.records("t") if "broken@1" in record.bots] == []
    assert progress.recorded > 400  # of five hundred that fit in the time
    assert BOT_VOIDS <= len(store.void_tries(store.tournament("t"))) <= 80
    assert progress.given_up
    executor.broken = frozenset()
    progress = run_tournament(ladder_of(NAMES), store, executor=executor, control=UntilThen(clock, 3000.0, scheduling))
    assert progress.given_up == {}
    assert sum("broken@1" in record.bots for record in store.records("t")) > 100
    matches = [record.match for record in store.records("t")]
    assert len(matches) == len(set(matches))


def test_a_run_in_which_everything_is_void_ends_soon_and_again_after_one_more(store):
    clock = Clock()
    executor = Broken(clock, seconds_of(NAMES), 1)
    executor.broken = frozenset(seconds_of(NAMES))
    scheduling = FairScheduling(clock)
    control = UntilThen(clock, 1e9, scheduling)
    for void_tries in (RUN_VOIDS, RUN_VOIDS + 1, RUN_VOIDS + 2):
        progress = run_tournament(ladder_of(NAMES), store, executor=executor, control=control)
        assert progress.is_stopped
        assert scheduling.voids.has_too_many
        assert len(store.void_tries(store.tournament("t"))) <= void_tries + 1
    executor.broken = frozenset()
    control = UntilThen(clock, clock.seconds + 50, scheduling)
    progress = run_tournament(ladder_of(NAMES), store, executor=executor, control=control)
    assert progress.recorded > 0
    assert not scheduling.voids.has_too_many


def test_without_a_control_a_ladder_is_played_as_before(store):
    executor = Broken(Clock(), seconds_of(NAMES), 1)
    progress = run_tournament(ladder_of(NAMES, matches=50), store, executor=executor)
    assert not progress.is_complete
    assert set(progress.given_up.values()) == {"the arena failed"}
    assert len(store.void_tries(store.tournament("t"))) == 3 * len(progress.given_up)


class ComesLater(RunControl):
    def __init__(self, scheduling, orders):
        self.scheduling, self.orders = scheduling, orders

    def order(self):
        self.orders -= 1
        return Order.PLAY if self.orders > 0 else Order.STOP


@pytest.mark.slow
def test_a_new_version_enters_within_one_round_and_the_field_stays_connected(store):
    clock = Clock()
    names = ("house", "b", "c", "slow", "new")
    seconds = seconds_of(names) | {"slow@1": 80.0}
    scheduling = FairScheduling(clock)
    before = ladder_of(names[:-1])
    after = ladder_of(names)
    asked = []

    def refresh():
        asked.append(store.last_round("t"))
        return after if len(asked) == 5 else None

    control = ComesLater(scheduling, 400)
    executor = SimulatedExecutor(clock, seconds, 1)
    run_tournament(before, store, executor=executor, refresh=refresh, control=control)
    assert min(line.round for line in store.schedule("t") if 4 in line.seats) == asked[4] + 1
    numbers = {f"{name}@1": k for k, name in enumerate(names)}
    pairs = np.array([[numbers[bot] for bot in record.bots] for record in store.records("t")])
    assert set(connected_components(len(names), pairs[:, 0], pairs[:, 1])) == {0}
