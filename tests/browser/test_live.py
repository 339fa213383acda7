import contextlib
import os
import subprocess
import sys
import threading
import time

import pytest

from arena.store.home import ArenaHome
from tests.analysis.text.tournaments import ScriptedExecutor, play
from tests.browser.conftest import PATIENT_MS, built, expect, fresh_parts, served, shown_parts, wait_until
from tests.held_port import held_port
from tests.written_bots import write_bot

pytestmark = pytest.mark.slow


class SteppedExecutor(ScriptedExecutor):
    def __init__(self):
        super().__init__((), "")
        self.allowed = threading.Semaphore(0)
        self.is_over = False

    def run(self, queue):
        for results in super().run(queue):
            while not self.allowed.acquire(timeout=0.05):
                if self.is_over:
                    return
                yield []
            yield results


class Arena:
    """A tournament, of which each test allows some more matches, and its site."""

    def __init__(self, directory, port):
        self.directory = directory
        self.executor = SteppedExecutor()
        self.address = f"http://127.0.0.1:{port}"
        self.server = contextlib.ExitStack()
        self.failure = None
        self.matches = 0
        self.playing = threading.Thread(target=self.play)

    def play(self):
        try:
            with ArenaHome(self.directory) as home:
                play(home, "league", ["alpha", "beta", "gamma"], executor=self.executor, encounters=8)
        except Exception as error:
            self.failure = None if self.executor.is_over else error

    def allow(self, matches):
        self.matches += matches
        self.executor.allowed.release(matches)
        return self.matches

    def wait_until_recorded(self):
        deadline = time.monotonic() + PATIENT_MS / 1000
        with ArenaHome(self.directory) as home:
            while (found := home.store.find_tournament("league")) is None or found.recorded < self.matches:
                if self.failure is not None:
                    raise self.failure
                assert time.monotonic() < deadline, found
                time.sleep(0.02)

    def close(self):
        self.executor.is_over = True
        self.allow(1000)
        self.playing.join()
        self.server.close()


@pytest.fixture(scope="module")
def arena(tmp_path_factory):
    with held_port() as port:
        arena = Arena(tmp_path_factory.mktemp("live") / "home", port)
        arena.allow(6)
        arena.playing.start()
        arena.wait_until_recorded()
        arena.server.enter_context(served(arena.directory, "--port", str(port)))
        built(f"{arena.address}/tournaments/league")
        yield arena
        arena.close()


@pytest.fixture
def context(chromium):
    context = chromium.new_context()
    context.set_default_timeout(PATIENT_MS)
    yield context
    context.close()


@pytest.fixture
def page(arena, context):
    page = context.new_page()
    mistakes = []
    page.on("pageerror", lambda mistake: mistakes.append(str(mistake)))
    page.goto(f"{arena.address}/tournaments/league")
    page.evaluate("window.isFirst = true")
    expect(page.locator("html")).to_have_attribute("data-stream", "open")
    yield page
    assert mistakes == []
    assert page.evaluate("window.isFirst"), "it was never loaded again"


def wait_for(page, matches):
    expect(page.locator("#progress")).to_contain_text(f"{matches} of")


def test_results_change_the_parts_that_show_them_and_nothing_else(arena, page):
    wait_for(page, arena.matches)
    heading = page.locator("#standings-table thead button", has_text="bot").first
    heading.click()
    order = page.locator("#standings-table tbody th.who").all_inner_texts()
    assert order == sorted(order)
    page.evaluate("document.querySelector('h1').isFirst = true; scrollTo(0, 200)")
    before = page.evaluate("scrollY")
    page.locator("#latest a").first.focus()
    focused = page.evaluate("document.activeElement.outerHTML")
    wait_for(page, arena.allow(3))
    assert page.evaluate("document.querySelector('h1').isFirst"), "what is not live stays"
    assert page.evaluate("scrollY") == before
    assert page.evaluate("document.activeElement.outerHTML") == focused
    after = page.locator("#standings-table tbody th.who").all_inner_texts()
    assert after == sorted(after), "the table is still in the order that was chosen"
    assert page.locator("#standings-table thead [aria-sort]").inner_text().startswith("bot")


def test_a_part_in_which_text_is_selected_waits(arena, page):
    wait_for(page, arena.matches)
    page.evaluate("getSelection().selectAllChildren(document.querySelector('#verdict'))")
    selected = page.evaluate("String(getSelection())")
    page.evaluate("document.querySelector('#verdict').isFirst = true")
    wait_for(page, arena.allow(12))
    assert page.evaluate("String(getSelection())") == selected
    assert page.evaluate("document.querySelector('#verdict').isFirst")


def test_after_half_a_minute_without_a_network_it_shows_what_a_fresh_load_shows(arena, chromium, context):
    page = context.new_page()
    page.clock.install()
    address = f"{arena.address}/tournaments/league"
    page.goto(address)
    page.evaluate("window.isFirst = true")
    expect(page.locator("html")).to_have_attribute("data-stream", "open")
    context.set_offline(True)
    arena.allow(7)
    arena.wait_until_recorded()
    page.clock.run_for(30_000)
    expect(page.locator("html")).to_have_attribute("data-stream", "lost")
    few = f"{arena.matches - 2} of"  # Chromium may still end a request that has begun
    expect(page.locator("#progress")).not_to_contain_text(few)
    context.set_offline(False)
    wait_for(page, arena.matches)
    expect(page.locator("html")).to_have_attribute("data-stream", "open")
    while shown_parts(page) != fresh_parts(chromium, address):  # the test's own time limit ends it
        pass
    assert page.evaluate("window.isFirst"), "it was never loaded again"


