"""A home of every kind of tournament, its site as a program of its own, and a browser that looks at it."""

import contextlib
import re
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.request
from functools import partial
from http import HTTPStatus

import pytest

from arena.lab.matches.annotating import Annotator, TournamentAnnotator
from arena.lab.matches.puzzle import keep_puzzles
from arena.lab.solving.limits import Limits
from arena.store.home import ArenaHome
from arena.store.results.values import OwnedBot
from tests.analysis.text.tournaments import play
from tests.lab.made_puzzles import longer_puzzle, made_puzzle
from tests.written_bots import kit_bot

BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The first of them draws no windows, which takes a third less time."""

PATIENT_MS = 60_000
QUIET = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--process-per-site", "--renderer-process-limit=1",
)  # fmt: skip
"""The browser sends no requests of its own, and one process renders all pages."""

SMALL_LADDER = """
game = "differences"
options = { size = 4 }
format = "ladder"
[ladder]
matches = 2
[[entrants]]
bot = "arena:minimal"
[[entrants]]
bot = "arena:random_legal"
"""
"""A ladder that is played within seconds."""

PASSWORD = "correct horse battery"
NOTE = "</script><img src=x onerror=alert(1)> \x1b[31m \u202edlrow ]]> {{7*7}} =cmd()"


def fill(home):
    bots = ["alpha", "beta", "gamma", "delta"]
    league = play(home, "league", bots, encounters=2, opening_plies=2)
    list(TournamentAnnotator(home.store, league, partial(Annotator, limits=Limits())).annotate(match=1))
    keep_puzzles(home.directory, league, [made_puzzle(), longer_puzzle()])
    play(home, "forfeits", ["alpha", "<b>bold</b>", "100%? #1 & so"], failing=["<b>bold</b>"], note=NOTE, encounters=4)
    swiss = play(home, "swiss", [*bots, "epsilon"], format="swiss", settings={"rounds": 3}, encounters=2)
    epsilon = swiss.definition.entrants[4]
    home.store.set_owner(OwnedBot(epsilon.label, epsilon.digest, "ada"))
    play(home, "cup", bots, format="knockout", encounters=3)
    play(home, "three", bots, [("multiplication", {"size": 10, "players": 3})], encounters=2)


@pytest.fixture(scope="session")
def home_directory(tmp_path_factory):
    directory = tmp_path_factory.mktemp("site-home")
    with ArenaHome(directory) as home:
        fill(home)
    return directory


@contextlib.contextmanager
def served(home_directory, *options):
    command = [sys.executable, "-m", "arena", "serve", "--home", str(home_directory), "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        yield re.search(r"http://127\.0\.0\.1:\d+", server.stdout.readline()).group()
        server.terminate()
        assert server.wait(60) in (0, -15)


@pytest.fixture(scope="module")
def site(home_directory):
    with served(home_directory) as address:
        yield address


def built(address):
    """Return a page once it has been built, all of it; the test's own time limit ends the wait."""
    while True:
        try:
            with urllib.request.urlopen(address) as answer:
                if answer.status == HTTPStatus.OK and answer.headers["retry-after"] is None:
                    return answer.read().decode()
        except urllib.error.HTTPError as error:
            if error.status != HTTPStatus.SERVICE_UNAVAILABLE:  # as on a machine that is too busy to build it in time
                raise
        time.sleep(0.05)


@contextlib.contextmanager
def a_browser():
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip("needs chromium")
    playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
    playwright.expect.set_options(timeout=PATIENT_MS)
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=QUIET)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def chromium():
    with a_browser() as browser:
        yield browser


def expect(what):
    """Return Playwright's assertions about a page or a part of it, which wait; imported when a browser is there."""
    from playwright.sync_api import expect

    return expect(what)


PARTS = """[...document.querySelectorAll('[data-live][id]')].map((part) => {
  const copy = part.cloneNode(true);
  for (const clock of copy.querySelectorAll('[data-clock-since]')) clock.textContent = "some time";
  return `${part.id}: ${copy.textContent.replace(/\\s+/g, " ").replace(/[0-9.]+ a minute/, "some a minute")}`;
}).join('\\n')"""


def wait_until(page, is_so):
    deadline = time.monotonic() + PATIENT_MS / 1000
    while not is_so():
        assert time.monotonic() < deadline
        page.wait_for_timeout(50)


def shown_parts(page):
    """Return what the live parts of a page say, but for running clocks and the rate, which sinks by itself."""
    return page.evaluate(PARTS)


def fresh_parts(chromium, address):
    context = chromium.new_context()
    page = context.new_page()
    while page.goto(address).headers.get("retry-after"):
        time.sleep(0.2)
    parts = shown_parts(page)
    context.close()
    return parts


def submit_bot(page, site, path, name):
    path.write_text(kit_bot(action=f"game.{name}(state)[0]"))
    page.goto(f"{site}/submissions")
    page.get_by_label("Your bot").set_input_files(path)
    page.get_by_role("button", name="Submit it").click()
