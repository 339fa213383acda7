import os
import signal
from pathlib import Path

from _wire import commit


def deed():
    found = 0
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = path.read_bytes()
        except OSError:
            continue
        if b"honest" in command and int(path.parent.name) != os.getpid():
            found += 1
            os.kill(int(path.parent.name), signal.SIGKILL)
            return "killed one"
    raise LookupError(f"none to be killed among {found}")


commit(deed)