def test_tabs_share_a_stream(arena, page, context):
    streams = {page: 1}
    for event, change in (("request", 1), ("requestfinished", -1), ("requestfailed", -1)):
        context.on(event, lambda request, change=change: count(streams, request, change))
    others = [context.new_page() for _ in range(2)]
    for other in others:
        other.goto(f"{arena.address}/")
        expect(other.locator("html")).to_have_attribute("data-stream", "open")
    wait_for(page, arena.allow(2))
    for other in others:
        expect(other.locator("#tournaments")).to_contain_text(f"{arena.matches} of")
    wait_until(page, lambda: sum(streams.values()) == 1)
    page.goto("about:blank")
    arena.allow(2)
    for other in others:
        expect(other.locator("#tournaments")).to_contain_text(f"{arena.matches} of")
    wait_until(page, lambda: sum(streams.values()) == 1)
    page.evaluate("window.isFirst = true")


def count(streams, request, change):
    if "/events?" in request.url:
        streams[request.frame.page] = streams.get(request.frame.page, 0) + change


BOT = """
import sys
from _wire import answer, play, send

steps = open({pipe!r}, "rb", buffering=0)

def think(message):
    if steps.read(1) == b"x":
        sys.exit(3)
    send(answer(message))

play(think)
"""


class Watched:
    """A tournament of one encounter whose bots wait for a byte before each action, and its site."""

    def __init__(self, directory, port):
        self.home = directory / "home"
        ArenaHome(self.home).close()
        bots = directory / "bots"
        bots.mkdir()
        pipe = bots / "steps"
        os.mkfifo(pipe)
        pipe.chmod(0o666)
        self.steps = os.open(pipe, os.O_RDWR)
        write_bot(bots / "bot.py", BOT.format(pipe=str(pipe)))
        (bots / "bot.toml").write_text(f'name = "bot"\nversion = "1"\ncommand = ["{sys.executable}", "bot.py"]\n')
        entrants = "".join(f'[[entrants]]\nname = "{name}"\nbot = "{bots}"\n' for name in ("ada", "bob"))
        self.file = directory / "steps.toml"
        self.file.write_text(
            'game = "differences"\noptions = { size = 6 }\nencounters = 1\nopening_plies = 0\nisolation = "none"\n'
            f"[time_control]\nper_action_seconds = 40\nbank_seconds = 500\n{entrants}"
        )
        self.address = f"http://127.0.0.1:{port}"
        self.match = f"{self.address}/tournaments/steps/matches/1"
        self.server = self.start("serve", "--port", str(port))
        assert self.address in self.server.stdout.readline()
        self.run = self.start("run", "--workers", "1", "--quiet", str(self.file))

    def start(self, command, *arguments):
        everything = [sys.executable, "-m", "arena", "--home", str(self.home), command, *arguments]
        return subprocess.Popen(everything, stdout=subprocess.PIPE, text=True)

    def close(self):
        os.write(self.steps, b"." * 1000)
        for process in (self.run, self.server):
            process.terminate()
            process.wait(60)
            process.stdout.close()
        os.close(self.steps)


@pytest.fixture
def watched(tmp_path, port):
    watched = Watched(tmp_path, port)
    try:
        with ArenaHome(watched.home) as home:
            while not any(one.name == "steps" for one in home.store.tournaments()):
                assert watched.run.poll() is None
        built(f"{watched.address}/tournaments/steps")
        yield watched
    finally:
        watched.close()


def expect_clock(page, seat):
    expect(page.locator(f'[data-seat="{seat}"] [data-clock-since]')).to_be_visible()
    expect(page.locator("[data-clock-since]")).to_have_count(1)


def test_a_match_is_found_and_seen_ply_by_ply_and_then_its_result_with_faults(watched, chromium):
    context = chromium.new_context()
    context.set_default_timeout(PATIENT_MS)
    page = context.new_page()
    mistakes = []
    page.on("pageerror", lambda mistake: mistakes.append(str(mistake)))
    page.goto(f"{watched.address}/tournaments/steps")
    page.evaluate("window.isFirst = true")
    link = page.locator("#progress a", has_text="Watch ada – bob")
    expect(link).to_be_visible()
    assert page.evaluate("window.isFirst")
    link.click()
    page.wait_for_url(watched.match)
    expect_clock(page, 0)
    page.evaluate("window.isFirst = true")
    for ply in range(1, 5):
        os.write(watched.steps, b".")
        expect(page.locator("#actions li")).to_have_count(ply)
        expect_clock(page, ply % 2)
        expect(page.locator("#ply")).to_have_text(f"ply {ply} of {ply}")
    expect(page.locator("#result")).to_contain_text("being played")
    shown = [float(text.split()[0]) for text in page.locator(".seats .clock").all_inner_texts()]
    assert all(440 <= left <= 500 for left in shown), "both of the bank of 500 seconds, not of the 40 of an action"
    clock = page.locator("[data-clock-since]")
    expect(clock).not_to_have_text(clock.inner_text())
    expect(page.locator("h2", has_text="Seats")).to_have_count(0)
    os.write(watched.steps, b"x")
    expect(page.locator("#result")).to_contain_text("ada forfeits")
    expect(page.locator("#faults .badge")).to_have_text("exit")
    expect(page.locator("#seat-reports tbody tr")).to_have_count(2)
    assert '"termination":"forfeit"' in page.locator("#match-data").text_content()
    expect(page.locator("[data-clock-since]")).to_have_count(0)
    assert page.evaluate("window.isFirst"), "it was never loaded again"
    assert mistakes == []
    context.close()
