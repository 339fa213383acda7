"""The server and the director are killed while fifty look: in the end all see what a fresh load shows.

Six are pages in Chromium, each in a browser of its own. The others are threads that read streams and ask for pages:
half of them take up the stream where it was cut, as programs do; half ask for the page when it opens, as live.js does.
"""

import contextlib
import difflib
import http.client
import json
import random
import signal
import subprocess
import sys
import threading
import time
from http import HTTPStatus

import pytest

from arena.store.home import ArenaHome
from tests.browser.conftest import chromium, expect, fresh_parts, shown_parts  # noqa: F401
from tests.waiting import wait_until

pytestmark = pytest.mark.soak

KILLS = 100
READERS = 44
PAGES = (
    "/",
    "/tournaments/t",
    "/tournaments/t/matches",
    "/tournaments/t/matches/{last}",
    "/bots/greedy",
    "/leaderboards/differences",
)
SECONDS_TO_AGREE = 120

DEFINITION = """
name = "t"
game = "differences"
options = {{ size = 8 }}
format = "round-robin"
encounters = {encounters}
opening_plies = 2
rng_seed = 1
[[entrants]]
bot = "arena:greedy"
[[entrants]]
bot = "arena:mcts"
args = ["--rollouts", "100"]
[[entrants]]
bot = "arena:random_legal"
"""


@contextlib.contextmanager
def answered(port, path, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    with contextlib.closing(connection):
        connection.request("GET", path, headers=headers)
        with connection.getresponse() as answer:
            yield answer


class Reader(threading.Thread):
    def __init__(self, port, path, has_cursor):
        super().__init__(daemon=True)
        self.port, self.path, self.has_cursor = port, path, has_cursor
        self.numbers = []  # of events
        self.cuts = 0
        self.shown, self.cursor = None, None
        self.is_over = False

    def run(self):
        while not self.is_over:
            try:
                self.read()
            except (OSError, http.client.HTTPException):
                self.cuts += 1
                time.sleep(0.05)

    def look(self):
        while not self.is_over:
            with answered(self.port, self.path, accept="application/json") as answer:
                value = json.loads(answer.read())
            if answer.status == HTTPStatus.OK and answer.headers["retry-after"] is None:
                self.shown = value
                return
            time.sleep(0.2)

    def read(self):
        headers = {"last-event-id": self.cursor} if self.cursor and self.has_cursor else {}
        with answered(self.port, "/events?topics=tournaments/t", **headers) as answer:
            if answer.status != HTTPStatus.OK:
                raise OSError(answer.status)
            if self.shown is None or not self.has_cursor:
                self.look()
            for block in iter(lambda: self.block(answer), {}):
                kind, data = block.get("event"), json.loads(block.get("data", "{}"))
                if "seq" in data:
                    self.numbers.append(data["seq"])
                self.cursor = block.get("id", self.cursor)  # before the page is asked for: that may fail
                if kind:
                    self.shown = None
                    self.look()

    @staticmethod
    def block(answer):
        fields = {}
        while line := answer.readline().decode():
            if line == "\n":
                return fields or {"": ""}
            name, _, value = line.rstrip("\n").partition(": ")
            fields[name] = value
        return {}


class Storm:
    def __init__(self, directory, definition, port):
        self.home, self.definition, self.port = directory, definition, port
        self.server = self.director = None

    def arena(self, *arguments):
        command = [sys.executable, "-m", "arena", *map(str, arguments), "--home", str(self.home)]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def play(self):
        if self.director is None or self.director.poll() is not None:
            self.director = self.arena("run", self.definition, "-q")

    def serve(self):
        if self.server is None or self.server.poll() is not None:
            self.server = self.arena("serve", "--port", self.port)

    def recorded(self):
        with contextlib.suppress(Exception), ArenaHome(self.home, must_exist=True) as home:
            tournament = home.store.tournament("t")
            return tournament.recorded, tournament.scheduled
        return 0, 1

    def address(self, path):
        return f"http://127.0.0.1:{self.port}{path}"

    def is_up(self):
        try:
            with answered(self.port, "/health.json") as answer:
                return answer.status == HTTPStatus.OK
        except (OSError, http.client.HTTPException):
            return False

    def kill(self, rng, kills):
        for number in range(kills):
            self.play()
            self.serve()
            before = self.recorded()[0]
            wait_until(self.is_up)
            if number % 2:
                wait_until(lambda before=before: self.recorded()[0] > before)
            time.sleep(rng.uniform(0, 0.7))
            victim = self.director if number % 2 else self.server
            assert victim.poll() is None, "it has ended by itself"
            victim.kill()
            victim.wait()

    def end(self):
        for process in (self.server, self.director):
            if process is not None:
                process.kill()
                process.wait()


@pytest.fixture
def storm(tmp_path, port):
    definition = tmp_path / "t.toml"
    definition.write_text(DEFINITION.format(encounters=KILLS * 100))
    storm = Storm(tmp_path / "home", definition, port)
    storm.play()
    wait_until(lambda: storm.recorded()[0] > 0)
    storm.serve()
    wait_until(storm.is_up)
    yield storm
    storm.end()


def test_all_who_look_end_with_what_a_fresh_load_shows(storm, chromium):  # noqa: F811
    readers = [
        Reader(storm.port, ("/tournaments/t", "/tournaments/t/matches")[number % 2], has_cursor=number % 4 < 2)
        for number in range(READERS)
    ]
    for reader in readers:
        reader.start()
    contexts = [chromium.new_context() for _ in PAGES]  # a browser each, so that each has a stream of its own
    addresses = [storm.address(path.format(last=storm.recorded()[1])) for path in PAGES]
    pages = [context.new_page() for context in contexts]
    mistakes = []
    for page, address in zip(pages, addresses, strict=True):
        page.on("pageerror", lambda mistake: mistakes.append(str(mistake)))
        page.goto(address)
        expect(page.locator("html")).to_have_attribute("data-stream", "open", timeout=60_000)
        page.evaluate("window.isFirst = true")

    storm.kill(random.Random(KILLS), KILLS)
    storm.play()
    storm.serve()
    wait_until(storm.is_up)
    storm.director.send_signal(signal.SIGINT)
    storm.director.wait(60)

    deadline = time.monotonic() + SECONDS_TO_AGREE
    for page, address in zip(pages, addresses, strict=True):
        while (shown := shown_parts(page)) != (expected := fresh_parts(chromium, address)):
            assert time.monotonic() < deadline, "\n".join(
                [address, *difflib.ndiff(shown.splitlines(), expected.splitlines())]
            )
            time.sleep(0.5)
        assert page.evaluate("window.isFirst"), "it was never loaded again"
    assert mistakes == []

    for reader in readers:
        with answered(storm.port, reader.path, accept="application/json") as answer:
            expected = json.loads(answer.read())
        wait_until(lambda reader=reader, expected=expected: reader.shown == expected, SECONDS_TO_AGREE)
        first = reader.numbers[0]
        is_whole = reader.numbers == list(range(first, first + len(reader.numbers)))
        assert is_whole or not reader.has_cursor, "nothing is left out or comes twice"
        reader.is_over = True
    assert all(reader.cuts >= KILLS // 4 for reader in readers)
