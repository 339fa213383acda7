"""Self-tests of builds that a test has compiled itself, plain or with sanitizers, in processes with limits."""

import functools
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

from arena.games.kernels.build import FLAGS, SOURCES, compile_kernel, find_compiler

QUICK = (*(flag for flag in FLAGS if flag != "-O3"), "-O1", "-ftrivial-auto-var-init=pattern")
"""What is read before it is written is nothing that could be right (gcc 12, clang 8)."""

SANITIZED = (*QUICK, "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")

CPU_SECONDS = 120
"""Far more than any kernel takes that ends, also where others' work makes every second do less."""

MEMORY_BYTES = 2 << 30


@functools.cache
def sanitizer_runtime():
    """Return the library that a Python must load before a build with sanitizers; None where it is missing."""
    command = [*find_compiler().command, "-print-file-name=libasan.so"]
    path = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return path if Path(path).is_absolute() and Path(path).exists() else None


def complaint(game, directory, sources=SOURCES, *, with_sanitizers=False, more_flags=(), cpu_seconds=CPU_SECONDS):
    library = directory / f"{game}{'-sanitized' if with_sanitizers else ''}.so"
    flags = (*(SANITIZED if with_sanitizers else QUICK), *more_flags)
    compile_kernel(game, library, find_compiler(), sources=sources, flags=flags)
    command = [sys.executable, "-m", "arena.games.kernels.self_test", game, str(library)]
    environment, memory_bytes = os.environ, MEMORY_BYTES
    if with_sanitizers:
        # Python's own allocator would hide the ends of small buffers, and it keeps memory on purpose. A table of 17 GB,
        # which costs nothing until it is used, costs 2 GB that say that it may be used, and the time to write them.
        refused = f"allocator_may_return_null=1:max_allocation_size_mb={MEMORY_BYTES >> 20}"
        options = {
            "ASAN_OPTIONS": f"detect_leaks=0:{refused}",
            "PYTHONMALLOC": "malloc",
            "LD_PRELOAD": sanitizer_runtime(),
        }
        environment, memory_bytes = {**os.environ, **options}, resource.RLIM_INFINITY  # they reserve more than there is

    def limit():
        """It may never end, and ask for all memory."""
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds + 1))  # the second one would say no reason
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))

    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit, env=environment, check=False)
    if done.returncode == 0:
        return None
    if done.returncode == -signal.SIGXCPU:
        return f"not done after {cpu_seconds} CPU seconds"
    lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
    return next((line for line in lines if "runtime error" in line or "ERROR: AddressSanitizer" in line), lines[-1])
