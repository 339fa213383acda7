import csv
import io
import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from arena.analysis.measures.leaderboards import leaderboard
from arena.base.errors import BotDefinitionError, UnknownNameError, UsageError
from arena.community.submissions.submission import submit
from arena.community.submissions.upload_directory import tell_owners
from arena.match.players.bot_files import SUBMITTED, bot_files, copy_files
from arena.match.players.manifest import load_bot
from arena.sandbox.isolation.removal import remove_tree
from arena.site.page_table import PAGE_BY_NAME
from arena.site.pages.results import tournament_feed
from arena.site.render import feed_xml
from arena.store import bot_registry
from arena.store.home import ArenaHome, open_people
from arena.store.people.values import Role
from arena.store.results.values import Authorship, OwnedBot, Owners, StoredBot
from arena.tournament.definition import load_definition
from tests.conftest import ROOT
from tests.deep_places import nested
from tests.site.parsed import checked, model_of
from tests.store.results.samples import definition, line, record

MANIFEST = 'name = "b"\ncommand = ["python3", "bot.py"]\ngames = ["differences"]\n'


def make_bot(directory, manifest=MANIFEST):
    directory.mkdir(parents=True)
    (directory / "bot.toml").write_text(manifest)
    shutil.copy(ROOT / "bots/minimal/bot.py", directory)
    return directory


def link(name, target):
    def make(bot):
        (bot / name).unlink(missing_ok=True)
        (bot / name).symlink_to(target)

    return make


def manifest(text):
    return lambda bot: (bot / "bot.toml").write_text(text)


def pipe(name):
    def make(bot):
        (bot / name).unlink(missing_ok=True)
        os.mkfifo(bot / name)

    return make


def sparse(name, size_bytes):
    return lambda bot: os.truncate(os.open(bot / name, os.O_CREAT | os.O_WRONLY), size_bytes)


def many(bot):
    for number in range(10_001):
        (bot / str(number)).touch()


def named(name):
    return lambda bot: Path(os.fsdecode(os.fsencode(bot) + b"/" + name)).touch()


HOSTILE = {
    "a pipe as bot.toml": (pipe("bot.toml"), "a plain file is expected"),
    "a directory as bot.toml": (lambda bot: ((bot / "bot.toml").unlink(), (bot / "bot.toml").mkdir()), "a plain file"),
    "bot.toml is the kernel's log": (link("bot.toml", "/proc/kmsg"), "leads out of the bot's directory"),
    "bot.toml is a device": (link("bot.toml", "/dev/zero"), "a plain file is expected"),
    "bot.toml is somebody's file": (link("bot.toml", "/etc/hostname"), "leads out of the bot's directory"),
    "bot.toml leads to itself": (link("bot.toml", "bot.toml"), "Too many levels of symbolic links"),
    "a huge bot.toml": (sparse("bot.toml", 1 << 36), "bot.toml: more than 16 KiB"),
    "a long number": (manifest(f"{MANIFEST}x = {'9' * 5000}\n"), "a whole number of more than 64 bits"),
    "a long number in hexadecimal": (manifest(f"{MANIFEST}x = 0x{'f' * 9000}\n"), "a whole number of more than 64"),
    "deep in bot.toml": (manifest(MANIFEST + "x = " + "[" * 9000), "nested too deeply"),
    "deep keys in bot.toml": (manifest(MANIFEST + "a" + ".a" * 7000 + " = 1"), "nested too deeply"),
    "no text in bot.toml": (lambda bot: (bot / "bot.toml").write_bytes(b'name = "\xff"'), "the byte 0xff is not UTF-8"),
    "no program": (manifest('name = "b"\ncommand = [""]\n'), "command = '': expected a file of the bot"),
    "the directory as program": (manifest('name = "b"\nbuild = ["make"]\ncommand = ["."]\n'), "command = '.'"),
    "the directory as program, in other words": (manifest('name = "b"\nbuild = ["make"]\ncommand = ["./"]\n'), "'./'"),
    "a very long tool": (manifest(f'name = "b"\nbuild = ["{"a/" * 3000}"]\ncommand = ["build/b"]\n'), "is no program"),
    "a process as tool": (manifest('name = "b"\nbuild = ["/proc/1/exe"]\ncommand = ["build/b"]\n'), "/proc/1/exe"),
    "a very long program": (manifest(f'name = "b"\ncommand = ["{"a/" * 3000}"]\n'), "File name too long"),
    "a process as program": (manifest('name = "b"\ncommand = ["/proc/1/exe"]\n'), "command = '/proc/1/exe'"),
    "a pipe": (pipe("data"), "'data' is no plain file"),
    "a link to the kernel's log": (link("data", "/proc/kmsg"), "leads out of the bot's directory"),
    "a link to a key": (link("data", "../key"), "leads out of the bot's directory"),
    "a link to a directory elsewhere": (link("data", "/etc"), "leads out of the bot's directory"),
    "a link to a link elsewhere": (lambda bot: (link("a", "b")(bot), link("b", "../key")(bot)), "leads out of"),
    "a link through /proc": (link("data", "/proc/self/root/etc/hostname"), "leads out of the bot's directory"),
    "a sparse file": (sparse("data", 1 << 36), "more than 256 MiB of files"),
    "many files": (many, "more than 10,000 files and directories"),
    "nested directories": (lambda bot: os.close(nested(bot, ["d"] * 3000)), "directories more than 64 deep"),
    "a name that is no text": (named(b"\xff"), r"is not UTF-8"),
    "a name with a line break": (named(b"a\nb"), "characters that can't be seen"),
    "a name with an escape": (named(b"\x1b[2J"), "characters that can't be seen"),
    "a game from outside": (manifest(MANIFEST.replace("differences", "evil:Game")), "arena submit … --game evil:Game"),
}
if os.geteuid() != 0:
    HOSTILE["a closed directory"] = (lambda bot: (bot / "closed").mkdir(mode=0), "can't be read: Permission denied")


