import os
import time

from _wire import commit


def deed():
    others = range(max(1, os.getpid() - 100), os.getpid())
    times = {}
    for pid in others:
        try:
            times[pid] = time.clock_gettime(~pid << 3 | 2)  # as clock_getcpuclockid(3) has it
        except OSError:
            continue
    if not times:
        raise PermissionError("no clock can be read")
    return times


commit(deed)
