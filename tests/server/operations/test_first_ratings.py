import pytest

from arena.base.results import EntrantRating
from arena.server.gate.homes import HomeBuilders
from arena.server.operations.submissions import AWAITED_SECONDS
from arena.store.home import ArenaHome
from arena.store.results.live_state import RunProgress
from arena.store.results.values import OwnedBot
from tests.server.operations.conftest import JSON

ASKED_AGAIN = "/asking.js"


@pytest.fixture
def submission(world):
    world.store.submissions.add(world.store.accounts.get("ann"), "a" * 16, "b" * 64, 100, "new.py", "")
    claim = world.store.submissions.claim()
    claim.finish("accepted", "", "", "new@1")
    return world.store.submissions.latest()[0].number


@pytest.fixture
def store(directory):
    with ArenaHome(directory) as home:
        yield home.store


def rate(store, *bots):
    (tournament,) = store.tournaments()
    ratings = tuple(EntrantRating(bot=bot, mu=26.04, margin_95=9.96) for bot in bots)
    store.live_state(tournament).write_progress(RunProgress(recorded=2, scheduled=4, least_certain=ratings))
    return tournament.name


@pytest.mark.parametrize("who", ["its author", "a visitor"])
async def test_it_is_shown_as_soon_as_there_is_one(world, submission, store, who):
    path = f"/submissions/{submission}"
    client = world.browser("ann") if who == "its author" else world.client()
    name = rate(store, "other@1")
    with store.lock(name):
        before = (await client.get(path)).text
        assert ASKED_AGAIN in before
        assert "so far" not in before
        rate(store, "other@1", "new@1")
        after = (await client.get(path)).text
        assert ASKED_AGAIN not in after
        assert "It is rated 26.0" in after
        answer = (await client.get(path, headers={"accept": JSON})).json()
        assert answer["ratings"] == [{"bot": "new@1", "tournament": name, "mu": 26.04, "margin_95": 9.96}]


async def test_it_is_not_awaited_for_ever_and_not_at_all_if_it_was_rejected(world, submission):
    path, client = f"/submissions/{submission}", world.browser("ann")
    world.now.seconds += AWAITED_SECONDS - 1
    assert ASKED_AGAIN in (await client.get(path)).text
    world.now.seconds += 2
    assert ASKED_AGAIN not in (await client.get(path)).text
    world.store.submissions.add(world.store.accounts.get("ann"), "d" * 16, "c" * 64, 100, "new.py", "")
    world.store.submissions.claim().finish("refused", "", "wrong", "new@1")
    number = world.store.submissions.latest()[0].number
    assert ASKED_AGAIN not in (await client.get(f"/submissions/{number}")).text


async def test_an_account_is_late_until_the_ratings_of_its_bots_are_there(world, submission, store, monkeypatch):
    async def nothing(*_, **__):
        return None

    monkeypatch.setattr(HomeBuilders, "kept", nothing)
    client = world.browser("ann")
    assert "retry-after" not in (await client.get("/account")).headers, "no page is known of"
    store.set_owners([OwnedBot("new@1", "d" * 64, "ann")])
    answer = await client.get("/account", headers={"accept": JSON})
    assert "retry-after" in answer.headers
    assert answer.json()["bots"][0]["next_step"] == "Nothing to do: its rating is being computed."
