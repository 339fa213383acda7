"""The program of a slot, when the play host ends it."""

import os
import subprocess
import sys
import time

import pytest

from arena.store.home import open_people
from arena.store.people.unrated_match import MatchState
from tests.leftovers import no_process_left
from tests.written_bots import kit_bot

PROGRAM = "import sys; from arena.community.play.slot import main; main(sys.argv[1:])"


def play_until(directory, matches, secret, state):
    """Start the program for a match, end it as soon as the match has this state, and return its exit code."""
    number = matches.find(secret).number
    arguments = [str(os.getpid()), str(directory), "auto", str(number)]
    slot = subprocess.Popen([sys.executable, "-c", PROGRAM, *arguments])
    try:
        while matches.find(secret).position.state is not state:
            assert slot.poll() is None
            time.sleep(0.02)
        slot.terminate()
        return slot.wait()
    finally:
        slot.kill()
        slot.wait()


@pytest.mark.slow
def test_a_match_that_is_left_while_its_bot_thinks_can_be_played_on_at_once(tmp_path, playing):
    label = playing.submit(kit_bot("import time; time.sleep(600)"), "mine")
    playing.matches.set_menu("{}", 4)
    one = playing.begin(bot=label, seat=1, size=4, milliseconds=60_000)
    with no_process_left(), open_people(tmp_path) as people:
        assert play_until(tmp_path, people.unrated_matches, one.secret, MatchState.BOT) == 0
        assert people.unrated_matches.waiting() == [one.number]
