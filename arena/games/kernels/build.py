"""Builds kernels: compiled under a temporary name, compared with the rules in a process of its own, then renamed."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from arena.base.errors import KernelError
from arena.base.shipped import package_directory, path_of
from arena.games.kernels import cache

SOURCES = path_of("arena.games.kernels")
HEADERS = tuple(sorted(path.name for path in SOURCES.glob("*.h")))

FLAGS = ("-std=c11", "-O3", "-fno-math-errno", "-ffp-contract=off", "-fvisibility=hidden", "-fPIC", "-shared")
"""Without ``errno`` roots are computed several at a time; without contraction they are the same on every processor."""

NATIVE = "-march=native"

_COMPILE_SECONDS = 120
_SELF_TEST_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Compiler:
    """How to call a C compiler, and its path, size and time of change, which tell versions apart, as in ccache."""

    command: tuple[str, ...]
    identity: str


def find_compiler() -> Compiler | KernelError:
    """Return ``$CC``, or the first of cc, gcc and clang; or what is missing."""
    try:
        configured = tuple(shlex.split(os.environ.get("CC", "")))
    except ValueError as error:
        return KernelError(f"CC = {os.environ['CC']!r}: {error}")
    for command in [configured] if configured else [("cc",), ("gcc",), ("clang",)]:
        path = shutil.which(command[0])
        if path is not None:
            status = Path(path).resolve().stat()
            identity = f"{Path(path).resolve()} {status.st_size} {status.st_mtime_ns} {command[1:]}"
            return Compiler((path, *command[1:]), identity)
    if configured:
        return KernelError(f"there is no C compiler: CC = {configured[0]!r} is not found")
    return KernelError("there is no C compiler (cc, gcc or clang)")


def find(name: str, directory: Path) -> Path | None:
    """Return the build of a game that is in a directory; without a compiler, by whichever compiler."""
    compiler = find_compiler()
    made_by = "*" if isinstance(compiler, KernelError) else _digest(compiler.identity)
    return cache.find_whole(directory, f"{name}-{_key(name)}-{made_by}-*.so")


def build(name: str, directory: Path) -> Path:
    """Build a kernel in a directory, unless another process has just done so; KernelError if that fails."""
    compiler = find_compiler()
    if isinstance(compiler, KernelError):
        raise compiler
    with cache.one_at_a_time(directory, name):
        existing = find(name, directory)
        if existing is not None:
            return existing
        for leftover in directory.glob(f".{name}-*"):  # nobody else builds it now: of a process that was killed
            shutil.rmtree(leftover, ignore_errors=True)
        with tempfile.TemporaryDirectory(prefix=f".{name}-", dir=directory, ignore_cleanup_errors=True) as temporary:
            library = Path(temporary) / "kernel.so"
            compile_kernel(name, library, compiler)
            self_test(name, library)
            digest = cache.digest_of(library.read_bytes())
            target = directory / f"{name}-{_key(name)}-{_digest(compiler.identity)}-{digest}.so"
            library.chmod(0o644)
            library.replace(target)
    return target


def compile_kernel(
    name: str, library: Path, compiler: Compiler, *, sources: Path = SOURCES, flags: tuple[str, ...] = FLAGS
) -> None:
    """Compile the C file of a game, for this processor if the compiler can; KernelError with its first complaint."""
    for tuning in ((NATIVE,), ()):
        command = [*compiler.command, *flags, *tuning, "-o", str(library), str(sources / f"{name}.c"), "-lm"]
        result = _run(command, _COMPILE_SECONDS, f"the C compiler {compiler.command[0]}")
        if result.returncode == 0 and library.exists():
            return
    complaint = next((line for line in result.stderr.splitlines() if "error" in line), result.stderr[:200]).strip()
    because = f": {complaint}" if complaint else ""
    raise KernelError(f"the C compiler {compiler.command[0]} fails (exit code {result.returncode}){because}")


def self_test(name: str, library: Path) -> None:
    """Compare a build with the rules, in a process of its own, as a wrong one may crash; KernelError if they differ."""
    command = [sys.executable, "-P", "-m", "arena.games.kernels.self_test", name, str(library)]
    package = str(package_directory().parent)
    paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    result = _run(command, _SELF_TEST_SECONDS, f"the self-test of {name}", environment)
    if result.returncode:
        last_line = (result.stderr.strip().splitlines() or [f"exit code {result.returncode}"])[-1]
        raise KernelError(f"the kernel of {name} fails its self-test: {last_line[:300]}")


def _run(
    command: list[str], seconds: float, subject: str, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            command,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            encoding="utf-8",
            errors="replace",
            timeout=seconds,
            check=False,
            env=environment,
        )
    except subprocess.TimeoutExpired as error:
        raise KernelError(f"{subject} is not done after {seconds:g} s") from error
    except OSError as error:
        raise KernelError(f"{subject} can't be started: {error.strerror}") from error


@functools.cache
def sources_digest(name: str) -> str:
    """Return the digest of a game's C file and all headers."""
    return _digest(*((SOURCES / file).read_bytes() for file in (f"{name}.c", *HEADERS)))


@functools.cache
def _key(name: str) -> str:
    """Return the digest of all that a build depends on but the compiler: sources, rules, flags, processor."""
    rules = path_of("arena.games")
    files = [rules / f"{name}.py", rules / "permutation.py", rules / "surds.py"]
    parts = [file.read_bytes() for file in files]
    return _digest(sources_digest(name), *parts, repr((FLAGS, NATIVE)), platform.machine(), _processor())


def _processor() -> str:
    """Return what the processor can do: a build for one with more would end in an illegal instruction."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor()
    return "\n".join(dict.fromkeys(line for line in lines if line.startswith(("flags", "Features", "model name"))))


def _digest(*parts: str | bytes) -> str:
    sha = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        sha.update(len(data).to_bytes(8, "big") + data)
    return sha.hexdigest()[:16]
