from contextlib import suppress

import pytest

from arena.base.errors import UsageError
from arena.community.ladders import open_ladder
from arena.store.people import rates as record_quota
from arena.store.people.directors import DesiredState
from tests.community.ladders.test_supervised_ladder import ladder_of

DAY = 24 * 60 * 60


@pytest.fixture(autouse=True)
def little_is_much(monkeypatch):
    for module in (record_quota, open_ladder):
        monkeypatch.setattr(module, "MAX_DAILY_BYTES", 100)


def test_what_all_bots_of_an_author_say_is_counted_until_midnight(world):
    for author, label in (("ada", "adabot@1"), ("ada", "other@1"), ("eve", "evebot@1")):
        upload = "a" * 16 + f"-{ord(label[0]):016x}"
        world.people.submissions.add(world.author(author), upload, label, 9, "x.py", "")
        world.people.submissions.claim().finish("accepted", "", "", label)
    quota, bots = world.people.record_quota, ["adabot@1", "other@1", "evebot@1", "house@1"]
    world.now.seconds = 20_000 * DAY + DAY - 10
    quota.add({"adabot@1": 60, "evebot@1": 100, "house@1": 10_000})
    assert quota.beyond(bots) == frozenset()
    quota.add({"other@1": 41})
    assert quota.beyond(bots) == {"adabot@1", "other@1"}
    world.people.rates.prune()
    world.now.seconds += 9
    assert quota.is_used_up(world.author("ada").number)
    world.now.seconds += 1
    assert quota.beyond(bots) == frozenset()


@pytest.mark.slow
def test_its_bots_are_suspended_from_the_ladder_and_come_back(world, file):
    """Each action of adabot has a note of 25 bytes; the house's bots say nothing."""
    world.submit_bot("ada", "adabot")()
    most = 24  # enough for five notes of its own

    def listen():
        assert len(world.results()) < 60
        if len(world.results()) >= most:
            with suppress(UsageError):  # it was asked already, and pauses after the match that is played
                world.people.directors.set_desired_state("open", DesiredState.PAUSE, reason="Enough.", by="dora")

    ladder = ladder_of(world, file, listen)
    assert ladder.step() == 0.0
    first = world.results()
    assert len(first) < most
    ladder.step()
    assert len(world.results()) >= most
    assert not any("adabot@1" in bots for match, (bots, _) in world.results().items() if match not in first)
    assert world.people.directors.report("open").sentence.startswith(
        "adabot@1 is suspended until 00:00 UTC: their author's bots wrote more than 100 bytes today"
    )
    before, most = world.results(), len(world.results()) + 8
    world.now.seconds += DAY
    world.people.directors.set_desired_state("open", DesiredState.PLAY, reason="Again.", by="dora")
    ladder.step()
    assert any("adabot@1" in bots for match, (bots, _) in world.results().items() if match not in before)
