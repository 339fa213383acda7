"""Builds: run when files have changed, confined, and told in a sentence when they fail."""

import gzip
import io
import json
import shutil
import subprocess
import sys
import tarfile

import pytest

from arena.errors import BotDefinitionError
from arena.isolation.levels import choose_isolation
from arena.players import building
from arena.players.building import build_bots, is_built
from arena.players.manifest import load_bot
from arena.tournament.executors.parcels import pack, unpack

ARENA = [sys.executable, "-m", "arena"]
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


def test_what_a_build_makes_is_no_part_of_the_bot(tmp_path, isolation):
    before = make_bot(tmp_path / "b")
    build_bots([before], isolation)
    assert load_bot(tmp_path / "b").content == before.content


def test_without_a_build_a_directory_of_that_name_belongs_to_the_bot(tmp_path):
    directory = tmp_path / "b"
    (directory / "build").mkdir(parents=True)
    (directory / "bot.toml").write_text('name = "b"\ncommand = ["python3", "build/x.py"]\n')
    (directory / "build/x.py").write_text("1")
    before = load_bot(directory).content
    (directory / "build/x.py").write_text("2")
    assert load_bot(directory).content != before


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
        pytest.skip("nothing to confine with")
    secret = tmp_path / "secret"
    secret.write_text("s")
    secret.chmod(0o644)
    for out in (f"cat {secret}", f"echo x > {secret}", f"touch {tmp_path}/b/touched"):
        bot = make_bot(tmp_path / "b", build=f"{out} && {COPY}")
        with pytest.raises(BotDefinitionError, match="its build failed"):
            build_bots([bot], level)
    assert secret.read_text() == "s"
    assert not (tmp_path / "b/touched").exists()


@pytest.mark.parametrize("mess", ["ln -s /etc/passwd build/link", "mkfifo build/pipe"], ids=["a link", "a pipe"])
def test_only_plain_files_come_back(tmp_path, mess):
    bot = make_bot(tmp_path / "b", build=f"{COPY}; {mess}")
    with pytest.raises(BotDefinitionError, match="neither a file nor a directory"):
        build_bots([bot], choose_isolation("auto"))
    assert not (tmp_path / "b/build").exists()


def archived(*members):
    """Return an archive with members that no honest tar would make."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, kind, size in members:
            info = tarfile.TarInfo(name)
            info.type, info.size, info.mode = kind, size, 0o6755
            if size < 100:
                archive.addfile(info, io.BytesIO(b"x" * size))
            else:
                archive.fileobj.write(info.tobuf())  # only says that it is so large
    return buffer.getvalue()


FILE, DIRECTORY = tarfile.REGTYPE, tarfile.DIRTYPE


@pytest.mark.parametrize(
    "archive",
    [
        archived(("build", DIRECTORY, 0), ("build/../../escaped", FILE, 1)),
        archived(("build", DIRECTORY, 0), ("/tmp/escaped-from-a-build", FILE, 1)),
        archived(("build", DIRECTORY, 0), ("build/huge", FILE, 1 << 40)),
        archived(("build", FILE, 1)),
        archived(("other", DIRECTORY, 0)),
        archived(("build", DIRECTORY, 0), ("build/x", FILE, 1), ("build/x/y", FILE, 1)),
        gzip.compress(archived(("build", DIRECTORY, 0))),
        b"",
        b"no archive at all" * 100,
    ],
    ids=[
        "up and out",
        "absolute",
        "huge",
        "a file",
        "elsewhere",
        "file and directory",
        "compressed",
        "empty",
        "garbage",
    ],
)
def test_what_comes_back_from_a_build_is_not_trusted(tmp_path, archive):
    bot = make_bot(tmp_path / "b")
    with pytest.raises(BotDefinitionError, match="what its build has made can't be kept"):
        building._put_in_place(archive, tmp_path / "b", bot)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b"]
    assert sorted(path.name for path in (tmp_path / "b").iterdir()) == ["bot.toml", "program.sh"]


def test_what_is_built_is_nobodys_but_the_owners(tmp_path):
    bot = make_bot(tmp_path / "b")
    building._put_in_place(archived(("build", DIRECTORY, 0), ("build/bot", FILE, 3)), tmp_path / "b", bot)
    assert oct((tmp_path / "b/build/bot").stat().st_mode & 0o7777) == "0o755"
    assert is_built(bot)


def test_a_build_that_never_ends_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(building, "MOST_SECONDS", 0.3)
    bot = make_bot(tmp_path / "b", build="sleep 1000")
    with pytest.raises(BotDefinitionError, match=r"it took more than 0\.3 s"):
        build_bots([bot], choose_isolation("auto"))


def test_a_built_bot_travels_with_what_was_built(tmp_path, isolation):
    bot = make_bot(tmp_path / "b")
    build_bots([bot], isolation)
    there = unpack(pack(bot), tmp_path)
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
def test_every_way_to_use_a_bot_tells_of_a_failing_build_in_one_sentence(tmp_path, how):
    make_bot(tmp_path / "b", build="echo broken >&2; exit 1")
    file = tmp_path / "t.toml"
    file.write_text(
        'game = "differences"\nformat = "round-robin"\nencounters = 1\n[[entrants]]\nbot = "b"\n'
        '[[entrants]]\nbot = "b"\nname = "c"\n'
    )
    arguments = {
        "check": ["check", tmp_path / "b"],
        "play": ["play", "differences", tmp_path / "b", tmp_path / "b"],
        "run": ["run", file, "-q"],
        "submit": ["submit", tmp_path / "b"],
    }[how]
    done = subprocess.run(
        [*ARENA, *map(str, arguments), "--home", str(tmp_path / "home")], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    first, *rest = done.stderr.splitlines()
    assert first.startswith("arena: bot 'b@1': its build failed (exit status 1): sh -c")
    assert rest == ["  broken"]
    listed = subprocess.run(
        [*ARENA, "bots", "--json", "--home", str(tmp_path / "home")], capture_output=True, text=True, check=False
    )
    assert json.loads(listed.stdout or "[]") == []
