"""Pages of homes: what is hidden is built once for everybody who may ask, and again when it has changed."""

import asyncio

import pytest

from arena.home import DATABASE_FILE
from arena.site.models.tournament import TournamentParameters
from arena.site.pages import PAGE_BY_NAME
from arena.web.opened_home import OpenedHome
from arena.web.people.homes import HomeBuilders, HomePlace, Homes

pytestmark = pytest.mark.anyio

PAGE, PARAMETERS = PAGE_BY_NAME["tournament"], TournamentParameters(tournament="t")


@pytest.fixture
async def builders(directory, monkeypatch):
    """Yield builders whose pages are the numbers in which they were built, each when the test lets it be."""
    home = OpenedHome(directory)
    made = HomeBuilders(Homes(home))
    made.count, made.may_build = 0, asyncio.Event()
    made.may_build.set()

    async def build(place, page, parameters):
        made.count += 1
        number = made.count
        await made.may_build.wait()
        return number

    monkeypatch.setattr(made, "build", build)
    yield made
    await made.close()
    home.close()


async def test_a_page_of_a_hidden_home_is_built_again_when_that_has_changed(builders, tmp_path):
    place = HomePlace(tmp_path, is_apart=True)
    for number, text in ((1, "played"), (2, "played on")):
        (tmp_path / DATABASE_FILE).write_text(text)
        for _ in range(3):
            assert await builders.newest(place, PAGE, PARAMETERS) == number


async def test_a_page_of_the_arena_is_built_each_time_for_its_store_may_be_elsewhere(builders, directory):
    place = HomePlace(directory, "postgresql://elsewhere")
    assert [await builders.newest(place, PAGE, PARAMETERS) for _ in range(2)] == [1, 2]


async def test_one_who_leaves_takes_the_page_from_nobody_else(builders, tmp_path):
    place = HomePlace(tmp_path, is_apart=True)
    builders.may_build.clear()
    leaving, staying = (asyncio.create_task(builders.newest(place, PAGE, PARAMETERS)) for _ in range(2))
    await asyncio.sleep(0)
    leaving.cancel()
    builders.may_build.set()
    assert await staying == 1
    assert builders.count == 1
    with pytest.raises(asyncio.CancelledError):
        await leaving
