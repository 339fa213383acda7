import shutil
from pathlib import Path

import pytest

from arena.analysis.measures.standings_cache import standings_of
from arena.base.errors import BotDefinitionError, UsageError
from arena.base.names import as_file_name, check_tournament_name, is_name, is_version
from arena.community.submissions.submission import submit
from arena.kits.languages import LANGUAGES
from arena.kits.new_bot import new_bot
from arena.match.players.manifest import load_bot
from arena.protocol.messages import read_ready
from arena.tournament.definition import load_definition
from arena.tournament.director import run_tournament
from tests.conftest import ROOT

GOOD = [
    "a", "my_bot", "greedy 2", "Grüße", "世界", "Ёжик", "हिन्दी", "a.b-c_d", "=1+1", "+1", "(x)", "☃",
    "x" * 64, "1e5", "null",
]  # fmt: skip

BAD = {
    "nothing": "",
    "a space": " ",
    "spaces around": " a ",
    "two spaces inside": "a  b",
    "too long": "x" * 65,
    "the directory above": "..",
    "a hidden file": ".a",
    "an option": "-a",
    "a person": "human",
    "a person in capitals": "HUMAN",
    "a person in full width": "ｈｕｍａｎ",
    "a path": "a/b",
    "a path of Windows": "a\\b",
    "a version": "a@1",
    "a control character": "a\x07",
    "an escape": "\x1b[2J",
    "a line break": "a\nb",
    "nothing but zero width": "\u200b\u200c\u200d",
    "a zero width space inside": "gre\u200bedy",
    "a byte order mark": "\ufeffgreedy",
    "right to left first": "\u202eydeerg",
    "a no-break space": "a\u00a0b",
    "a Hangul filler": "\u3164",
    "a halfwidth Hangul filler": "a\uffa0",
    "an empty Braille cell": "\u2800",
    "a variation selector": "a\ufe0f",
    "a tag": "a\U000e0041",
    "an accent on nothing": "\u0301a",
    "an accent that is a letter of its own": "e\u0301",
    "a surrogate": "a\ud800",
    "a private character": "a\ue000",
    "a character that is none": "a\uffff",
}


def test_names_and_versions_that_people_can_tell_apart_are_accepted():
    assert [name for name in GOOD if not is_name(name)] == []
    assert all(map(is_version, ("1", "2.0.1", "1.0-rc.1+build5", "v3", "x" * 64)))


NO_VERSIONS = ["<b>1</b>", "1_0", "1 0", "1..0", ".1", "1.", "+1", "1\n", "1é", "\u0661", "1\u0430", '1"', "", "x" * 65]


@pytest.mark.parametrize("version", NO_VERSIONS)
def test_other_versions_are_refused(tmp_path, version):
    with pytest.raises(BotDefinitionError, match=r"version = .*: expected 1 to 64 letters a-z or A-Z and digits"):
        load_bot(make_bot(tmp_path / "a", version=version))


@pytest.mark.parametrize("what", BAD)
def test_other_names_are_refused(what):
    assert not is_name(BAD[what])


def toml(text):
    return '"' + "".join(rf"\U{ord(letter):08x}" for letter in text) + '"'


def make_bot(directory, name="a", version="1"):
    directory.mkdir(parents=True)
    shutil.copy(ROOT / "bots/minimal/bot.py", directory)
    text = f'name = {toml(name)}\nversion = {toml(version)}\ncommand = ["python3", "bot.py"]\ngames = ["differences"]\n'
    (directory / "bot.toml").write_text(text)
    return directory


SAMPLE = ("the directory above", "a person", "nothing but zero width", "right to left first", "a Hangul filler")


