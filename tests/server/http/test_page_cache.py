import asyncio
import os
from dataclasses import replace
from unittest.mock import Mock

import pytest
from starlette.requests import Request

from arena.base.errors import ChangedMeanwhileError, StoreAwayError, StoreError, UnknownNameError
from arena.server.http.builder_messages import BuiltValue
from arena.server.http.builders import BUSY
from arena.server.http.page_cache import (
    CURRENT_SECONDS,
    ENTRY_BYTES,
    FAILURE_SECONDS,
    QUIET_CURRENT_SECONDS,
    Found,
    PageCache,
)
from arena.server.http.page_response import FIRST_SECONDS, PROGRAM_SECONDS, PageResponses
from arena.server.http.page_value import MAX_CROWDING, MAX_REST_SECONDS, rendered, rest_seconds
from arena.server.http.problems import ProblemError
from arena.site.frame.model import Lane
from arena.site.links import ServedLinks
from arena.site.page_table import PAGE_BY_NAME
from arena.site.pages.overview_model import OverviewParameters
from arena.site.render import asset_digests
from tests.server.conftest import FakeVersions

PAGE = PAGE_BY_NAME["overview"]
PARAMETERS = OverviewParameters()


class FakeBuilder:
    def __init__(self):
        self.built, self.kept, self.first, self.seconds, self.busy_lanes = 0, [], [], 0.0, set()
        self.answer = lambda: b"%d" % self.built
        self.freshened_at, self.fresh = [], lambda json: json
        self.may_keep = lambda: asyncio.sleep(0)
        self.may_build = asyncio.Event()
        self.may_build.set()

    def is_busy(self, lane):
        return lane in self.busy_lanes

    def expected_seconds(self, lane):
        return 1.5 if lane in self.busy_lanes else 0.0

    async def build(self, page, parameters, is_first):
        self.built += 1
        self.first.append(is_first)
        await self.may_build.wait()
        return BuiltValue(self.answer(), self.seconds)

    async def freshened(self, page, json):
        self.freshened_at.append(page.name)
        return self.fresh(json)

    async def earlier(self, page, parameters, has_all_words):
        return None

    async def keep(self, page, parameters, version, value, has_all_words):
        await self.may_keep()
        self.kept.append((value.json, has_all_words))


class Pages:
    def __init__(self):
        self.builder, self.versions, self.now = FakeBuilder(), FakeVersions(), 100.0
        self.reads_all = True
        self.cache = PageCache(self.builder, self.versions, lambda: self.now, 5000, lambda: self.reads_all)

    async def find(self, page=PAGE, seconds=10.0):
        return await self.cache.find(page, PARAMETERS, seconds)

    async def built(self):
        await asyncio.gather(*(entry.building for entry in self.cache._entries.values() if entry.building))


def request_with(headers=()):
    return Request({"type": "http", "method": "GET", "path": "/", "headers": list(headers), "query_string": b""})


@pytest.fixture
async def pages():
    pages = Pages()
    yield pages
    await pages.cache.close()


async def test_a_hundred_readers_cost_one_build_and_another_comes_after_an_event_and_not_before(pages):
    found = await asyncio.gather(*(pages.find() for _ in range(100)))
    assert {one.value.json for one in found} == {b"1"}
    assert pages.builder.built == 1
    await pages.find()
    assert (await pages.find()).value.json == b"1"
    pages.versions.version = "2"
    found = await pages.find()
    assert (found.value.json, found.value.version, found.is_current) == (b"2", "2", True)


@pytest.mark.parametrize(
    ("progress", "seconds"), [("a run that may have been killed", CURRENT_SECONDS), ("", QUIET_CURRENT_SECONDS)]
)
async def test_what_no_event_tells_is_seen_after_a_while(pages, progress, seconds):
    """Later while nothing is played."""
    pages.versions.progress = progress
    await pages.find()
    pages.now += seconds - 1
    assert (await pages.find()).value.json == b"1"
    pages.now += 2
    assert (await pages.find()).value.json == b"2"


