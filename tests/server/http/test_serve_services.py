import io
import json
import os
import signal
import subprocess
import sys
import urllib.request
import zipfile
from functools import partial
from pathlib import Path

import pytest

from arena.community.submissions.upload_directory import UploadDirectory
from arena.community.uploads.containment import NO_CHECKER, note_containment, noted_refusal
from arena.sandbox.isolation import reaper
from arena.server.operating.service_programs import SERVICES
from arena.store.home import ArenaHome, open_people
from arena.store.people.unrated_match import Choices, MatchState
from arena.store.people.values import Role, SubmissionState
from tests import needs
from tests.cli.calls import calling, refusal
from tests.leftovers import command_line, command_lines, own_errors
from tests.server.http.test_serve import served
from tests.tournament.executors.test_conformance import wait_for_the_end_of
from tests.waiting import wait_until
from tests.written_bots import kit_bot

REFUSED = {
    ("--only", "web", "--ladder", "x.toml"): "--ladder: --only web has no use for it",
    ("--only", "web", "--play-slots", "2"): "--play-slots: --only web has no use for it",
    ("--only", "work", "--port", "8000"): "--port: --only work has no use for it",
    ("--only", "work", "--open-to", "authors"): "--open-to: --only work has no use for it",
    ("--open-to", "authors", "--ladder", "none", "--ladder", "x"): "--ladder none: no ladder is played, so leave out",
    ("--only", "work", "--ladder", "missing.toml"): "missing.toml: there is no such file",
    ("--only", "checker"): "'checker' is not one of 'web', 'work'.",
}


@pytest.mark.parametrize(("arguments", "sentence"), REFUSED.items(), ids=" ".join)
def test_what_a_service_cannot_do_is_said_in_a_sentence(tmp_path, capsys, arguments, sentence):
    assert sentence in refusal(calling(tmp_path, capsys), "serve", *arguments)


class Alone:
    def __init__(self, home, *arguments):
        command = [sys.executable, "-m", "arena", "serve", "--home", str(home), "--only", *arguments]
        heard = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # which is ignored in the background
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heard
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def end(self, number):
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out, own_errors(err)


@pytest.mark.slow
def test_what_checks_and_plays_ends_quietly_with_all_that_it_has_started(tmp_path):
    with Alone(tmp_path, "work") as alone:
        wait_until(lambda: len(services_below(alone)) == len(SERVICES), alive=[alone.process])
        started = services_below(alone)
        ended, out, err = alone.end(signal.SIGINT)
        assert (ended, out, err.strip()) == (130, "", "")  # behind ^C comes the end of a line
    assert not [one for one in started if Path(f"/proc/{one}").exists()]


def services_below(alone):
    modules = {part.module for part in SERVICES}
    lines = command_lines(reaper.descendants(alone.process.pid))
    return {process for process, words in lines.items() if modules & set(words)}


@pytest.mark.slow
def test_a_second_one_on_a_home_is_refused_and_the_first_works_on(tmp_path, capsys):
    with ArenaHome(tmp_path):
        pass
    with Alone(tmp_path, "work") as first:
        lock = tmp_path / "parts" / "work.lock"
        wait_until(lambda: lock.exists() and lock.read_text() != "", alive=[first.process])
        holder = f"(process {first.process.pid}); nothing was changed"
        for arguments in (["--only", "work"], ["--open-to", "authors", "--port", "0"]):
            sentence = refusal(calling(tmp_path, capsys), "serve", *arguments)
            assert sentence == f"{tmp_path}: another arena serve runs its work {holder}"
        assert first.process.poll() is None
        with served("--home", tmp_path, "--only", "web", "--open-to", "authors") as web:
            assert web.get("/submissions")[0] == 200
            sentence = refusal(calling(tmp_path, capsys), "serve", "--open-to", "authors", "--port", "0")
            assert "another arena serve runs its web (process" in sentence