@pytest.mark.parametrize("what", SAMPLE)
def test_the_rule_holds_wherever_a_name_is_accepted(tmp_path, what):
    bad = BAD[what]
    with pytest.raises(BotDefinitionError, match=r"name = .*: expected 1 to 64 visible characters"):
        load_bot(make_bot(tmp_path / "named", name=bad))
    if bad != "..":
        with pytest.raises(BotDefinitionError, match=r"name = .*: expected 1 to 64"):
            load_bot(Path(shutil.copy(ROOT / "bots/minimal/bot.py", tmp_path / f"{bad}.py")))
    with pytest.raises(UsageError, match="expected 1 to 64"):
        new_bot(tmp_path / "x" / bad if bad != ".." else Path(".."), LANGUAGES["python"], ())
    if what != "a person":
        with pytest.raises(UsageError, match="expected 1 to 64"):
            check_tournament_name(bad, "name")
    with pytest.raises(UsageError, match=r"entrants\[0\]: name = .*: expected 1 to 64"):
        load_definition(write_tournament(tmp_path, make_bot(tmp_path / "a"), entrant=bad))


def write_tournament(place, bot, entrant="first", name="cup"):
    path = place / "t.toml"
    path.write_text(
        f'name = {toml(name)}\ngame = "differences"\noptions = {{ size = 3 }}\n'
        f'[[entrants]]\nbot = "{bot}"\nname = {toml(entrant)}\n[[entrants]]\nbot = "{bot}"\nname = "second"\n'
    )
    return path


def test_what_a_bot_says_of_itself_is_left_out_where_it_can_not_be_seen():
    fields = {"name": "\u202eevil", "version": "1\n2", "author": "Ada <ada@example.org>"}
    ready = read_ready({"type": "ready", "protocol": 1, **fields})
    assert (ready.name, ready.version, ready.author) == ("", "", "Ada <ada@example.org>")


@pytest.mark.slow(sample=("\\u200b",))
@pytest.mark.parametrize("old", ["human", "..", "\u202eydeerg", "\u200b"])
def test_names_that_were_accepted_earlier_are_shown_and_go_on(home, tmp_path, monkeypatch, old):
    bot = make_bot(tmp_path / "a", name=old)
    path = write_tournament(tmp_path, bot, entrant=old, name="an old\u3164cup")
    with monkeypatch.context() as earlier:
        for place in ("arena.match.players.manifest.is_name", "arena.base.names.is_printable_text"):
            earlier.setattr(place, lambda name: True)
        assert submit(home, bot).refusal is None
        run_tournament(load_definition(path, home.bots), home.store, workers=1)
    with pytest.raises(UsageError, match="expected 1 to 64"):
        load_definition(path)
    assert run_tournament(load_definition(path, home.bots), home.store, workers=1).is_complete
    assert old in [line.bot for line in standings_of(home.store, "an old\u3164cup").lines]
    assert home.bots.find(old).name == old
    assert home.bots.find(f"{old}@1").version == "1"


@pytest.mark.slow
def test_versions_that_were_accepted_earlier_go_on_and_none_that_looks_alike_is_added(home, tmp_path, monkeypatch):
    old = make_bot(tmp_path / "a", version="<i>1.0</i>")
    with monkeypatch.context() as earlier:
        earlier.setattr("arena.match.players.manifest.is_version", lambda version: True)
        assert submit(home, old).refusal is None
        run_tournament(load_definition(write_tournament(tmp_path, old), home.bots), home.store, workers=1)
    assert home.bots.find("a").version == "<i>1.0</i>"
    assert run_tournament(load_definition(tmp_path / "t.toml", home.bots), home.store, workers=1).is_complete
    assert submit(home, make_bot(tmp_path / "b", version="1.0")).refusal is None
    for version in ("1.O", "i.o", "L.0"):
        with pytest.raises(BotDefinitionError, match=r"looks like that of 'a@1\.0'"):
            submit(home, make_bot(tmp_path / version, version=version))
    for version in ("10", "1-0", "1.0.0"):
        assert submit(home, make_bot(tmp_path / version, version=version)).refusal is None


@pytest.mark.parametrize(
    ("name", "file"),
    [("a cup", "a cup"), ("../../x", "_.._x"), ("/etc/x", "_etc_x"), ("..", "_"), ("a\0\u202eb", "a__b"), ("", "_")],
)
def test_a_file_is_called_by_a_name_without_a_path(name, file):
    assert as_file_name(name) == file
