import os
import re
import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from arena.base.errors import KernelError
from arena.games import make_game
from arena.games.checked_game import checked_game
from arena.games.kernels import build
from arena.games.kernels import cache as kernel_cache
from arena.games.kernels.kernel import KERNEL_NAMES, Kernel
from arena.games.kernels.loading import has_kernel, kernel_of, kernel_status, kernels_sentence, load
from arena.games.kernels.playouts import playouts_by_rules, random_playouts
from arena.lab.solving.tables import TableError, TableFile, save_table
from tests import needs
from tests.lab.self_tests import complaint, sanitizer_runtime

pytestmark = needs.program("cc", "gcc", "clang")

GAME = make_game("differences", size=5)


class Impostor(type(GAME)):
    """Other rules under the same name."""


def test_only_the_rules_that_it_was_compared_with_have_a_kernel():
    assert has_kernel(GAME)
    for game in (Impostor(size=5), checked_game(Impostor(size=5), "x:Impostor"), checked_game(GAME, "x:Differences")):
        assert not has_kernel(game)
        assert isinstance(kernel_of(game), KernelError)


def problem():
    found = kernel_of(GAME)
    assert isinstance(found, KernelError)
    assert random_playouts(GAME, 1, 0, 20) == playouts_by_rules(GAME, 1, 0, 20)
    return str(found)


def program(directory, text):
    path = directory / "compiler"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture(scope="session")
def whole_build():
    assert isinstance(kernel_of(GAME), Kernel)
    return kernel_status("differences").path.read_bytes()


@pytest.fixture
def builds(whole_build, cache, monkeypatch):
    """Counts how often a kernel is built in this process; it is compiled and tested once in all, before."""
    built = []
    self_test = build.self_test

    def compile_again(name, library, _compiler):
        built.append(name)
        library.write_bytes(whole_build)

    def check_what_is_new(name, library):
        if library.read_bytes() != whole_build:
            self_test(name, library)

    monkeypatch.setattr(build, "compile_kernel", compile_again)
    monkeypatch.setattr(build, "self_test", check_what_is_new)
    return built


def again():
    """Forget what this process has loaded."""
    load.cache_clear()
    return kernel_of(GAME)


def test_a_kernel_is_built_once_and_then_found(cache, builds):
    assert kernel_status("differences").path is None
    assert not cache.exists(), "looking makes nothing"
    (cache / ".differences-abc").mkdir(parents=True)
    (cache / ".differences-abc" / "kernel.so").write_bytes(b"left by a process that was killed")
    assert isinstance(again(), Kernel)
    assert isinstance(again(), Kernel)
    assert builds == ["differences"]
    assert kernel_status("differences").path.parent == cache
    assert sorted(path.name for path in cache.iterdir())[0] == ".differences.lock"
    assert len(list(cache.iterdir())) == 2, "nothing temporary is left"


def test_without_a_compiler_the_rules_are_used(cache, monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert problem() == "there is no C compiler (cc, gcc or clang)"
    assert "No kernels of the lab: there is no C compiler" in kernels_sentence()


def test_a_compiler_that_is_not_there_or_can_not_be_started(cache, monkeypatch, tmp_path):
    monkeypatch.setenv("CC", "nocc -O1")
    assert problem() == "there is no C compiler: CC = 'nocc' is not found"
    monkeypatch.setenv("CC", '"')
    load.cache_clear()
    assert problem() == "CC = '\"': No closing quotation"
    path = program(tmp_path, "")
    path.write_text("\0nothing")
    monkeypatch.setenv("CC", str(path))
    load.cache_clear()
    assert problem() == f"the C compiler {path} can't be started: Exec format error"


@pytest.mark.slow(only=("miscompiles",), sample=True)
@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "echo 'x.c:1: error: no stdint.h' >&2; exit 3",
            r"the C compiler {compiler} fails \(exit code 3\): x\.c:1: error: no stdint\.h",
        ),
        ("exit 0", r"the C compiler {compiler} fails \(exit code 0\)"),
        (  # the name after -o is the one before the source
            'while [ "$1" != -o ]; do shift; done; echo text > "$2"',
            "the kernel of differences fails its self-test: .*",
        ),
        (  # as if it counted one bit too many
            'exec {real} -D__builtin_popcountll=1+__builtin_popcountll "$@"',
            r"the kernel of differences fails its self-test: the kernel of differences \(.*",
        ),
    ],
    ids=["fails", "makes nothing", "makes no library", "miscompiles"],
)
def test_a_compiler_that_is_of_no_use(cache, monkeypatch, tmp_path, text, message):
    text = text.format(real=build.find_compiler().command[0])
    monkeypatch.setenv("CC", str(program(tmp_path, text)))
    assert re.fullmatch(message.format(compiler=re.escape(f"{tmp_path}/compiler")), problem())
    assert not list(cache.glob("*.so"))


