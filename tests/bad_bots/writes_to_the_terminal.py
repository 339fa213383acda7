import os
from pathlib import Path

from _wire import commit


def deed():
    places = ["/dev/tty", f"/proc/{os.getppid()}/fd/0", f"/proc/{os.getppid()}/fd/1", *Path("/dev/pts").glob("[0-9]*")]
    for place in places:
        try:
            with open(place, "w") as terminal:
                if os.isatty(terminal.fileno()):
                    return f"opened {place}"
        except OSError:
            continue
    raise PermissionError("no terminal to be had")


commit(deed)
