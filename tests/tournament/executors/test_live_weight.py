from dataclasses import replace

from arena.tournament.executors import worker as live_weight
from arena.tournament.executors.worker import LiveWeight
from tests.tournament.test_live_writer import live


def test_the_actions_of_a_state_that_is_too_large_are_left_out(monkeypatch):
    """Each weighs at least the 100 characters of its text."""
    monkeypatch.setattr(live_weight, "MAX_LIVE_BYTES", 1500)
    weight = LiveWeight()
    whole = replace(live(1, 20), actions=tuple([ply % 2, "x" * 100] for ply in range(20)))

    def until(plies, match=1):
        seconds = (None,) * plies
        return replace(whole, match=match, actions=whole.actions[:plies], wall_seconds=seconds, cpu_seconds=seconds)

    assert weight.bounded(until(5)) == until(5)
    assert weight.bounded(until(10)) == until(10)
    assert weight.bounded(until(16)) == until(16).without_actions()
    assert weight.bounded(until(20)).left_out == 20
    assert weight.bounded(until(3, match=2)) == until(3, match=2)
    assert weight.bounded(until(16, match=2)).left_out == 16
    assert weight.bounded(until(3)) == until(3)


def test_each_action_is_looked_at_once(monkeypatch):
    looked_at = []
    dumps = live_weight.pickle.dumps
    monkeypatch.setattr(live_weight.pickle, "dumps", lambda action: looked_at.append(action) or dumps(action))
    weight = LiveWeight()
    for plies in (0, 4, 4, 9):
        weight.bounded(live(1, plies))
    assert len(looked_at) == 9


def test_a_usual_match_of_ten_thousand_plies_is_shown():
    assert LiveWeight().bounded(live(1, 10_000)).left_out == 0
