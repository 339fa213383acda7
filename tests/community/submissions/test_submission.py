import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from arena.base.errors import BotDefinitionError, UsageError
from arena.community.submissions.submission import submit
from arena.match.players.bot_files import SUBMITTED, bot_files, copy_files
from arena.match.players.manifest import load_bot
from arena.sandbox.isolation.removal import remove_tree
from arena.store import bot_registry
from arena.store.home import ArenaHome
from arena.tournament.definition import load_definition
from tests.conftest import ROOT
from tests.deep_places import nested

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
    "no text in bot.toml": (lambda bot: (bot / "bot.toml").write_bytes(b'name = "\xff"'), "not valid TOML"),
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