@pytest.fixture
def soon():
    """Interrupt a test that waits for what never comes."""

    def interrupt(*_):
        raise TimeoutError("it hangs")

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.slow(only=("deep keys in bot.toml", "many files", "nested directories"), sample=("deep keys in bot.toml",))
@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_submission_is_rejected_in_one_sentence(tmp_path, what):
    make, message = HOSTILE[what]
    (tmp_path / "key").write_text("secret")
    bot = make_bot(tmp_path / "b")
    make(bot)
    try:
        with ArenaHome(tmp_path / "home") as home:
            with pytest.raises(UsageError, match=message) as raised:
                submit(home, bot)
            assert len(str(raised.value).splitlines()) == 1
            assert list(home.directory.glob("bots/*")) == []
    finally:
        remove_tree(str(bot), seconds=60.0)


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
@pytest.mark.parametrize("replaced", ["inner", "inner/data"])
def test_what_is_replaced_by_a_link_after_it_was_looked_at_is_not_copied(tmp_path, replaced):
    bot, other = make_bot(tmp_path / "b"), tmp_path / "other"
    for place in (bot / "inner", other / "inner"):
        place.mkdir(parents=True)
        (place / "data").write_text("secret" if place != bot / "inner" else "public")
    files = bot_files(bot, False, SUBMITTED)
    (bot / replaced).rename(tmp_path / "away")
    (bot / replaced).symlink_to(other / replaced)
    with pytest.raises(BotDefinitionError, match="a link that leads out of the bot's directory"):
        copy_files(files, tmp_path / "copy")


