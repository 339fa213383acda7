import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from arena.base.enums import IsolationLevel
from arena.base.errors import BotError
from arena.base.records import DEFAULT_LIMITS, Bot, Limits
from arena.match.players.connection import BotConnection
from arena.match.players.manifest import load_bot
from arena.sandbox.isolation import interpreters, launcher_client, levels, reaper
from arena.sandbox.isolation.file_access import paths_behind_closed_directories, readable_paths
from arena.sandbox.isolation.interpreters import arena_python, resolve_program
from arena.sandbox.isolation.launcher import open_launcher
from arena.sandbox.isolation.levels import choose_isolation
from arena.sandbox.isolation.reaper import make_scratch
from arena.sandbox.isolation.sandbox_policy import Isolation, make_launch_spec
from arena.store import home
from tests import needs

PATH = "/usr/local/bin:/usr/bin:/bin"


@pytest.fixture
def place(tmp_path):
    for directory in ("keys", "victim/bin", "victim/lib", "bot/bin"):
        (tmp_path / directory).mkdir(parents=True)
    for file in ("keys/id", "victim/secret", "victim/lib/secret", "beside"):
        (tmp_path / file).write_text("secret")
    for program in ("victim/bin/python3", "victim/bin/tool"):
        shutil.copy("/bin/true", tmp_path / program)
    return tmp_path


def opened(place, program, own=None):
    own = own or (str(place / "bot"),)
    found = readable_paths((str(place / "bot" / program),), own, PATH)
    return {path.removeprefix(f"{place}/") for path in found if path.startswith(str(place)) and path not in own}


def script(place, line, name="launch"):
    path = place / "bot" / name
    path.write_text(line + "\n")
    path.chmod(0o755)
    return name


@pytest.mark.parametrize(
    "line",
    [
        "#!./launch {place}/keys/id",
        "#!./launch {place}/keys",
        "#!./launch /",
        "#!{place}/keys/id",
        "#!{place}/victim/bin/python3",
        "#! {place}/victim/bin/tool -x",
        "#!../victim/bin/python3",
        "#!./../beside",
        "#!/usr/bin/../../{place}/victim/bin/tool",
        "#!/proc/self/root{place}/victim/bin/tool",
        "#!/proc/self/cwd/../victim/bin/tool",
        "#!/usr/bin/env {place}/victim/bin/tool",
        "#!/usr/bin/env -S {place}/victim/bin/tool",
        "#!/usr/bin/env ../beside",
        "#!/usr/bin/env -S x=1 {place}/keys/id",
        "#!/bin/sh {place}/keys/id",
        "#!./bin/second",
        "#!./to_the_victim",
        "#!./to_the_victims_directory/tool",
    ],
)
def test_a_first_line_opens_nothing_outside_of_the_bot(place, line):
    script(place, f"#!{place}/victim/bin/tool", "bin/second")
    (place / "bot/to_the_victim").symlink_to(place / "victim/bin/tool")
    (place / "bot/to_the_victims_directory").symlink_to(place / "victim/bin")
    assert opened(place, script(place, line.format(place=place))) == set()


@pytest.mark.parametrize("target", ["keys/id", "victim/bin/python3", "victim", "beside"])
def test_a_link_opens_nothing_outside_of_the_bot(place, target):
    (place / "bot/launch").symlink_to(place / target)
    assert opened(place, "launch") == set()
    (place / "bot/bin/second").symlink_to("../launch")
    assert opened(place, "bin/second") == set()
    assert opened(place, "launch/bin/tool") == set()


def test_a_configuration_or_a_directory_called_bin_of_the_bots_opens_nothing(place):
    (place / "bot/pyvenv.cfg").write_text(f"home = {place}/victim/bin\n")
    for program in ("python", "launch"):
        shutil.copy("/bin/true", place / "bot/bin" / program)
        for own in ("bot", "bot/bin", f"bot/bin/{program}"):
            assert opened(place, f"bin/{program}", own=(str(place / own),)) == set()


@pytest.mark.parametrize("program", ["tool", "python3"])
def test_a_command_elsewhere_opens_that_program_alone(place, program):
    assert opened(place, f"../victim/bin/{program}") == {f"victim/bin/{program}"}


def test_a_command_elsewhere_is_not_followed_to_what_is_no_runtime(place):
    (place / "linked").symlink_to(place / "victim/bin/tool")
    (place / "written").write_text(f"#!{place}/victim/bin/tool\n")
    assert opened(place, "../linked") == {"linked", "victim/bin/tool"} & opened(place, "../linked")
    assert opened(place, "../written") == {"written"}
    assert "victim/lib" not in opened(place, "../linked")


def test_nothing_of_another_bot_is_opened(place):
    (place / "victim/bot.toml").write_text("")
    (place / "victim/pyvenv.cfg").write_text("home = /usr/bin\n")
    assert opened(place, "../victim/bin/python3") == set()
    found = resolve_program(str(place / "victim/bin/tool"), (str(place / "bot"),), PATH)
    assert found.refused.endswith("victim/bin/tool")