@pytest.mark.slow
def test_a_compiler_without_march_native(cache, monkeypatch, tmp_path):
    compiler = build.find_compiler().command[0]
    refuse = 'for word; do [ "$word" = -march=native ] && { echo "error: unknown option" >&2; exit 1; }; done'
    monkeypatch.setenv("CC", str(program(tmp_path, f'{refuse}\nexec {compiler} "$@"')))
    assert isinstance(again(), Kernel)


def test_a_build_is_used_without_a_compiler_and_not_by_another_compiler_or_for_other_sources(
    cache, builds, monkeypatch, tmp_path
):
    assert isinstance(again(), Kernel)
    compiler = program(tmp_path, f'exec {build.find_compiler().command[0]} "$@"')
    with monkeypatch.context() as without:
        without.setenv("PATH", "")
        assert isinstance(again(), Kernel)
        assert kernels_sentence() == f"Kernels of the lab: 1 of 5 built, in {cache}."
    monkeypatch.setenv("CC", str(compiler))
    assert isinstance(again(), Kernel)
    assert len(builds) == 2
    monkeypatch.setattr(build, "_key", lambda name: "0" * 16)
    assert kernel_status("differences").path is None


def change_a_byte(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def put_a_link(path):
    path.rename(path.parents[3] / "elsewhere.so")
    path.symlink_to(path.parents[3] / "elsewhere.so")


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]), id="torn"),
        pytest.param(change_a_byte, id="changed"),
        pytest.param(lambda path: path.write_bytes(b""), id="empty"),
        pytest.param(lambda path: path.write_bytes(b"x" * 99), id="text"),
        pytest.param(lambda path: path.chmod(0o666), id="others can write it"),
        pytest.param(put_a_link, id="a link"),
        pytest.param(lambda path: os.chown(path, 65534, 65534), id="of another user", marks=needs.root),
    ],
)
def test_a_spoilt_build_is_never_loaded(cache, builds, spoil):
    assert isinstance(again(), Kernel)
    path = kernel_status("differences").path
    data = path.read_bytes()
    path.unlink()  # a file that is loaded must not change
    path.write_bytes(data)
    spoil(path)
    assert kernel_status("differences").path is None
    assert isinstance(again(), Kernel)
    assert len(builds) == 2
    found = kernel_status("differences").path
    assert (found, found.read_bytes()) == (path, data), "built again, in its place"
    about = found.lstat()
    assert (about.st_mode, about.st_uid) == (stat.S_IFREG | 0o644, os.geteuid())


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        pytest.param(lambda cache: cache.chmod(0o777), "chmod go-w"),
        pytest.param(lambda cache: cache.chmod(0o555), "can't be written", marks=needs.ordinary_user),
        pytest.param(lambda cache: (cache.rmdir(), cache.touch()), "can't be made: Not a directory"),
    ],
)
def test_a_spoilt_cache_is_not_used(cache, builds, spoil, message):
    cache.mkdir(parents=True)
    spoil(cache)
    assert kernel_status("differences").problem.endswith(message)
    assert isinstance(again(), Kernel), "built for this process alone"
    assert not cache.is_dir() or not list(cache.iterdir())
    cache.chmod(0o755)


@pytest.mark.slow
def test_four_processes_at_once_build_once(cache, tmp_path, monkeypatch):
    compiler = build.find_compiler().command[0]
    log = tmp_path / "log"
    monkeypatch.setenv("CC", str(program(tmp_path, f'echo started >> {log}\nexec {compiler} "$@"')))
    code = (
        "from arena.games import make_game; from arena.games.kernels.loading import kernel_of\n"
        'print(kernel_of(make_game("differences", size=5)).playouts(1, 0, 1000).ranked)'
    )
    started = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(4)]
    answers = {process.communicate(timeout=300)[0] for process in started}
    assert [process.returncode for process in started] == [0] * 4
    assert answers == {f"{playouts_by_rules(GAME, 1, 0, 1000).ranked}\n"}
    assert log.read_text() == "started\n"
    assert len(list(cache.glob("*.so"))) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "game",
    ["coprimality", *(pytest.param(name, marks=pytest.mark.soak) for name in KERNEL_NAMES if name != "coprimality")],
)
def test_sanitizers_find_nothing(game, tmp_path):
    if sanitizer_runtime() is None:
        pytest.skip("needs libasan")
    assert complaint(game, tmp_path, with_sanitizers=True) is None


STRANGER = 65534


def problem_of_place():
    with pytest.raises(KernelError) as caught:
        kernel_cache.checked_directory()
    return str(caught.value)