@pytest.mark.slow
def test_a_game_of_the_bots_own_is_not_loaded(tmp_path):
    """The command line looks for games in the working directory too."""
    bot = make_bot(tmp_path / "b", MANIFEST.replace("differences", "evil:Game"))
    (bot / "evil.py").write_text(f"open({str(tmp_path / 'loaded')!r}, 'w')\n")
    for command in ("submit", "check"):
        arguments = [sys.executable, "-m", "arena", command, ".", "--home", str(tmp_path / "home")]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(arguments, cwd=bot, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert f"arena {command} … --game evil:Game" in done.stderr
        assert not (tmp_path / "loaded").exists()


@pytest.mark.parametrize("text", ["9" * 5000, f"0x{'f' * 5000}", "[" * 5000, "{a" + ".a" * 500 + "=1}"])
def test_a_tournament_file_with_what_no_game_needs_is_rejected_in_a_sentence(tmp_path, text):
    path = tmp_path / "t.toml"
    path.write_text(f'game = "differences"\noptions = {{ size = {text} }}\n')
    with pytest.raises(UsageError, match=r"^\S*t.toml: not valid TOML: [^\n]{1,100}$"):
        load_definition(path)


def test_a_game_from_outside_is_loaded_where_the_operator_names_it(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs/examples")
    bot = make_bot(tmp_path / "b", MANIFEST.replace("differences", "domineering:Domineering"))
    told = []
    with ArenaHome(tmp_path / "home") as home:
        assert submit(home, bot, told.append, ["domineering:Domineering"]).refusal is None
        assert [stored.label for stored in home.store.submitted_bots()] == ["b@1"]
    assert told[0].startswith("domineering:Domineering: a match of")


def test_what_is_copied_has_no_special_bits_and_no_second_name(tmp_path):
    bot = make_bot(tmp_path / "b")
    (bot / "inner").mkdir(mode=0o777)
    for name, mode in (("tool", 0o6755), ("data", 0o2666), ("inner/private", 0o600), ("inner/own", 0o4700)):
        (bot / name).write_text(name)
        (bot / name).chmod(mode)
    os.link(bot / "tool", tmp_path / "same")
    (bot / "linked").symlink_to("inner/private")
    with ArenaHome(tmp_path / "home") as home:
        copy = Path(home.bots.copy_in(bot).directory)
        assert copy == home.directory / "bots" / load_bot(bot).digest
    expected = {"tool": "0o755", "data": "0o644", "inner/private": "0o644", "inner/own": "0o755"}
    assert {name: oct((copy / name).stat().st_mode & 0o7777) for name in expected} == expected
    assert (copy / "tool").stat().st_nlink == 1
    assert oct((copy / "inner").stat().st_mode & 0o7777) == "0o755"
    assert (copy / "linked").read_text() == "inner/private"
    assert not (copy / "linked").is_symlink()


def test_a_submission_that_was_changed_in_the_arena_is_not_taken_for_what_it_was(tmp_path):
    bot = make_bot(tmp_path / "b")
    with ArenaHome(tmp_path / "home") as home:
        (Path(home.bots.copy_in(bot).directory) / "bot.py").write_text("")
        with pytest.raises(UsageError, match="are not those that were submitted"):
            home.bots.copy_in(bot)


def test_a_submission_that_changes_while_it_is_copied_leaves_nothing(tmp_path, monkeypatch):
    bot = make_bot(tmp_path / "b")
    copy = bot_registry._copy

    def copy_something_else(files, target):
        (bot / "bot.py").write_bytes(b"#" * (bot / "bot.py").stat().st_size)
        copy(files, target)

    monkeypatch.setattr(bot_registry, "_copy", copy_something_else)
    with ArenaHome(tmp_path / "home") as home:
        with pytest.raises(BotDefinitionError, match="have changed while they were copied"):
            home.bots.copy_in(bot)
        assert list(home.directory.glob("bots/*")) == []


def test_what_a_build_is_said_to_have_made_is_left_behind(tmp_path):
    bot = make_bot(tmp_path / "b", f'{MANIFEST}build = ["true"]\n')
    (bot / "build").mkdir()
    (bot / "build/.made-from").write_text(load_bot(bot).digest)
    with ArenaHome(tmp_path / "home") as home:
        assert not (Path(home.bots.copy_in(bot).directory) / "build").exists()


def test_a_bot_that_runs_from_where_it_lies_may_have_what_a_submission_may_not(tmp_path):
    bot = make_bot(tmp_path / "b")
    before = load_bot(bot).digest
    (tmp_path / "shared.py").write_text("x")
    (bot / "shared.py").symlink_to("../shared.py")
    pipe("pipe")(bot)
    link("nowhere", "nothing")(bot)
    link("circle", "circle")(bot)
    assert load_bot(bot).digest != before
    link("log", "/proc/kmsg")(bot)
    assert load_bot(bot).digest
    sparse("large", 1 << 36)(bot)
    with pytest.raises(BotDefinitionError, match="more than 4096 MiB of files"):
        load_bot(bot)


def test_the_digest_of_a_bot_is_what_it_was_in_earlier_versions(tmp_path):
    """Digests are in databases: computed by the version of 0.1.0, from this very layout."""
    bot = make_bot(tmp_path / "b")
    (bot / "bot.py").write_text("print(1)\n")
    for name in ("z/b.txt", "z/a/c.txt", "a.txt", ".hidden", "__pycache__/x.pyc", "y.pyc", ".git/config", "z/.venv/x"):
        (bot / name).parent.mkdir(parents=True, exist_ok=True)
        (bot / name).write_text(name)
    (bot / "z/b.txt").chmod(0o755)
    (bot / "linked.txt").symlink_to("z/b.txt")
    assert load_bot(bot).digest == "733cc197c60a9d47"


PAGES = {
    "tournament": {"tournament": "t"},
    "matches": {"tournament": "t"},
    "match": {"tournament": "t", "match": 1},
    "why": {"tournament": "t", "bot": "a@1"},
    "bot": {"bot": "a"},
    "versus": {"bot": "a@1", "rival": "b@1"},
    "bots": {},
    "leaderboard": {"game": "differences"},
    "leaderboards": {},
    "overview": {},
}


@pytest.fixture
def arena(tmp_path):
    entered = definition(name="t")
    bots = tuple(replace(bot, author="Grace Hopper", digest=bot.name * 16) for bot in entered.entrants)
    with ArenaHome(tmp_path) as home, open_people(tmp_path) as people:
        ann = people.accounts.add("quentin", Role.AUTHOR, "test")
        people.submissions.add(ann, f"{'0' * 16}-{'1' * 16}", "d", 1, "a.py", "")
        people.submissions.claim().finish("accepted", "", "", "a@1")
        tournament = home.store.create_tournament(replace(entered, entrants=bots), [line(1), line(2)])
        home.store.record(tournament, [record(1, tournament="t"), record(2, tournament="t")])
        home.store.add_bot(StoredBot("a", "1", "a" * 16, ".", "2026-11-26T12:00:00+00:00"))
        yield home, people


def shown(home):
    found = {}
    for name, values in PAGES.items():
        page = PAGE_BY_NAME[name]
        found[name] = page.build(home, page.parameters.model_validate(values)).model_dump(mode="json")
    return found


@pytest.mark.slow
def test_the_owner_is_the_author_on_every_page_until_they_leave(arena):
    home, people = arena
    assert all("quentin" not in json.dumps(one).split('"') for one in shown(home).values())
    tell_owners(people, home.store)
    pages = shown(home)
    for name, one in pages.items():
        if name != "bots":
            assert one["authors"] == {"a@1": "quentin"}, name
    lines = {one["label"]: (one["author"], one["is_author_claimed"]) for one in pages["tournament"]["standings"]}
    assert lines == {"a@1": ("quentin", False), "b@1": ("Grace Hopper", True)}
    assert {one["name"]: one["author"] for one in pages["bots"]["bots"]} == {"a": "quentin", "b": "Grace Hopper"}
    version = pages["bot"]["versions"][0]
    authorship = [version[key] for key in ("author", "claimed_author", "is_author_claimed")]
    assert authorship == ["quentin", "Grace Hopper", False]
    board = leaderboard(home.store, home.store.tournaments(), "differences", home.cache_directory)
    assert {one.label: one.author for one in board.lines} == {"a@1": "quentin", "b@1": "Grace Hopper"}
    page = PAGE_BY_NAME["tournament"]
    rows = csv.DictReader(io.StringIO(page.build(home, page.parameters(tournament="t")).csv()))
    assert {row["label"] if "label" in row else row["bot"]: row["author"] for row in rows}["a"] == "quentin"
    feed = feed_xml(tournament_feed(home, "t"), "http://localhost", "/feed", "/page").decode()
    assert "<name>quentin</name>" in feed

    people.accounts.erase(people.accounts.get("quentin"))
    tell_owners(people, home.store)
    for name, one in shown(home).items():
        assert "quentin" not in json.dumps(one).split('"'), name
    left = {one["label"]: one["author"] for one in shown(home)["tournament"]["standings"]}
    assert left == {"a@1": "", "b@1": "Grace Hopper"}  # nor the words of the bot, which may be the same name
    feed = feed_xml(tournament_feed(home, "t"), "http://localhost", "/feed", "/page").decode()
    assert "<name>quentin</name>" not in feed
    home.close()  # which writes what is in the log of the database
    assert not any(b"quentin" in file.read_bytes() for file in home.directory.glob("arena.sqlite3*"))


def test_a_person_has_a_page_with_what_their_bots_did_until_they_leave(arena):
    home, people = arena
    with pytest.raises(UnknownNameError, match="unknown person 'quentin'"):
        model_of(home, "person", person="quentin")
    tell_owners(people, home.store)
    model = model_of(home, "person", person="quentin")
    assert [(bot.name, bot.versions, bot.tournaments) for bot in model.bots] == [("a", ("a@1",), 1)]
    assert [(one.tournament, one.bot, one.bots) for one in model.tournaments] == [("t", "a@1", 2)]
    assert [(one.tournament, one.match) for one in model.results] == [("t", 2), ("t", 1)]
    assert [(one.game, one.line.label, one.bots) for one in model.ratings] == [("differences", "a@1", 2)]
    board = model_of(home, "leaderboard", game="differences").standings
    assert model.ratings[0].line.mu == next(line.mu for line in board if line.label == "a@1")
    assert "a is number" in model.verdict.text.replace("@1", "")
    with pytest.raises(UnknownNameError):  # only its bot.toml names her
        model_of(home, "person", person="Grace Hopper")
    checked(home, "person", person="quentin")
    for name in ("bot", "bots"):
        assert "/people/quentin" in [link["href"] for link in checked(home, name, **PAGES[name]).all("a")], name
    ann = people.accounts.get("quentin")
    people.submissions.add(ann, f"{'2' * 16}-{'3' * 16}", "e", 1, "b.py", "")
    people.submissions.claim().finish("accepted", "", "", "b@1")
    home.store.add_bot(StoredBot("b", "1", "b" * 16, ".", "2026-11-26T12:00:00+00:00"))
    tell_owners(people, home.store)
    model = model_of(home, "person", person="quentin")
    assert ({one.bot for one in model.tournaments}, model.entered) == ({"a@1", "b@1"}, 1)
    people.accounts.erase(ann)
    tell_owners(people, home.store)
    with pytest.raises(UnknownNameError):
        model_of(home, "person", person="quentin")


def test_a_bot_belongs_to_who_has_submitted_its_files():
    owners = Owners({"a@1": OwnedBot("a@1", "1" * 16, "quentin"), "b@1": OwnedBot("b@1", "2" * 16, "")})
    bot = replace(definition(name="t").entrants[0], author="Grace Hopper")
    for name, digest, submitted, authorship in (
        ("a", "1" * 16, False, Authorship("quentin", "Grace Hopper", True)),
        ("a", "3" * 16, False, Authorship("Grace Hopper", "Grace Hopper")),  # other files under the name
        ("x", "1" * 16, False, Authorship("Grace Hopper", "Grace Hopper")),  # of the machine, whoever has copied it
        ("x", "1" * 16, True, Authorship("quentin", "Grace Hopper", True)),  # renamed in a tournament file
        ("b", "2" * 16, False, Authorship("", "", True)),  # its owner has left
    ):
        assert owners.authorship(replace(bot, name=name, digest=digest, submitted=submitted)) == authorship
