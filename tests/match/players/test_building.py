import contextlib
import json
import os
import re
import resource
import shutil
import signal
import sys
from functools import partial

import pytest

from arena.base.errors import BotDefinitionError
from arena.match.players import building
from arena.match.players.building import build_bots, is_built
from arena.match.players.manifest import load_bot
from arena.match.single_match import play_match
from arena.sandbox.isolation.levels import choose_isolation
from arena.tournament.executors.dask_worker import pack_bot, unpack_bot
from tests import needs
from tests.cli.calls import calling
from tests.deep_places import nested

COPY = "cp program.sh build/bot"


def make_bot(directory, build=COPY, program="#!/bin/sh\ncat > /dev/null\n"):
    directory.mkdir(exist_ok=True)
    command = json.dumps(["sh", "-c", build])
    (directory / "bot.toml").write_text(f'name = "{directory.name}"\ncommand = ["build/bot"]\nbuild = {command}\n')
    (directory / "program.sh").write_text(program)
    (directory / "program.sh").chmod(0o755)
    return load_bot(directory)


@pytest.fixture(params=["none", "auto"])
def isolation(request):
    return choose_isolation(request.param)


def test_a_bot_is_built_when_its_files_have_changed_and_only_then(tmp_path, isolation):
    bot = make_bot(tmp_path / "b", build=f"{COPY}; date +%N > build/when")
    assert not is_built(bot)
    build_bots([bot, bot], isolation)
    assert is_built(bot)
    when = (tmp_path / "b/build/when").read_text()
    build_bots([load_bot(tmp_path / "b")], isolation)
    assert (tmp_path / "b/build/when").read_text() == when
    changed = make_bot(tmp_path / "b", build=f"{COPY}; date +%N > build/when", program="#!/bin/sh\nexit 1\n")
    assert not is_built(changed)
    build_bots([changed], isolation)
    assert (tmp_path / "b/build/bot").read_text() == "#!/bin/sh\nexit 1\n"
    assert (tmp_path / "b/build/when").read_text() != when
    assert (tmp_path / "b/build/bot").stat().st_mode & 0o111


def test_without_a_build_a_directory_of_that_name_belongs_to_the_bot(tmp_path):
    directory = tmp_path / "b"
    (directory / "build").mkdir(parents=True)
    (directory / "bot.toml").write_text('name = "b"\ncommand = ["python3", "build/x.py"]\n')
    (directory / "build/x.py").write_text("1")
    before = load_bot(directory).digest
    (directory / "build/x.py").write_text("2")
    assert load_bot(directory).digest != before


def test_a_failing_build_is_told_with_what_it_said_and_leaves_the_last_one(tmp_path, isolation):
    build_bots([make_bot(tmp_path / "b")], isolation)
    bad = make_bot(tmp_path / "b", build="echo 'line 3: no such word' >&2; exit 7")
    with pytest.raises(BotDefinitionError, match=r"'b@1': its build failed \(exit status 7\)[^\n]*\n  line 3: no such"):
        build_bots([bad], isolation)
    assert (tmp_path / "b/build/bot").exists()
    assert sorted(path.name for path in (tmp_path / "b").iterdir()) == ["bot.toml", "build", "program.sh"]


def test_a_build_whose_program_is_missing_is_told_before_it_is_tried(tmp_path):
    bot = make_bot(tmp_path / "b")
    text = (tmp_path / "b/bot.toml").read_text().replace('["sh"', '["no-such-compiler"')
    (tmp_path / "b/bot.toml").write_text(text)
    with pytest.raises(BotDefinitionError, match="no program 'no-such-compiler' on this machine"):
        build_bots([load_bot(tmp_path / "b")], choose_isolation("auto"))
    assert bot.build


def test_a_build_is_confined(tmp_path):
    level = choose_isolation("auto")
    if level.level not in ("landlock", "bubblewrap"):
        pytest.skip("needs an isolation level that confines")
    secret = tmp_path / "secret"
    secret.write_text("s")
    secret.chmod(0o644)
    for out in (f"cat {secret}", f"echo x > {secret}", f"touch {tmp_path}/b/touched"):
        bot = make_bot(tmp_path / "b", build=f"{out} && {COPY}")
        with pytest.raises(BotDefinitionError, match="its build failed"):
            build_bots([bot], level)
    assert secret.read_text() == "s"
    assert not (tmp_path / "b/touched").exists()


