"""Building kernels where something is wrong: a sentence each, and never a wrong kernel."""

import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from arena.errors import KernelError
from arena.games import make_game
from arena.games.checked_game import checked_game
from arena.lab.kernels import Kernel, build, kernel_of, kernel_status, random_playouts
from arena.lab.kernels.loading import has_kernel, kernels_sentence, load
from arena.lab.kernels.playouts import playouts_by_rules
from tests import needs
from tests.lab.self_tests import complaint, sanitizer_runtime

pytestmark = [pytest.mark.processes, needs.program("cc", "gcc", "clang")]

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
    """Write a shell script that stands in for a compiler."""
    path = directory / "compiler"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def builds(cache, monkeypatch):
    """Counts how often a kernel is compiled in this process."""
    compiled = []
    original = build.compile_kernel
    monkeypatch.setattr(build, "compile_kernel", lambda name, *rest: compiled.append(name) or original(name, *rest))
    return compiled


def again():
    """Forget what this process has loaded."""
    load.cache_clear()
    return kernel_of(GAME)


def test_a_kernel_is_built_once_and_then_found(cache, builds):
    assert kernel_status("differences").path is None
    assert not cache.exists(), "looking makes nothing"
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


def test_without_a_compiler_what_was_built_is_still_used(cache, monkeypatch):
    assert isinstance(again(), Kernel)
    monkeypatch.setenv("PATH", "")
    assert isinstance(again(), Kernel)
    assert kernels_sentence() == f"Kernels of the lab: 1 of 5 built, in {cache}."


def test_a_compiler_that_is_not_there(cache, monkeypatch):
    monkeypatch.setenv("CC", "nocc -O1")
    assert problem() == "there is no C compiler: CC = 'nocc' is not found"
    monkeypatch.setenv("CC", '"')
    load.cache_clear()
    assert problem() == "CC = '\"': No closing quotation"


def test_a_compiler_that_fails(cache, monkeypatch, tmp_path):
    monkeypatch.setenv("CC", str(program(tmp_path, "echo 'x.c:1: error: no stdint.h' >&2; exit 3")))
    assert problem() == f"the C compiler {tmp_path}/compiler fails (exit code 3): x.c:1: error: no stdint.h"
    assert not list(cache.glob("*.so"))


def test_a_compiler_that_makes_nothing(cache, monkeypatch, tmp_path):
    monkeypatch.setenv("CC", str(program(tmp_path, "exit 0")))
    assert problem() == f"the C compiler {tmp_path}/compiler fails (exit code 0)"


def test_a_compiler_that_can_not_be_started(cache, monkeypatch, tmp_path):
    path = tmp_path / "compiler"
    path.write_text("\0nothing")
    path.chmod(0o755)
    monkeypatch.setenv("CC", str(path))
    assert problem() == f"the C compiler {path} can't be started: Exec format error"


def test_a_compiler_that_makes_no_library(cache, monkeypatch, tmp_path):
    """The name after -o is the one before the source."""
    monkeypatch.setenv("CC", str(program(tmp_path, 'while [ "$1" != -o ]; do shift; done; echo text > "$2"')))
    assert problem().startswith("the kernel of differences fails its self-test: ")
    assert not list(cache.glob("*.so"))


def test_a_compiler_that_miscompiles(cache, monkeypatch, tmp_path):
    """As if it counted one bit too many."""
    compiler = build.find_compiler().command[0]
    wrong = f'exec {compiler} -D__builtin_popcountll=1+__builtin_popcountll "$@"'
    monkeypatch.setenv("CC", str(program(tmp_path, wrong)))
    assert problem().startswith("the kernel of differences fails its self-test: the kernel of differences (")
    assert not list(cache.glob("*.so"))


def test_a_compiler_without_march_native(cache, monkeypatch, tmp_path):
    compiler = build.find_compiler().command[0]
    refuse = 'for word; do [ "$word" = -march=native ] && { echo "error: unknown option" >&2; exit 1; }; done'
    monkeypatch.setenv("CC", str(program(tmp_path, f'{refuse}\nexec {compiler} "$@"')))
    assert isinstance(again(), Kernel)


def test_another_compiler_builds_again(cache, builds, monkeypatch, tmp_path):
    assert isinstance(again(), Kernel)
    monkeypatch.setenv("CC", str(program(tmp_path, f'exec {build.find_compiler().command[0]} "$@"')))
    assert isinstance(again(), Kernel)
    assert len(builds) == 2