def test_of_a_runtime_elsewhere_its_parts_are_opened_and_nothing_beside_them(place):
    (place / "victim/pyvenv.cfg").write_text("home = /usr/bin\n")
    (place / "victim/share").symlink_to(place / "keys")
    assert opened(place, "../victim/bin/python3") == {"victim/bin", "victim/lib", "victim/pyvenv.cfg"}


def test_links_in_a_circle_end_and_a_pipe_or_a_device_is_not_waited_for(place):
    (place / "bot/a").symlink_to("b")
    (place / "bot/b").symlink_to("a")
    script(place, "#!./second", "first")
    script(place, "#!./first", "second")
    assert opened(place, "a") == opened(place, "first") == set()
    os.mkfifo(place / "bot/launch")
    assert opened(place, "launch") == set()
    (place / "bot/kmsg").symlink_to("/proc/kmsg")
    assert opened(place, "kmsg") == set()
    assert opened(place, "../../../../../../../proc/kmsg") == set()


def test_a_link_out_of_a_closed_directory_is_not_put_into_the_bots_view(place):
    bot = place / "bot"
    (bot / "key").symlink_to(place / "keys/id")
    (bot / "same").symlink_to("own")
    (bot / "own").write_text("")
    bot.chmod(0o700)
    (paths,) = (paths for paths in paths_behind_closed_directories((str(bot),), "/tmp").values() if paths)
    assert {Path(path).name for path in paths} - {"bot"} <= {"bin", "same", "own"}


def test_the_arenas_python_is_opened_in_a_first_line_and_in_a_virtual_environment_of_the_bots(place):
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place / "bot/.venv")], check=True)
    found = resolve_program(str(place / "bot/.venv/bin/python"), (str(place / "bot"),), PATH)
    assert found.refused == ""
    assert set(found.paths) <= set(arena_python())
    found = resolve_program(str(place / "bot" / script(place, f"#!{sys.executable}")), (str(place / "bot"),), PATH)
    assert found[:2] == (arena_python(), "") or interpreters.is_below(os.path.realpath(sys.executable), ("/usr",))


@pytest.mark.parametrize("line", ["#!/usr/bin/env node", "#!/usr/bin/env -S node --flag", "#!/bin/env -i node"])
def test_what_env_starts_is_found_on_path_through_links_of_the_system(place, line, monkeypatch):
    (place / "node/bin").mkdir(parents=True)
    shutil.copy("/bin/true", place / "node/bin/node")
    (place / "system").mkdir()
    (place / "system/node").symlink_to(place / "node/bin/node")
    monkeypatch.setattr(interpreters, "SYSTEM", (*interpreters.SYSTEM, str(place / "system")))
    found = resolve_program(str(place / "bot" / script(place, line)), (str(place / "bot"),), f"{place}/system:/usr/bin")
    assert found[:2] == ((str(place / "node"),), "")


@pytest.mark.parametrize("level", ["landlock", "bubblewrap"])
def test_what_is_refused_is_told_in_a_sentence(place, level):
    (place / "bot/launch").symlink_to(place / "victim/bin/tool")
    bot = Bot(name="x", version="1", command=(str(place / "bot/launch"),), directory=str(place / "bot"))
    with pytest.raises(BotError, match=r"leads to \S*/victim/bin/tool, which a bot may not use"):
        make_launch_spec(bot, Isolation(level=level), DEFAULT_LIMITS, "/tmp/none")
    assert make_launch_spec(bot, Isolation(level=IsolationLevel.LIMITS), DEFAULT_LIMITS, "/tmp/none")


THIEF = """#!{python}
import sys
found = b"no"
for path in {paths!r}:
    try:
        open(path, "rb").read(1)
        found = b"stolen"
    except OSError:
        pass
sys.stdin.buffer.read(4)
sys.stdout.buffer.write(len(found).to_bytes(4, "big") + found)
sys.stdout.buffer.flush()
sys.stdin.buffer.read()
"""


@pytest.mark.parametrize("level", [IsolationLevel.LANDLOCK, IsolationLevel.BUBBLEWRAP], indirect=True)
@pytest.mark.parametrize("mode", [0o755, 0o700])
def test_a_first_line_steals_nothing_from_a_running_arena(tmp_path, level, mode):
    """The attack as a whole: the first line is the kernel's business as well as ours."""
    bot = tmp_path / "bot"
    (bot / "bin").mkdir(parents=True)
    secret = tmp_path / "secret"
    secret.write_text("secret")
    secret.chmod(0o644)
    (bot / "linked").symlink_to(secret)
    (bot / "thief").write_text(THIEF.format(python=sys.executable, paths=[str(secret), str(bot / "linked")]))
    (bot / "bin/launch").write_text(f"#!../bot/thief {secret}\n")
    (bot / "pyvenv.cfg").write_text(f"home = {tmp_path}\n")
    for program in ("thief", "bin/launch"):
        (bot / program).chmod(0o755)
    (bot / "bot.toml").write_text('name = "thief"\ncommand = ["bin/launch"]\n')
    bot.chmod(mode)
    with BotConnection(load_bot(bot), choose_isolation(level), DEFAULT_LIMITS) as process:
        assert process.ask(b"hello", 20.0)[0] == b"no"