@pytest.mark.parametrize("level", ["limits", "landlock", "bubblewrap"])
def test_python3_is_the_arenas_also_where_a_shell_starts_it(tmp_path, level):
    """In a build and in a bot; in a virtual environment, what python3 on PATH needs are no files of the system."""
    needs.isolation(level)
    message = "python3 -c 'import sys; print(sys.prefix)'"
    bot = make_bot(tmp_path / "b", f"{COPY} && {message} > build/prefix", f"#!/bin/sh\n{message} >&2\n")
    build_bots([bot], choose_isolation(level))
    assert (tmp_path / "b/build/prefix").read_text() == f"{sys.prefix}\n"
    record = play_match("differences", [bot, bot], isolation=level)
    assert record.seats[0].stderr == "<python>\n"  # as records name it


def test_what_is_built_is_nobodys_but_the_owners(tmp_path, isolation):
    bot = make_bot(tmp_path / "b", build=f"{COPY}; chmod 6777 build/bot; ln build/bot build/same; chmod 4711 build")
    build_bots([bot], isolation)
    made = tmp_path / "b/build"
    assert [oct(path.stat().st_mode & 0o7777) for path in (made, made / "bot", made / "same")] == ["0o755"] * 3
    assert (made / "bot").stat().st_nlink == (made / "same").stat().st_nlink == 1
    assert is_built(bot)


HOSTILE_OUTPUT = {
    "a link": ("ln -s /etc/passwd build/link", "'build/link' is neither a file nor a directory"),
    "a pipe": ("mkfifo build/pipe", "'build/pipe' is neither a file nor a directory"),
    "build is a link": ("rm -r build; ln -s /etc build", "there is no directory build/ (build: Not a directory)"),
    "build is a file": ("rm -r build; echo > build", "there is no directory build/ (build: Not a directory)"),
    "build is gone": ("rm -r build", "there is no directory build/ (build: No such file or directory)"),
    "the work is a link": (
        "cd ..; mv work other; ln -s /etc work; mkdir -p other/build",
        "build/ (work: Not a directory)",
    ),
    "a sparse file": ("truncate -s 500M build/huge", "more than 256 MiB"),
    "many files": ("cd build; i=0; while [ $i -lt 300 ]; do echo > $i; i=$((i+1)); done", "more than 200 files"),
    "deep": ("cd build; i=0; while [ $i -lt 60 ]; do mkdir d; cd d; i=$((i+1)); done", "more than 32 deep"),
    "a line break": ("touch 'build/a\nb'", "characters that can't be seen"),
    "no text": ("touch \"build/$(printf '\\377')\"", "characters that can't be seen"),
    "a socket": (
        "python3 -c \"import socket; socket.socket(1).bind(chr(98) + 'uild/s')\" || mkfifo build/s",
        "neither a file nor a directory",
    ),
}


@pytest.mark.parametrize("what", HOSTILE_OUTPUT)
def test_what_a_build_has_made_is_not_trusted(tmp_path, what, isolation, monkeypatch):
    monkeypatch.setattr(building, "MAX_FILES", 200)
    mess, message = HOSTILE_OUTPUT[what]
    bot = make_bot(tmp_path / "b", build=f"{COPY}; {mess}")
    with pytest.raises(BotDefinitionError, match="what it has made can't be kept: .*" + re.escape(message)):
        build_bots([bot], isolation)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b"]
    assert sorted(path.name for path in (tmp_path / "b").iterdir()) == ["bot.toml", "program.sh"]


@pytest.mark.parametrize("lost", ["its process", "its scratch directory"])
def test_a_build_that_has_lost_something_at_its_end_is_told_what(tmp_path, lost, isolation, monkeypatch):
    def lose(process):
        problem = wait_until_built(process)
        if lost == "its process":
            os.kill(process.pid, signal.SIGKILL)
            process.wait_for_exit(60)
        else:
            shutil.rmtree(process.scratch)
        return problem

    wait_until_built = building._wait_until_built
    monkeypatch.setattr(building, "_wait_until_built", lose)
    reason = r"signal SIGKILL" if lost == "its process" else r"/\S*/arena-bot-\S+: No such file or directory"
    with pytest.raises(BotDefinitionError, match=rf"can't be kept: there is no directory build/ \({reason}\)"):
        build_bots([make_bot(tmp_path / "b")], isolation)


@pytest.mark.parametrize("how", ["setsid cat /dev/zero", "exec cat /dev/zero"])
def test_a_flood_on_the_pipe_of_a_build_is_not_kept(tmp_path, how, isolation):
    """The pipe can be opened again through /proc, however often the shell has redirected it."""
    bot = make_bot(tmp_path / "b", build=f"({how} > /proc/$PPID/fd/1) & sleep 0.5; {COPY}")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with contextlib.suppress(BotDefinitionError):
        build_bots([bot], isolation)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak < 64 * 1024


