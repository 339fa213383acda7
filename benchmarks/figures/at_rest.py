"""Memory of ``arena serve`` at rest, in MiB (PSS of all its processes), and how many processes that are.

*Reading* shows a home with 1,656 matches; *open* lets authors in, with the ladder that comes with the arena and nobody
in it. Both have rested: for 45 seconds no process began or ended, and a service without work ends after 20.
"""

import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from arena.sandbox.isolation.reaper import descendants
from benchmarks.synthetic_season import home_of

REST_SECONDS = 45
MOST_SECONDS = 600


def measure():
    taken = {}
    with tempfile.TemporaryDirectory() as directory:
        reading = Path(directory, "reading")
        shutil.copytree(home_of(24, encounters=3), reading)
        taken.update(_serve("reading", reading, []))
        taken.update(_serve("open", Path(directory, "open"), ["--open-to", "authors"]))
    return taken


def _serve(name, home, options):
    command = [sys.executable, "-m", "arena", "--home", str(home), "serve", "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as server:
        assert server.stdout.readline().startswith(b"The arena is at")
        try:
            processes = _at_rest(server.pid)
            return {
                f"arena serve at rest, {name}, MiB": sum(map(_pss_bytes, processes)) / 2**20,
                f"arena serve at rest, {name}, processes": len(processes),
            }
        finally:
            server.send_signal(signal.SIGINT)


def _at_rest(root):
    """Return the processes below one and itself, after a time in which they have not changed."""
    begun, since, processes = time.monotonic(), time.monotonic(), set()
    while time.monotonic() < since + REST_SECONDS:
        if time.monotonic() > begun + MOST_SECONDS:
            raise SystemExit(f"processes begin and end for {MOST_SECONDS} s")
        now = {process for process in {root} | descendants(root) if _has_memory(process)}
        if now != processes:
            since, processes = time.monotonic(), now
        time.sleep(0.2)
    return processes


def _has_memory(process):
    try:
        return bool(Path(f"/proc/{process}/smaps_rollup").read_text())
    except OSError:  # it has ended
        return False


def _pss_bytes(process):
    text = Path(f"/proc/{process}/smaps_rollup").read_text()
    return int(re.search(r"^Pss:\s+(\d+) kB", text, re.MULTILINE)[1]) << 10