def test_a_directory_that_is_made_is_for_this_user_alone_whatever_the_umask(cache):
    before = os.umask(0)
    try:
        assert kernel_cache.checked_directory() == cache
    finally:
        os.umask(before)
    assert {stat.S_IMODE(one.stat().st_mode) for one in (cache, cache.parent, cache.parent.parent)} == {0o755}


@pytest.mark.parametrize("mode", [0o775, 0o757, 0o777])
def test_a_directory_above_in_which_others_can_put_another_is_refused(cache, mode):
    cache.mkdir(parents=True)
    os.chown(cache.parent, -1, STRANGER) if os.geteuid() == 0 else None
    cache.parent.chmod(mode)
    if mode == 0o775 and os.geteuid() != 0:
        pytest.skip("the group may be this user's alone")
    assert problem_of_place() == f"other users can write to the cache directory {cache.parent}: chmod go-w"


@needs.root
@pytest.mark.parametrize(
    ("flags", "uid_map", "is_trusted"),
    [
        (os.ST_RDONLY, "     61214          0          1\n", True),  # a bot in its sandbox, of an arena that root runs
        (os.ST_RDONLY, "0 1000 1\n1 100000 65536\n", False),  # a container
        (0, "61214 61214 1\n", False),
        (os.ST_RDONLY, "         0          0 4294967295\n", False),
    ],
)
def test_what_is_bound_read_only_is_trusted_where_there_is_no_root(cache, monkeypatch, flags, uid_map, is_trusted):
    read_text = Path.read_text
    maps = {"/proc/self/uid_map": uid_map, "/proc/sys/kernel/overflowuid": f"{STRANGER}\n"}
    monkeypatch.setattr(Path, "read_text", lambda path, *some: maps.get(str(path)) or read_text(path, *some))
    monkeypatch.setattr(os, "statvfs", lambda path: SimpleNamespace(f_flag=flags))
    cache.mkdir(parents=True)
    os.chown(cache, STRANGER, STRANGER)
    if is_trusted:
        assert kernel_cache.checked_directory() == cache
    else:
        assert problem_of_place() == f"the cache directory {cache} belongs to another user (uid {STRANGER})"


@needs.root
def test_a_directory_above_of_another_user_is_refused_and_a_link_of_theirs_to_one_of_ours(cache, tmp_path):
    cache.parent.mkdir(parents=True)
    cache.symlink_to(tmp_path)
    os.chown(cache, STRANGER, STRANGER, follow_symlinks=False)
    assert problem_of_place() == f"the cache directory {cache} belongs to another user (uid {STRANGER})"
    cache.unlink()
    os.chown(cache.parent, STRANGER, STRANGER)
    assert problem_of_place() == f"the cache directory {cache.parent} belongs to another user (uid {STRANGER})"


def test_a_link_of_ours_to_where_others_can_write_is_refused(cache, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "arena").mkdir(parents=True)
    elsewhere.chmod(0o777)
    cache.parent.parent.mkdir()
    cache.parent.symlink_to(elsewhere / "arena")
    assert problem_of_place() == f"other users can write to the cache directory {elsewhere}: chmod go-w"


def test_a_link_of_ours_is_followed_also_where_each_may_remove_only_what_is_theirs(cache, tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "disk").chmod(0o1777)
    cache.parent.parent.symlink_to(tmp_path / "disk")
    assert kernel_cache.checked_directory() == cache
    assert (tmp_path / "disk" / "arena" / "kernels").is_dir()


@pytest.fixture
def table(tmp_path):
    game = make_game("plusminus", size=2)
    save_table(game, "plusminus", [(game.initial_state(), 0)], tmp_path / "plusminus.table")
    return game, tmp_path / "plusminus.table"


def test_a_table_can_be_read_by_bots_with_uids_of_their_own(table):
    game, file = table
    assert stat.S_IMODE(file.stat().st_mode) == 0o644
    TableFile(game, "plusminus", file).close()


NOT_OURS = "can't be read: it is no regular file that only you or root can write"


def put_elsewhere(file):
    file.rename(file.parent / "elsewhere")
    file.symlink_to(file.parent / "elsewhere")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        pytest.param(lambda file: file.chmod(0o664), NOT_OURS, id="its group can write it"),
        pytest.param(lambda file: file.chmod(0o646), NOT_OURS, id="others can write it"),
        pytest.param(lambda file: os.chown(file, STRANGER, STRANGER), NOT_OURS, id="of a stranger", marks=needs.root),
        pytest.param(lambda file: (file.unlink(), os.mkfifo(file)), NOT_OURS, id="a fifo, which holds nobody"),
        pytest.param(put_elsewhere, "can't be read: Too many levels of symbolic links", id="a link"),
    ],
)
def test_a_table_that_others_may_have_written_is_refused(table, spoil, message):
    game, file = table
    spoil(file)
    with pytest.raises(TableError, match=message):
        TableFile(game, "plusminus", file)
