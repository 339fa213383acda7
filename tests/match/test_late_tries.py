import pytest

from arena.base.errors import LateError, VoidMatchError
from arena.match.bot_pool import BotPool
from arena.match.single_match import MAX_TRIES, play_match, play_until_judged
from tests.matches import paper_bots, small_match

SPEC = small_match(*paper_bots())


def late_times(times, seat):
    seen = []

    def play(spec):
        seen.append(spec.void_tries)
        if len(seen) <= times:
            error = LateError("the machine stood still")
            error.seat = seat
            raise error
        return "the record"

    return play, seen


def test_the_next_try_knows_who_was_to_act_in_the_last_ones():
    play, seen = late_times(MAX_TRIES - 1, seat=1)
    assert play_until_judged(play, SPEC) == "the record"
    assert seen == [(), (1,), (1, 1)]


def test_after_the_last_try_nobody_can_say():
    play, seen = late_times(MAX_TRIES, seat=None)
    with pytest.raises(LateError, match="stood still"):
        play_until_judged(play, SPEC)
    assert len(seen) == MAX_TRIES == 3


def test_another_failure_is_not_tried_again():
    tries = []

    def fail(spec):
        tries.append(spec)
        raise VoidMatchError("the disk is full")

    with pytest.raises(VoidMatchError, match="disk"):
        play_until_judged(fail, SPEC)
    assert len(tries) == 1


def test_a_single_match_is_played_again(monkeypatch):
    def first(game, state, clock):
        return game.legal_actions(state)[0]

    played, calls = BotPool.play, []

    def late_at_first(pool, spec, *arguments):
        calls.append(spec)
        if len(calls) == 1:
            raise LateError("the machine stood still")
        return played(pool, spec, *arguments)

    monkeypatch.setattr(BotPool, "play", late_at_first)
    record = play_match("differences", first, first, options={"size": 3})
    assert (record.termination, len(calls)) == ("normal", 2)
    assert calls[1].void_tries == (None,)
