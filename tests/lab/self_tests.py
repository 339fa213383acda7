"""Self-tests of builds that a test has compiled itself, plain or with sanitizers, in processes with limits."""

import functools
import os
import resource
import subprocess
import sys
from pathlib import Path

from arena.lab.kernels.build import FLAGS, SOURCES, compile_kernel, find_compiler

QUICK = (*(flag for flag in FLAGS if flag != "-O3"), "-O1", "-ftrivial-auto-var-init=pattern")
"""What is read before it is written is nothing that could be right (gcc 12, clang 8)."""

SANITIZED = (*QUICK, "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")

CPU_SECONDS = 10
MEMORY_BYTES = 2 << 30


@functools.cache
def sanitizer_runtime():
    """Return the library that a Python must load before a build with sanitizers; None where it is missing."""
    command = [*find_compiler().command, "-print-file-name=libasan.so"]
    path = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return path if Path(path).is_absolute() and Path(path).exists() else None


def complaint(game, directory, sources=SOURCES, *, with_sanitizers=False, more_flags=()):
    """Compile a game's kernel and return what its self-test complains of; None if it passes."""
    library = directory / f"{game}{'-sanitized' if with_sanitizers else ''}.so"
    flags = (*(SANITIZED if with_sanitizers else QUICK), *more_flags)
    compile_kernel(game, library, find_compiler(), sources=sources, flags=flags)
    command = [sys.executable, "-m", "arena.lab.kernels.self_test", game, str(library)]
    environment, limit = os.environ, _limit
    if with_sanitizers:
        # Python's own allocator would hide the ends of small buffers, and it keeps memory on purpose
        options = {
            "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
            "PYTHONMALLOC": "malloc",
            "LD_PRELOAD": sanitizer_runtime(),
        }
        environment, limit = {**os.environ, **options}, _limit_time
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit, env=environment, check=False)
    if done.returncode == 0:
        return None
    lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
    return next((line for line in lines if "runtime error" in line or "ERROR: AddressSanitizer" in line), lines[-1])


def _limit_time():
    """A mutant may never end."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _limit():
    """It may ask for all memory as well; sanitizers reserve more than there is."""
    _limit_time()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
