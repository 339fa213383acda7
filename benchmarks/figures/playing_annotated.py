"""How long a tournament takes beside a busy annotator, in times of the same tournament without one.

6,000 matches of two bots of the arena on all processors. The annotator works in another home, with 3,000 matches of
the same bots.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

TEXT = """
game = "differences"
options = {{ size = 6 }}
encounters = {encounters}
[[entrants]]
bot = "arena:random_legal"
[[entrants]]
bot = "arena:greedy"
"""
ANNOTATOR = """import os, sys
from arena.lab.matches.annotator_program import main
main([str(os.getppid()), sys.argv[1]])
"""
START_SECONDS = 2.0


def measure():
    with tempfile.TemporaryDirectory() as directory:
        _played(Path(directory, "annotated"), 1500)
        alone = _played(Path(directory, "alone"), 3000)
        command = [sys.executable, "-c", ANNOTATOR, str(Path(directory, "annotated"))]
        with subprocess.Popen(command, start_new_session=True) as annotator:
            time.sleep(START_SECONDS)
            beside = _played(Path(directory, "beside"), 3000)
            assert annotator.poll() is None, "the annotator has ended"
            annotator.kill()
    return {"a tournament beside a busy annotator, in times of its time alone": beside / alone}


def _played(home, encounters):
    """Play a tournament in a session of its own, as another user would; return its seconds."""
    file = home.with_suffix(".toml")
    file.write_text(TEXT.format(encounters=encounters))
    command = [sys.executable, "-m", "arena", "--home", str(home), "run", str(file), "--quiet"]
    started = time.perf_counter()
    subprocess.run(command, check=True, start_new_session=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - started