@pytest.mark.parametrize("damage", ["torn", "changed", "empty", "text"])
def test_a_damaged_build_is_never_loaded(cache, builds, damage):
    assert isinstance(again(), Kernel)
    path = kernel_status("differences").path
    data = path.read_bytes()
    changed = bytearray(data)
    changed[len(data) // 2] ^= 1
    damaged = {"torn": data[: len(data) // 2], "changed": bytes(changed), "empty": b"", "text": b"x" * 99}
    path.unlink()  # a file that is loaded must not change
    path.write_bytes(damaged[damage])
    assert kernel_status("differences").path is None
    assert isinstance(again(), Kernel)
    assert len(builds) == 2
    assert kernel_status("differences").path.read_bytes() == data, "built again, in its place"


def test_a_build_that_others_can_write_is_never_loaded(cache, builds):
    assert isinstance(again(), Kernel)
    kernel_status("differences").path.chmod(0o666)
    assert isinstance(again(), Kernel)
    assert len(builds) == 2
    assert stat.S_IMODE(kernel_status("differences").path.stat().st_mode) == 0o644


def test_a_link_is_never_loaded(cache, builds, tmp_path):
    assert isinstance(again(), Kernel)
    path = kernel_status("differences").path
    path.rename(tmp_path / "elsewhere.so")
    path.symlink_to(tmp_path / "elsewhere.so")
    assert kernel_status("differences").path is None
    assert isinstance(again(), Kernel)
    assert not kernel_status("differences").path.is_symlink()


@needs.root
def test_a_build_of_another_user_is_never_loaded(cache, builds):
    assert isinstance(again(), Kernel)
    os.chown(kernel_status("differences").path, 65534, 65534)
    assert kernel_status("differences").path is None
    assert isinstance(again(), Kernel)
    assert kernel_status("differences").path.stat().st_uid == 0


def test_a_build_of_other_sources_is_not_found(cache, builds, monkeypatch):
    assert isinstance(again(), Kernel)
    monkeypatch.setattr(build, "_key", lambda name: "0" * 16)
    assert kernel_status("differences").path is None


@needs.root
def test_a_cache_of_another_user_is_not_used(cache):
    cache.mkdir(parents=True)
    os.chown(cache, 65534, 65534)
    status = kernel_status("differences")
    assert status.problem == f"the cache directory {cache} belongs to another user (uid 65534)"
    assert isinstance(again(), Kernel), "built for this process alone"
    assert not list(cache.iterdir())


def test_a_cache_that_others_can_write_is_not_used(cache):
    cache.mkdir(parents=True)
    cache.chmod(0o777)
    assert kernel_status("differences").problem == f"other users can write to the cache directory {cache}: chmod go-w"
    assert isinstance(again(), Kernel)
    assert not list(cache.iterdir())


def test_a_cache_that_can_not_be_made_is_not_used(cache, tmp_path):
    (tmp_path / "cache").write_text("a file")
    assert isinstance(again(), Kernel)
    with pytest.raises(
        KernelError, match=f"the cache directory {re.escape(str(cache))} can't be made: Not a directory"
    ):
        build.cache.checked_directory()


@needs.ordinary_user
def test_a_cache_that_can_not_be_written_is_not_used(cache):
    cache.mkdir(parents=True)
    cache.chmod(0o555)
    assert kernel_status("differences").problem == f"the cache directory {cache} can't be written"
    assert isinstance(again(), Kernel)
    cache.chmod(0o755)


def test_a_relative_cache_directory_counts_as_unset(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "here")
    monkeypatch.setenv("HOME", "/home/ada")
    assert build.cache.directory_path() == Path("/home/ada/.cache/arena/kernels")


def test_eight_processes_at_once_build_once(cache, tmp_path, monkeypatch):
    """The compiler is a script that writes a line each time it is started."""
    compiler = build.find_compiler().command[0]
    log = tmp_path / "log"
    monkeypatch.setenv("CC", str(program(tmp_path, f'echo started >> {log}\nexec {compiler} "$@"')))
    code = (
        "from arena.games import make_game; from arena.lab.kernels import kernel_of\n"
        'print(kernel_of(make_game("differences", size=5)).playouts(1, 0, 1000).ranked)'
    )
    started = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(8)]
    answers = {process.communicate(timeout=300)[0] for process in started}
    assert [process.returncode for process in started] == [0] * 8
    assert answers == {f"{playouts_by_rules(GAME, 1, 0, 1000).ranked}\n"}
    assert log.read_text() == "started\n"
    assert len(list(cache.glob("*.so"))) == 1


def test_what_a_killed_process_left_is_removed(cache):
    (cache / ".differences-abc").mkdir(parents=True)
    (cache / ".differences-abc" / "kernel.so").write_bytes(b"half")
    assert isinstance(again(), Kernel)
    assert not (cache / ".differences-abc").exists()


@pytest.mark.parametrize("game", ["differences", "coprimality"])
def test_sanitizers_find_nothing(game, tmp_path):
    if sanitizer_runtime() is None:
        pytest.skip("needs libasan")
    assert complaint(game, tmp_path, with_sanitizers=True) is None


@pytest.mark.soak
@pytest.mark.parametrize("game", ["plusminus", "multiplication", "plaid"])
def test_sanitizers_find_nothing_in_the_other_games(game, tmp_path):
    if sanitizer_runtime() is None:
        pytest.skip("needs libasan")
    assert complaint(game, tmp_path, with_sanitizers=True) is None


def test_rules_matches_and_records_know_nothing_of_the_lab():
    package = Path(build.__file__).parents[2]
    users = {
        path.relative_to(package).parts[0]
        for path in package.rglob("*.py")
        if "arena.lab" in path.read_text(encoding="utf-8")
    }
    assert users <= {"lab", "cli", "web", "report", "site", "tournament"}
    by_tournaments = [path for path in (package / "tournament").glob("*.py") if "arena.lab" in path.read_text("utf-8")]
    assert [path.name for path in by_tournaments] == ["opening_information.py"]
