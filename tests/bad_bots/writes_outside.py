import os
import sys
from pathlib import Path

from _wire import commit


def deed():
    path = Path(sys.argv[1], f"mark-{os.getpid()}")
    path.write_text("mine")
    path.unlink()
    return path


commit(deed)