def test_a_build_that_goes_on_in_the_background_changes_nothing_any_more(tmp_path, isolation):
    bot = make_bot(tmp_path / "b", build=f"(while :; do date +%N > build/later; done) & {COPY}")
    build_bots([bot], isolation)
    assert is_built(bot)
    assert (tmp_path / "b/build/bot").exists()


@pytest.mark.parametrize("shipped", ["in the directory", "beside it", "note and files of another"])
def test_a_bot_can_not_say_itself_that_it_is_built(tmp_path, shipped, isolation):
    bot = make_bot(tmp_path / "b")
    (tmp_path / "b/build").mkdir()
    (tmp_path / "b/build/bot").write_text("#!/bin/sh\necho never seen by anybody\n")
    (tmp_path / "b/build/bot").chmod(0o755)
    if shipped == "in the directory":
        (tmp_path / "b/build/.made-from").write_text(bot.digest)
    elif shipped == "beside it":
        (tmp_path / ".b.built").write_text(f"{bot.digest}\n")
    else:
        build_bots([make_bot(tmp_path / "c")], isolation)
        shutil.copytree(tmp_path / "c/build", tmp_path / "b/build", dirs_exist_ok=True)
        shutil.copy2(tmp_path / ".c.built", tmp_path / ".b.built")
    assert not is_built(bot)
    build_bots([bot], isolation)
    assert (tmp_path / "b/build/bot").read_text() == (tmp_path / "b/program.sh").read_text()


def test_what_is_put_in_the_place_of_a_build_is_not_run(tmp_path, isolation):
    bot = make_bot(tmp_path / "b")
    build_bots([bot], isolation)
    made = tmp_path / "b/build/bot"
    found = made.stat()
    made.write_bytes(b"#" * found.st_size)
    os.utime(made, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert not is_built(bot)


@pytest.mark.slow
def test_a_directory_of_any_depth_gives_way_to_a_build(tmp_path, isolation, monkeypatch):
    monkeypatch.setattr(building, "remove_tree", partial(building.remove_tree, seconds=60))  # however busy the machine
    bot = make_bot(tmp_path / "b")
    os.close(nested(tmp_path / "b", ["build", *["d"] * 3000]))
    build_bots([bot], isolation)
    assert sorted(path.name for path in (tmp_path / "b").iterdir()) == ["bot.toml", "build", "program.sh"]


def test_a_build_that_never_ends_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(building, "MAX_SECONDS", 0.3)
    bot = make_bot(tmp_path / "b", build="sleep 1000")
    with pytest.raises(BotDefinitionError, match=r"it took more than 0\.3 s"):
        build_bots([bot], choose_isolation("auto"))


def test_a_built_bot_travels_with_what_was_built(tmp_path, isolation):
    bot = make_bot(tmp_path / "b")
    build_bots([bot], isolation)
    there = unpack_bot(pack_bot(bot), tmp_path)
    assert there.directory != bot.directory
    assert (tmp_path / there.command[0]).read_text() == (tmp_path / "b/program.sh").read_text()


def test_rustups_stand_in_is_seen_through(tmp_path, monkeypatch):
    real = tmp_path / "toolchains/stable-x/bin/rustc"
    real.parent.mkdir(parents=True)
    shutil.copy("/bin/true", real)
    shutil.copy("/bin/true", tmp_path / "rustup")
    (tmp_path / "settings.toml").write_text('default_toolchain = "stable-x"\n')
    stand_in = tmp_path / "rustc"
    stand_in.symlink_to("rustup")
    monkeypatch.setenv("RUSTUP_HOME", str(tmp_path))
    assert building._behind_rustup(stand_in) == str(real)
    assert building._behind_rustup(real) == str(real)


@pytest.mark.parametrize("how", ["check", "play", "run", "submit"])
def test_every_way_to_use_a_bot_tells_of_a_failing_build_in_one_sentence(tmp_path, how, capfd):
    make_bot(tmp_path / "b", build="echo broken >&2; exit 1")
    file = tmp_path / "t.toml"
    file.write_text('game = "differences"\n' + "".join(f'[[entrants]]\nbot = "b"\nname = "{name}"\n' for name in "bc"))
    arguments = {
        "check": ["check", tmp_path / "b"],
        "play": ["play", "differences", tmp_path / "b", tmp_path / "b"],
        "run": ["run", file, "-q"],
        "submit": ["submit", tmp_path / "b"],
    }[how]
    arena = calling(tmp_path / "home", capfd)
    code, _, errors = arena(*arguments)
    first, *rest = errors.splitlines()
    assert code == 2
    assert first.startswith("arena: bot 'b@1': its build failed (exit status 1): sh -c")
    assert rest == ["  broken"]
    assert json.loads(arena("bots", "--json")[1] or "[]") == []
