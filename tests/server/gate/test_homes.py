import asyncio

import pytest

from arena.base.errors import StoreError
from arena.server.gate.homes import HomeBuilders, HomePlace
from arena.server.http.builder_messages import BuiltValue
from arena.server.http.page_cache import FAILURE_SECONDS
from arena.site.frame.model import Lane
from arena.store.home import DATABASE_FILE
from tests.store.people.conftest import FakeClock


class Public:
    public_place = None


class FakeBuilders(HomeBuilders):
    def __init__(self, now):
        super().__init__(Public(), now)
        self.built, self.seconds, self.error = 0, 0.5, None
        self.may_build = asyncio.Event()
        self.may_build.set()

    async def _value(self, place, page, parameters):
        self.built += 1
        number = self.built
        await self.may_build.wait()
        if self.error is not None:
            raise self.error
        return BuiltValue(b"%d" % number, self.seconds, self.seconds)


class NumberPage:
    name, lane = "number", Lane.RATINGS

    class model:  # noqa: N801 - the field of a page
        model_validate_json = int


class Shown:
    def __init__(self, directory):
        self.directory, self.clock = directory, FakeClock()
        self.builders = FakeBuilders(self.clock)
        self.commit()

    def commit(self):
        path = self.directory / DATABASE_FILE
        path.write_bytes((path.read_bytes() if path.exists() else b"") + b"x")

    async def ask(self):
        return await self.builders.kept(HomePlace(self.directory), NumberPage, "a page", is_program=False)


@pytest.fixture
async def shown(tmp_path):
    shown = Shown(tmp_path)
    yield shown
    await shown.builders.close()


async def test_a_page_is_built_once_until_its_home_has_changed_and_shown_while_the_next_is_built(shown):
    assert [await shown.ask() for _ in range(3)] == [1, 1, 1]
    shown.clock.seconds += 1000.0
    assert await shown.ask() == 1
    shown.commit()
    assert await shown.ask() == 2
    shown.commit()
    shown.clock.seconds += 10.0
    shown.builders.may_build.clear()
    assert await shown.ask() == 2
    shown.builders.may_build.set()
    assert await shown.ask() == 3


async def test_a_page_whose_home_changes_all_the_time_rests(shown):
    """It takes half a second, so it rests for five."""
    numbers = []
    for _ in range(10):
        numbers.append(await shown.ask())
        shown.commit()
        shown.clock.seconds += 1.0
    assert numbers == [1] * 5 + [2] * 5


@pytest.mark.parametrize("error", [StoreError("it is malformed"), ZeroDivisionError()])
async def test_a_page_that_cannot_be_built_is_not_built_at_each_request(shown, error):
    await shown.ask()
    shown.commit()
    shown.clock.seconds += 10.0
    shown.builders.error = error
    assert [await shown.ask() for _ in range(10)] == [None] * 10
    assert shown.builders.built == 2
    shown.clock.seconds += FAILURE_SECONDS
    shown.builders.error = None
    assert await shown.ask() == 3


async def test_the_newest_page_of_an_embargoed_home_is_built_when_that_has_changed_and_does_not_rest(shown):
    place = HomePlace(shown.directory, is_apart=True)
    for number in (1, 2, 3):
        assert [await shown.builders.newest(place, NumberPage, "a page") for _ in range(3)] == [number] * 3
        shown.commit()
    shown.builders.error = StoreError("it is malformed")
    with pytest.raises(StoreError, match="it is malformed"):
        await shown.builders.newest(place, NumberPage, "a page")
    shown.builders.error = None
    assert await shown.builders.newest(place, NumberPage, "a page") == 5
    place = HomePlace(shown.directory, "postgresql://elsewhere")  # the arena's own, whose store may be elsewhere
    assert [await shown.builders.newest(place, NumberPage, "a page") for _ in range(2)] == [6, 7]