@pytest.mark.slow
def test_what_is_submitted_waits_for_the_checker_and_the_other_way_round(tmp_path):
    needs.contained_uploads()
    with open_people(tmp_path) as people:
        ada = people.accounts.add("ada", Role.AUTHOR, "test")
    with served("--home", tmp_path, "--only", "web", "--open-to", "authors") as web:
        assert NO_CHECKER in _submissions(web)["refusal"]
        note_containment(tmp_path, "")
        assert _submissions(web)["refusal"] == ""  # the checker has begun meanwhile
        with open_people(tmp_path) as people:
            with UploadDirectory(tmp_path / "uploads").receive() as receiving:
                receiving.write(b"print()\n")
                came = receiving.keep()
            number = people.submissions.add(ada, came.name, came.digest, came.size_bytes, "bot.py", "").number
            with Alone(tmp_path, "work", "--ladder", "none") as checker:
                wait_until(
                    lambda: people.submissions.find(number).state is not SubmissionState.WAITING,
                    alive=[checker.process],
                )
                web.process.kill()  # the checker does without
                web.process.wait()
                wait_until(lambda: people.submissions.find(number).finished_at is not None, alive=[checker.process])
                assert noted_refusal(tmp_path) == ""
                assert checker.end(signal.SIGTERM)[0] == 0


def _submissions(web):
    request = urllib.request.Request(f"http://{web.address}/submissions", headers={"accept": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.loads(response.read())


NEVER_ANSWERS = kit_bot("import time; time.sleep(1_000_000)")
NEVER_BUILT = """name = "built"
version = "1"
command = ["python3", "bot.py"]
build = ["sleep", "1000000"]
"""


def prepare(directory, people):
    """Return the label of a bot that never answers, and the number of a submission that is never built."""
    with ArenaHome(directory) as home:
        file = directory / "thinker.py"
        file.write_text(NEVER_ANSWERS)
        bot = home.bots.copy_in(file)
        home.bots.add(bot)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("bot.toml", NEVER_BUILT)
        archive.writestr("bot.py", "")
    with UploadDirectory(directory / "uploads").receive() as receiving:
        receiving.write(packed.getvalue())
        came = receiving.keep()
    ada = people.accounts.add("ada", Role.AUTHOR, "test")
    return bot.label, people.submissions.add(ada, came.name, came.digest, came.size_bytes, "built.zip", "").number


@pytest.mark.slow
def test_it_ends_quietly_leaves_no_process_and_what_was_begun_is_begun_again_at_once(tmp_path):
    needs.contained_uploads()
    with open_people(tmp_path) as people:
        bot, submission = prepare(tmp_path, people)
        command = [sys.executable, "-m", "arena", "serve", "--home", str(tmp_path), "--open-to", "authors"]
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
        heard = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # which is ignored in the background
        site = subprocess.Popen([*command, "--port", "0"], preexec_fn=heard, **options)
        ended = lambda: site.poll() is not None and site.communicate()  # noqa: E731
        until = partial(wait_until, explained=ended, alive=[site])
        try:
            until(lambda: people.unrated_matches.menu() is not None)
            choices = {"game": "differences", "options": '{"size": 4}', "seat": 1, "per_action_milliseconds": 60_000}
            match = people.unrated_matches.begin(Choices(bot=bot, **choices), None, "192.0.2.1")
            found = partial(people.unrated_matches.find, match.secret)
            until(lambda: found().position.state is MatchState.BOT)
            until(lambda: any(b"1000000" in command_line(pid) for pid in reaper.descendants(site.pid)))
            processes = reaper.descendants(site.pid)
            os.killpg(site.pid, signal.SIGINT)  # as a terminal does
            _, errors = site.communicate(timeout=60)
        finally:
            site.kill()
            site.communicate()
        assert (site.returncode, own_errors(errors)) == (130, "")
        wait_for_the_end_of(processes)
        assert people.submissions.find(submission).state is SubmissionState.WAITING
        assert found().is_waiting
        assert people.unrated_matches.claim(match.number) is not None