@pytest.mark.parametrize("corrections", ["", "one"])
async def test_nobody_waits_for_a_value_that_others_have_waited_for_in_vain(pages, corrections):
    await pages.find()
    pages.builder.may_build.clear()
    pages.versions.version, pages.versions.corrections = "2", corrections
    waiting = asyncio.create_task(pages.find())
    while pages.builder.built < 2:
        await asyncio.sleep(0)
    pages.now += 0.31
    late = await asyncio.wait_for(pages.find(), 5)
    assert (late.value.json, late.is_current) == (b"1", False)
    pages.builder.may_build.set()
    assert (await waiting).value.json == b"2"


async def test_a_first_page_that_is_slow_is_nothing_yet_and_a_late_one_is_shown_as_it_was(pages):
    pages.cache._now = asyncio.get_running_loop().time
    pages.builder.may_build.clear()
    pending = await pages.find(seconds=0.01)
    assert (pending.value, pending.problem) == (None, None)
    pages.builder.may_build.set()
    assert (await pages.find()).value.json == b"1"
    assert pages.builder.built == 1
    pages.builder.may_build.clear()
    pages.versions.version = "2"
    late = await pages.cache.find(PAGE, PARAMETERS, 10.0, late_seconds=0.01)
    assert (late.value.json, late.is_current, late.age_seconds, late.problem) == (b"1", False, None, None)
    pages.builder.may_build.set()
    assert (await pages.find()).value.json == b"2"


@pytest.mark.parametrize("is_busy", [False, True])
async def test_an_outdated_page_older_than_a_minute_has_its_age_and_comes_first_only_if_others_are_built(
    pages, is_busy
):
    await pages.find()
    pages.now += 3600.0
    pages.builder.busy_lanes = {PAGE.lane} if is_busy else set()
    pages.builder.may_build.clear()
    pages.versions.version = "2"
    reader = asyncio.create_task(pages.find())
    if is_busy:
        late = await asyncio.wait_for(reader, 5)
        assert (late.value.json, late.age_seconds, late.is_store_away) == (b"1", 3600.0, False)
        pages.builder.may_build.set()
        await pages.built()
    else:
        await asyncio.wait({reader}, timeout=0.5)  # longer than for a younger one
        pages.builder.may_build.set()
        assert ((await reader).value.json, (await reader).age_seconds) == (b"2", None)


async def test_a_page_to_which_nothing_has_happened_is_of_now(pages):
    await pages.find()
    pages.now += 3600.0
    pages.builder.busy_lanes = {PAGE.lane}
    pages.builder.may_build.clear()
    late = await asyncio.wait_for(pages.find(), 5)
    assert (late.value.json, late.is_current, late.age_seconds) == (b"1", False, None)
    pages.builder.may_build.set()


async def test_a_page_that_takes_long_rests_before_it_is_built_again(pages):
    pages.builder.seconds = 5.0
    await pages.find()
    for second in range(1, 50):  # something happens each second
        pages.now += 1.0
        pages.versions.version = f"after {second} s"
        late = await pages.find()
        assert (late.value.json, late.is_current, late.ready_seconds) == (b"1", False, 55.0 - second)
    assert pages.builder.built == 1
    pages.now += 1.0
    pages.builder.may_build.clear()
    for _ in range(3):  # nobody waits for it
        late = await pages.find()
        assert (late.value.json, late.is_current, late.ready_seconds) == (b"1", False, 5.0)
    pages.builder.may_build.set()
    await pages.built()
    found = await pages.find()
    assert (found.value.json, found.is_current, pages.builder.built) == (b"2", True, 2)
    assert (PAGE.freshener, pages.builder.freshened_at) == ("", [])


FRESHENED = replace(PAGE, freshener="some.module:function")


@pytest.fixture
async def resting(pages):
    """Pages of which one rests for 50 s after something has happened."""
    pages.builder.seconds = 5.0
    await pages.find(FRESHENED)
    pages.now += 1.0
    pages.versions.version = "2"
    return pages


