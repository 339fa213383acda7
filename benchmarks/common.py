"""Building the C programs, and describing the machine."""

import os
import platform
import statistics
import subprocess
from pathlib import Path

from arena.base.records import Bot

HERE = Path(__file__).parent
BUILD = HERE / "build"


def build(name):
    """Compile benchmarks/NAME.c and return the program's path."""
    BUILD.mkdir(exist_ok=True)
    program = BUILD / name
    source = HERE / f"{name}.c"
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        subprocess.run(["cc", "-O2", "-o", str(program), str(source)], check=True)
    return program


def instant_bot(name="instant", *args):
    """Return a C bot that answers at once."""
    return Bot(name=name, version="1", command=(str(build("instant_bot")), *args), directory=str(HERE))


def ping_pong_us(rounds=20_000, core=None):
    """Return the microseconds of a round trip between two C programs, the median of five runs."""
    command = [str(build("ping_pong")), str(rounds), *([] if core is None else [str(core)])]
    return statistics.median(float(subprocess.check_output(command)) for _ in range(5))


def machine():
    """Describe the machine in a line."""
    model = "unknown processor"
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
            break
    return f"{os.cpu_count()} cores ({model}), Linux {platform.release()}, Python {platform.python_version()}"
