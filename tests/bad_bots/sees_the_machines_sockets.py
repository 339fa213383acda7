import contextlib
import os
from pathlib import Path

from _wire import commit

PLACES = ("/proc/net", "/proc/self/net", f"/proc/{os.getppid()}/net", "/proc/thread-self/net")


def deed():
    seen = {}
    for place in (*PLACES, *Path("/proc/self/task").glob("*/net")):
        for name in ("tcp", "tcp6", "udp", "unix"):
            with contextlib.suppress(OSError):
                seen[f"{place}/{name}"] = len(Path(place, name).read_text().splitlines()) - 1
    if not any(seen.values()):
        raise PermissionError("no socket can be seen")
    return seen


commit(deed)