async def test_a_page_that_rests_shows_what_a_few_look_ups_find(resting):
    resting.builder.fresh = lambda json: json + b" and rated"
    late = await resting.find(FRESHENED)
    assert (late.value.json, late.is_current, late.ready_seconds) == (b"1 and rated", False, 54.0)
    resting.now += 60.0
    await resting.find(FRESHENED)
    await resting.built()
    assert ((await resting.find(FRESHENED)).value.json, resting.builder.built) == (b"2", 2)


async def test_a_page_that_rests_is_looked_up_twice_a_second_whoever_asks(resting):
    before = (await resting.find(FRESHENED)).value
    for _ in range(10):  # a second
        await asyncio.gather(*(resting.find(FRESHENED) for _ in range(20)))
        resting.now += 0.1
    assert len(resting.builder.freshened_at) == 2
    assert (await resting.find(FRESHENED)).value is before  # and what was made of it is kept


async def test_a_page_that_others_have_to_wait_for_shows_what_a_few_look_ups_find(resting):
    resting.now += 60.0
    resting.builder.busy_lanes = {FRESHENED.lane}
    resting.builder.may_build.clear()
    resting.builder.fresh = lambda json: json + b" and rated"
    assert (await resting.find(FRESHENED)).value.json == b"1 and rated"
    resting.builder.may_build.set()
    await resting.built()
    assert (await resting.find(FRESHENED)).value.json == b"2"


async def test_a_page_that_rests_is_shown_as_it_was_if_the_store_is_away(resting):
    resting.builder.fresh = Mock(side_effect=StoreAwayError("it is away"))
    assert (await resting.find(FRESHENED)).value.json == b"1"


async def test_a_quick_page_is_not_built_at_each_of_many_events(pages):
    pages.builder.seconds = 0.02
    for event in range(100):
        pages.versions.version = f"after {event}"
        assert (await pages.find()).value is not None
        pages.now += 0.01
    assert pages.builder.built == 5  # it rests ten times as long as it takes
    pages.now += 0.2
    assert (await pages.find()).is_current


@pytest.mark.parametrize("seconds", [0.02, 5.0, 1000.0])
async def test_after_a_correction_no_page_rests(pages, seconds):
    pages.builder.seconds = seconds
    await pages.find()
    pages.versions.version, pages.versions.corrections = "2", "one"
    found = await pages.find()
    assert (found.value.json, found.is_current) == (b"2", True)
    pages.versions.version = "3"
    assert (await pages.find()).value.json == b"2"
    pages.versions.version, pages.versions.corrections = "4", "it is deleted"
    pages.builder.answer = Mock(side_effect=UnknownNameError("tournament", "t", []))
    found = await pages.find()
    assert (found.value, found.problem.status) == (None, 404)


async def test_what_was_built_before_somebody_left_is_never_shown_again(pages):
    pages.versions.corrections = "0|store 1.0"
    await pages.find()
    pages.builder.may_build.clear()
    pages.versions.corrections = "1|store 1.0"
    assert (await pages.cache.find(PAGE, PARAMETERS, 0.0)).value is None
    pages.builder.may_build.set()
    assert (await pages.find()).value.json == b"2"


@pytest.mark.parametrize(
    ("seconds", "cpu_seconds", "rest"),
    [
        (2.0, None, 20.0), (2.0, 2.0, 20.0), (4.0, 2.0, 80.0), (0.3, 0.1, 9.0), (60.0, 0.1, 9.0), (2.0, 9.0, 20.0),
        (1000.0, None, MAX_REST_SECONDS),
    ],
)  # fmt: skip
def test_a_page_rests_by_the_processor_and_longer_where_others_need_it(seconds, cpu_seconds, rest):
    """Twice as long as the processor worked: four times the rest; much longer, as behind a lock: nine times."""
    assert MAX_CROWDING == 3.0
    assert rest_seconds(seconds, cpu_seconds) == pytest.approx(rest)


