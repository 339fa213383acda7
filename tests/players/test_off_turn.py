"""The bots that are not to act leave the processor to the one that is."""

import time

import pytest

from arena.errors import BotError, LateError
from arena.isolation.launch_spec import Isolation
from arena.isolation.levels import choose_isolation
from arena.match.bot_pool import BotPool
from arena.players.bystanders import Bystanders
from arena.players.connection import BotConnection
from arena.players.manifest import load_bot
from arena.protocol.frames import encode_frame
from arena.records import DEFAULT_LIMITS, MatchSpec, TimeControl
from benchmarks import zoo_bots as zoo

HELLO = encode_frame({"type": "hello"})
LEVEL = choose_isolation("auto")


def launched(name, bystanders, isolation=LEVEL):
    """Return a bot that has said it is ready and is to rest now."""
    process = BotConnection(load_bot(zoo.bad_bot(name)), isolation, DEFAULT_LIMITS, bystanders)
    process.ask(HELLO, 20.0)
    process.rest.since = process.whole_cpu_seconds()
    return process


@pytest.fixture
def bystanders():
    """End whatever has joined."""
    bystanders = Bystanders()
    yield bystanders
    for process in list(bystanders._bots):
        process.end()


@pytest.mark.parametrize("isolation", [LEVEL, Isolation(level=LEVEL.level)], ids=["as it is", "without control groups"])
@pytest.mark.parametrize("name", ["children_think_off_turn", "chains_think_off_turn", "children_nobody_waits_for"])
def test_who_works_while_another_is_to_act_is_stopped(bystanders, name, isolation):
    busy = launched(name, bystanders, isolation)
    other = launched("never_answers", bystanders)
    with pytest.raises((BotError, LateError)):
        other.ask(encode_frame({"type": "act", "ply": 0, "legal": [[1, 1]]}), 0.5)
    assert busy.rest.was_broken
    used = busy.possible_cpu_seconds()
    time.sleep(0.2)
    busy.update_cpu()
    busy.update_cpu()  # by now everything that was on its way has been seen
    used = busy.possible_cpu_seconds()
    time.sleep(0.2)
    busy.update_cpu()
    assert busy.possible_cpu_seconds() - used < 0.02


def test_who_is_at_rest_is_left_alone(bystanders):
    idle = launched("never_answers", bystanders)
    other = launched("never_answers", bystanders)
    with pytest.raises(BotError, match="timeout"):
        other.ask(encode_frame({"type": "act", "ply": 0, "legal": [[1, 1]]}), 0.3)
    assert not idle.rest.was_broken


@pytest.mark.parametrize("isolation", [LEVEL, Isolation(level=LEVEL.level)], ids=["as it is", "without control groups"])
def test_work_that_children_did_on_turn_excuses_nobody(bystanders, isolation):
    """Whoever lets its time run out could else have every match against such a bot played again."""
    honest = launched("works_by_children_on_turn", bystanders, isolation)
    other = launched("never_answers", bystanders)
    for ply in range(2):
        honest.ask(encode_frame({"type": "act", "ply": ply, "legal": [[1, 1]]}), 20.0)
        honest.rest.since = honest.whole_cpu_seconds()
        with pytest.raises(BotError, match="timeout"):
            other.ask(encode_frame({"type": "act", "ply": 0, "legal": [[1, 1]]}), 0.3)
    assert not honest.rest.was_broken


def test_a_match_is_played_again_with_nobody_else_running():
    names = ("good_with_note", "uses_children", "slow_but_good")
    kept, good, slow = (load_bot(zoo.bad_bot(name)) for name in names)
    control = TimeControl(per_action_seconds=20.0)
    with BotPool(LEVEL) as pool:
        pool.play(
            MatchSpec(
                match=1,
                tournament="t",
                game="differences",
                options={"size": 4},
                bots=(kept, good),
                rng_seed=5,
                time_control=control,
            )
        )
        again = MatchSpec(
            match=2,
            tournament="t",
            game="differences",
            options={"size": 4},
            bots=(slow, good),
            rng_seed=5,
            time_control=control,
        ).after_void(None)
        pool.play(again)
        assert [bot.name for bot, _ in pool._players] == ["slow_but_good", "uses_children"]


def test_who_may_work_off_turn_is_left_alone(bystanders):
    busy = launched("children_think_off_turn", bystanders)
    busy.rest.is_due = False
    bystanders.keep_still(None)
    assert not busy.rest.was_broken
    assert bystanders.taken_seconds(None) == 0.0


def test_a_bot_that_is_late_because_another_worked_is_not_charged(bystanders, monkeypatch):
    """The other is not stopped in time here: nobody looks before the deadline."""
    monkeypatch.setattr(Bystanders, "keep_still", lambda *_: None)
    launched("children_think_off_turn", bystanders)
    other = launched("never_answers", bystanders)
    with pytest.raises(LateError, match="others used the processor") as raised:
        other.ask(encode_frame({"type": "act", "ply": 0, "legal": [[1, 1]]}), 0.3)
    assert raised.value.is_disturbed


def test_after_such_a_void_match_everybody_is_stopped_from_the_beginning_on():
    bots = (load_bot(zoo.bad_bot("slow_but_good")), load_bot(zoo.bad_bot("children_think_off_turn")))
    spec = MatchSpec(
        match=1,
        tournament="t",
        game="differences",
        options={"size": 4},
        bots=bots,
        rng_seed=5,
        time_control=TimeControl(per_action_seconds=20.0),
    )
    with BotPool(LEVEL) as pool:
        record = pool.play(spec.after_void(None))
    assert record.faults == ()
    assert record.seats[1].off_turn_cpu_seconds < 0.1


def test_a_bot_that_is_kept_for_its_next_match_does_not_work_meanwhile():
    """A child of the first bot works on while two others play a match of more than a second."""
    names = ("children_think_off_turn", "good_with_note", "slow_but_good")
    busy, good, slow = (load_bot(zoo.bad_bot(name)) for name in names)
    control = TimeControl(per_action_seconds=20.0)
    with BotPool(LEVEL) as pool:
        pool.play(
            MatchSpec(
                match=1,
                tournament="t",
                game="differences",
                options={"size": 4},
                bots=(busy, good),
                rng_seed=5,
                time_control=control,
            )
        )
        kept = pool._players[busy, 0]._process
        before = kept.possible_cpu_seconds()
        pool.play(
            MatchSpec(
                match=2,
                tournament="t",
                game="differences",
                options={"size": 4},
                bots=(slow, good),
                rng_seed=5,
                time_control=control,
            )
        )
        kept.update_cpu()
        assert kept.rest.was_broken
        assert kept.possible_cpu_seconds() - before < 0.2