def test_the_arenas_own_interpreter_has_no_steps_up_in_its_path(monkeypatch):
    """As where the arena was started as ../.venv/bin/python: a bot's view of the files may lack what lies between."""
    directory, name = os.path.split(sys.executable)
    monkeypatch.setattr(sys, "executable", f"{directory}/../bin/{name}")
    assert interpreters.arena_interpreter() == f"{os.path.realpath(directory)}/{name}"


OTHERS = [
    "home/bots/0123456789abcdef/alice.py",
    "home/bots/alice/alice.py",
    "home/uploads/checking-1/alice.py",
    "home/contests/finals/bots/0123456789abcdef/alice.py",
    "other/bots/0123456789abcdef/build/alice",
    "arena-node-1.2-x/alice@1-0123456789abcdef/alice.py",
    "arena-upload-1.2-x/tree/alice.py",
    "cache/kernels/alice",
]


def test_the_files_by_which_a_home_is_known_are_those_it_has():
    assert {home.DATABASE_FILE, home.PEOPLE_FILE} < {*interpreters.HOME_MARKS}


@pytest.mark.parametrize("submitted", [False, True])
@pytest.mark.parametrize("program", OTHERS)
def test_a_program_that_the_arena_keeps_is_opened_for_no_other_bot(place, program, submitted, monkeypatch):
    monkeypatch.setenv("ARENA_CACHE", str(place / "cache"))
    (place / program).parent.mkdir(parents=True)
    shutil.copy("/bin/true", place / program)
    (place / "home").mkdir(exist_ok=True)
    (place / "home/people-server").write_text("")
    (place / "linked").symlink_to(place / program)
    for path in (place / program, place / "linked"):
        found = resolve_program(str(path), (str(place / "bot"),), PATH, submitted)
        assert str(place / program) not in found.paths
        assert found.refused


def test_a_home_beside_the_arenas_python_is_opened_for_nobody(tmp_path, monkeypatch):
    """As where a project's own directory is the virtual environment in which the arena was started."""
    for directory in ("bin", "lib", "src", ".arena/bots", "notes"):
        (tmp_path / directory).mkdir(parents=True)
    (tmp_path / "pyvenv.cfg").write_text("")
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    found = {Path(path).relative_to(tmp_path) for path in arena_python.__wrapped__() if path.startswith(str(tmp_path))}
    assert found == {Path("bin"), Path("lib"), Path("src"), Path("pyvenv.cfg")}


TRY = """
import json, pathlib, sys
try:
    said = pathlib.Path(sys.argv[1]).read_text()
except OSError:
    said = "closed"
print(json.dumps(said))
"""


def run_bot(directory, file, isolation):
    command = (sys.executable, "-I", "-S", "-c", TRY, str(file))
    return levels.run_test_program(
        Bot(name="b", version="1", command=command, directory=str(directory), own_files=(str(directory),)), isolation
    )


@pytest.mark.parametrize("is_closed", [False, pytest.param(True, marks=needs.root)])
def test_a_directory_or_an_entry_of_a_closed_one_that_is_replaced_by_a_link_opens_nothing(open_path, is_closed):
    needs.isolation(IsolationLevel.LANDLOCK)
    isolation = choose_isolation("landlock")
    bot, other = open_path / "bot", open_path / "beside" / "other"
    replaced = bot / "inner" if is_closed else bot
    for place, text in ((replaced, "own"), (other, "secret")):
        place.mkdir(parents=True)
        (place / "file").write_text(text)
        (place / "file").chmod(0o644)
        place.chmod(0o755)
    for place in (bot, other.parent):
        place.chmod(0o700 if is_closed else 0o755)
    assert run_bot(bot, replaced / "file", isolation) == "own"
    replaced.rename(replaced.with_name("away"))
    replaced.symlink_to(other)
    for file in (replaced / "file", other / "file"):
        assert run_bot(bot, file, isolation) == "closed"


def test_a_directory_with_too_many_files_to_be_opened_one_by_one_is_the_bots_fault(tmp_path, monkeypatch):
    launcher, scratch = open_launcher(), make_scratch()
    monkeypatch.setattr(launcher_client, "MAX_SPEC_BYTES", 100)
    bot = Bot(name="b", version="1", command=(sys.executable,), directory=str(tmp_path))
    spec = make_launch_spec(bot, Isolation(), Limits(), scratch)
    with pytest.raises(BotError, match="has too many files to be opened to a bot one by one"):
        launcher.launch(spec, ())
    Path(scratch).rmdir()


def test_a_scratch_directory_has_no_links_in_its_name(tmp_path, monkeypatch):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    monkeypatch.setattr(reaper.tempfile, "tempdir", str(tmp_path / "link"))
    assert Path(make_scratch()).parent == Path(os.path.realpath(tmp_path / "real"))