async def test_a_reader_who_leaves_does_not_end_the_build(pages):
    pages.builder.may_build.clear()
    readers = [asyncio.create_task(pages.find()) for _ in range(2)]
    await asyncio.sleep(0.01)
    readers[0].cancel()
    pages.builder.may_build.set()
    assert (await readers[1]).value.json == b"1"


async def test_without_the_store_the_last_page_has_its_age(pages):
    first = await pages.find()
    pages.versions.lost_at, pages.builder.answer = 110.0, Mock(side_effect=StoreAwayError("away"))
    pages.now = 130.0
    found = await pages.find()
    assert (found.value, found.age_seconds, found.is_current) == (first.value, 20.0, False)
    pages.versions.lost_at = None
    pages.builder.answer = lambda: b"back"
    pages.now = 140.0
    found = await pages.find()
    assert (found.value.json, found.age_seconds, found.is_current) == (b"back", None, True)


async def test_a_failure_is_remembered_for_a_second_only(pages):
    pages.builder.answer = Mock(side_effect=StoreAwayError("away"))
    for _ in range(5):
        assert (await pages.find()).problem.is_store_away
    assert pages.builder.built == 1
    pages.now += 1.1
    await pages.find()
    assert pages.builder.built == 2


@pytest.mark.parametrize(
    ("error", "stays", "status"),
    [
        (ChangedMeanwhileError("tournament 't' was changed while it was read; try again"), True, 503),
        (ProblemError(BUSY), True, 503),
        (StoreError("match 7 is malformed"), False, 422),
        (UnknownNameError("tournament", "t", []), False, 404),
    ],
)
async def test_where_a_page_can_not_be_built_the_last_one_stays_unless_it_is_wrong(pages, error, stays, status):
    first = await pages.find()
    pages.versions.version, pages.builder.answer = "2", Mock(side_effect=error)
    found = await pages.find()
    assert (found.value, found.is_current, found.age_seconds) == (first.value if stays else None, False, None)
    assert found.problem.status == status
    assert pages.builder.first == [True, False]
    pages.now += FAILURE_SECONDS
    pages.builder.answer = lambda: b"new"
    assert (await pages.find()).value.json == b"new"


@pytest.mark.parametrize(("version", "status"), [("1", 404), ("2", None)])
async def test_while_a_page_is_built_that_may_exist_by_now_it_is_not_said_to_be_missing(pages, version, status):
    pages.versions.version, pages.builder.answer = "1", Mock(side_effect=UnknownNameError("tournament", "t", []))
    assert (await pages.find()).problem.status == 404
    pages.now += FAILURE_SECONDS
    pages.versions.version, pages.builder.answer = version, lambda: b"new"
    pages.builder.may_build.clear()
    found = await pages.find(seconds=0.0)
    assert (found.value, found.problem and found.problem.status) == (None, status)
    pages.builder.may_build.set()
    assert (await pages.find()).value.json == b"new"


async def test_a_defect_is_logged_and_the_last_page_stays(pages, caplog):
    first = await pages.find()
    pages.versions.version, pages.builder.answer = "2", Mock(side_effect=ZeroDivisionError())
    found = await pages.find()
    assert (found.value, found.problem.status) == (first.value, 500)
    assert "ZeroDivisionError" in caplog.text


async def test_what_is_made_of_a_page_is_made_once_and_again_for_another(pages):
    made = []

    async def make():
        made.append(1)
        await asyncio.sleep(0)
        return rendered(b"x", "text/plain")

    value = (await pages.find()).value
    await asyncio.gather(*(value.rendered("", None, make) for _ in range(10)))
    assert len(made) == 1
    pages.now += CURRENT_SECONDS + 1
    pages.builder.answer = lambda: b"1"
    same = (await pages.find()).value
    await same.rendered("", None, make)
    assert len(made) == 1
    pages.versions.version = "2"
    await (await pages.find()).value.rendered("", None, make)
    assert len(made) == 2


