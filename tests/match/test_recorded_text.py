import sys
from pathlib import Path

import pytest

import arena
from arena.base.errors import BotError
from arena.base.records import Bot, SeatReport
from arena.match.players.bot_output import GAP, HiddenPaths
from arena.match.players.player import ScriptedPlayer
from arena.match.referee import Referee
from tests.matches import small_match

HOME = "/srv/grid/.arena"
PLACE = f"{HOME}/bots/b6e4"


def bot(name, directory=PLACE):
    return Bot(name=name, version="1", command=("./x.py",), directory=directory)


@pytest.mark.parametrize(
    ("recorded", "kept"),
    [
        (f'File "{PLACE}/s17/x.py", line 5', 'File "s17/x.py", line 5'),
        (f"I am in {PLACE}", "I am in ."),
        (f"{HOME}/people.sqlite3 and {HOME}/bots/c7/y.py", "<home>/people.sqlite3 and <home>/bots/c7/y.py"),
        (f"{Path(arena.__file__).parent}/botkit/seat.py", "<arena>/botkit/seat.py"),
        (f"{sys.prefix}/lib/x.py", "<python>/lib/x.py"),
        (f"{sys.prefix}3/x.py {HOME}.old/y {PLACE}-2", f"{sys.prefix}3/x.py {HOME}.old/y <home>/bots/b6e4-2"),
        (f"I was in {PLACE}.", "I was in .."),
        ("/usr/lib/python3/x.py", "/usr/lib/python3/x.py"),
        (f"at {PLACE[:12]}{GAP}{PLACE[12:]}/x.py", f"at {GAP}x.py"),
        (f"a{GAP}d/.arena/bots/b6e4/x.py", f"a{GAP}x.py"),
        ("no path", "no path"),
    ],
)
def test_paths_of_this_machine_leave_a_text(recorded, kept):
    assert HiddenPaths([bot("a")]).removed(recorded) == kept


class Shouting(ScriptedPlayer):
    text = ""

    def end(self, *_):
        return SeatReport(stderr=self.text)


def played(text, fails):
    def choose(request):
        if fails:
            raise BotError("exit", f"{PLACE}/x.py ended")
        return request.legal[0]

    players = [Shouting(choose), Shouting(choose)]
    for player in players:
        player.text = text
    return Referee(small_match(bot("a"), bot("b")), players).play()


@pytest.mark.parametrize(
    ("fails", "size", "kept"),
    [(False, 4096, 4096), (False, 4097, 4096 + len(GAP)), (False, 70_000, 4096 + len(GAP)), (True, 70_000, 70_000)],
)
def test_a_match_without_a_fault_keeps_the_first_and_the_last_two_kibibytes(fails, size, kept):
    text = "a" * (size // 2) + "z" * (size - size // 2)
    for seat in played(text, fails).seats:
        recorded = seat.stderr.for_operator()
        assert (len(recorded), recorded[:2048], recorded[-2048:]) == (kept, "a" * 2048, "z" * 2048)


def test_the_detail_of_a_fault_has_no_path_either():
    assert [fault.detail.for_operator() for fault in played("", True).faults] == ["x.py ended"]
