import io
import os
import signal
import subprocess
import sys
import zipfile
from functools import partial

import pytest

from arena.community.submissions.upload_directory import UploadDirectory
from arena.sandbox.isolation import reaper
from arena.store.home import ArenaHome, open_people
from arena.store.people.unrated_match import Choices, MatchState
from arena.store.people.values import Role, SubmissionState
from tests import needs
from tests.leftovers import command_line, own_errors
from tests.tournament.executors.test_conformance import wait_for_the_end_of
from tests.waiting import wait_until
from tests.written_bots import kit_bot

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
