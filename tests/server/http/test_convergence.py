import asyncio

from hypothesis import example, given
from hypothesis import strategies as st

from arena.server.http.builder_messages import BuiltValue
from arena.server.http.page_cache import PageCache
from arena.site.page_table import PAGE_BY_NAME
from arena.site.pages.tournament_model import TournamentParameters
from tests.server.conftest import FakeVersions

PAGE, PARAMETERS = PAGE_BY_NAME["tournament"], TournamentParameters(tournament="t")
ACTIONS = ("event", "run", "ask", "built", "restart", "wait")


class SlowBuilder:
    """Builds from what there was when it began, and is ready when the test says so; keeps the last value."""

    def __init__(self, versions):
        self.versions, self.kept, self.ready = versions, None, asyncio.Event()

    def is_busy(self, _):
        return False

    async def build(self, page, parameters, is_first):
        seen = shown(self.versions)
        await self.ready.wait()
        return BuiltValue(seen, 5.0)

    async def earlier(self, page, parameters, has_all_words):
        return self.kept

    async def keep(self, page, parameters, version, value, has_all_words):
        self.kept = (version, value)


def shown(versions):
    return f"{versions.version}, {versions.progress or 'not played'}".encode()


class Site:
    def __init__(self):
        self.now, self.changes = 100.0, 1
        self.versions = FakeVersions()
        self.builder = SlowBuilder(self.versions)
        self.start()

    def start(self):
        self.cache = PageCache(self.builder, self.versions, lambda: self.now)

    async def act(self, action):
        self.changes += 1
        match action:
            case "event":
                self.versions.version = str(self.changes)
            case "run":  # it begins, or it ends
                self.versions.progress = "" if self.versions.progress else f"since {self.changes}"
            case "ask":
                await self.ask()
            case "built":
                self.builder.ready.set()
                for _ in range(10):
                    await asyncio.sleep(0)
                self.builder.ready.clear()
            case "restart":
                await self.cache.close()
                self.start()
            case "wait":
                self.now += 20.0

    async def ask(self):
        """Ask for the page, and expect that it is as new as what has happened unless it says that it is not."""
        found = await self.cache.find(PAGE, PARAMETERS, 0.0)
        assert not found.is_current or found.value.json == shown(self.versions)
        await asyncio.sleep(0)  # the build begins, and reads: not after a run that begins and ends meanwhile
        return found

    async def settle(self):
        for _ in range(5):
            found = await self.ask()
            if found.is_current:
                return
            await self.act("built")
            self.now += found.ready_seconds
        raise AssertionError("it is behind for ever")


@given(st.lists(st.sampled_from(ACTIONS), max_size=30))
@example(["run", "ask", "built", "run", "restart", "ask"])
@example(["ask", "run", "built", "run", "ask"])
def test_a_page_is_as_new_as_what_was_seen_or_says_that_it_is_late(actions):
    async def follow():
        site = Site()
        for action in actions:
            await site.act(action)
        await site.settle()
        await site.cache.close()

    asyncio.run(follow())