async def test_the_oldest_pages_make_room(pages):
    match = PAGE_BY_NAME["match"]
    pages.builder.answer = lambda: b"x" * 500
    for number in range(1, 21):
        await pages.cache.find(match, match.parameters(tournament="t", match=number), 1.0)
        assert pages.cache.size_bytes <= 5000
    before = pages.builder.built
    await pages.cache.find(match, match.parameters(tournament="t", match=20), 1.0)
    assert pages.builder.built == before
    await pages.cache.find(match, match.parameters(tournament="t", match=1), 1.0)
    assert pages.builder.built == before + 1


async def test_nobody_but_a_program_waits_for_a_page_that_can_not_be_there_by_then(pages, monkeypatch):
    page, json = PAGE_BY_NAME["bot"], [(b"accept", b"application/json")]
    waited = []

    async def find(page, parameters, first_seconds, late_seconds):
        waited.append(first_seconds)
        return Found(value=None)

    monkeypatch.setattr(pages.cache, "find", find)
    responses = PageResponses(pages.cache, ServedLinks(asset_digests()), Mock())
    for busy_lanes in (set(), {page.lane}):
        pages.builder.busy_lanes = busy_lanes
        for headers in ((), json):
            await responses.page(request_with(headers), page, {"bot": "a"}, {}, "")
    assert waited == [FIRST_SECONDS[page.lane], PROGRAM_SECONDS, 0.0, PROGRAM_SECONDS]


async def test_pages_that_are_asked_for_once_make_room_for_what_is_made_of_them(pages, monkeypatch):
    match, links = PAGE_BY_NAME["match"], ServedLinks({})
    responses = PageResponses(pages.cache, links, Mock())
    monkeypatch.setattr(pages.builder, "answer", lambda: b'"' + os.urandom(400).hex().encode() + b'"')
    for number in range(1, 21):
        fields = {"tournament": "t", "match": str(number)}
        response = await responses.page(request_with(), match, fields, {}, ".json")
        assert len(response.body) == 802
        held = [entry.value.size_bytes for entry in pages.cache._entries.values()]
        assert sum(held) + ENTRY_BYTES * len(held) == pages.cache.size_bytes <= 5000
        assert max(held) > 1100


async def test_what_an_earlier_server_kept_is_shown_first(pages):
    page = next(page for page in PAGE_BY_NAME.values() if page.lane is Lane.RATINGS)
    parameters = page.parameters(**dict.fromkeys(page.path_fields, "t"))

    async def earlier(page, parameters, has_all_words):
        return "1", BuiltValue(b"kept", 2.5, age_seconds=300.0)

    pages.builder.earlier = earlier
    found = await pages.cache.find(page, parameters, 1.0)
    assert (found.value.json, found.is_current, pages.builder.built) == (b"kept", True, 0)
    pages.versions.version = "2"
    late = await pages.cache.find(page, parameters, 1.0)  # it is known to take more than two seconds
    assert (late.value.json, late.is_current, late.ready_seconds) == (b"kept", False, 2.5)
    await pages.built()
    assert (await pages.cache.find(page, parameters, 1.0)).value.json == b"1"


async def test_what_was_made_for_a_home_without_people_is_not_shown_once_it_has_some(pages):
    await pages.find()
    pages.reads_all = False
    assert (await pages.find()).value.json == b"2"
    assert (await pages.find()).value.json == b"2"


async def test_what_is_being_made_when_the_first_people_come_is_made_again(pages):
    pages.builder.may_build.clear()
    finding = asyncio.create_task(pages.find())
    while not pages.builder.built:
        await asyncio.sleep(0)
    pages.reads_all = False
    pages.builder.answer = lambda: b"words" if pages.builder.built == 1 else b"none"
    pages.builder.may_build.set()
    assert (await finding).value.json == b"none"
    assert pages.builder.kept == [(b"none", False)]


async def test_what_is_being_kept_when_the_first_people_come_is_kept_for_a_home_without_people(pages):
    async def people_come():
        pages.reads_all = False

    pages.builder.may_keep = people_come
    await pages.find()
    await pages.built()
    assert pages.builder.kept == [(b"1", True)]
