import os
import subprocess
import sys

import pytest

from arena.store.home import ArenaHome
from tests.browser.conftest import PATIENT_MS, built, expect
from tests.written_bots import write_bot

pytestmark = pytest.mark.slow

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
    before = clock.inner_text()
    expect(clock).not_to_have_text(before)
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
