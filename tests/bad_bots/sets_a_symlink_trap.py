import os
import sys
from pathlib import Path

from _wire import answer, play, send

scratch = Path(os.environ["TMPDIR"])
for number in range(20):
    (scratch / f"trap{number}").symlink_to(sys.argv[1])
deep = scratch
for _ in range(200):
    deep = deep / "d"
    deep.mkdir()
os.chmod(deep, 0)
play(lambda message: send(answer(message)))
