import itertools
import os
from pathlib import Path

from _wire import commit

FILES = ("cgroup.procs", "memory.current", "memory.usage_in_bytes", "cpuacct.usage")


def places():
    """The groups that can be listed; and its own, those above it, and those that were made before it."""
    yield from (place for place, _, _ in os.walk("/sys/fs/cgroup"))
    mounts = [line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines() if "cgroup" in line]
    groups = {line.split(":", 2)[2] for line in Path("/proc/self/cgroup").read_text().splitlines()}
    for mount, group in itertools.product(mounts, groups):
        own = Path(f"{mount}{group}")
        stem, _, number = own.name.rpartition("-")
        yield from map(str, (own, *own.parents))
        if number.isdigit():
            yield from (f"{own.parent}/{stem}-{earlier}" for earlier in range(int(number))[-5:])


def deed():
    read = set()
    for place, name in itertools.product({*places()}, FILES):
        try:
            with open(f"{place}/{name}") as file:
                file.read()
        except OSError:
            continue
        read.add(os.path.basename(place))
    if len(read) <= 1 and all(name.startswith("arena-bot-") for name in read):
        raise PermissionError(f"nothing but {read}")
    return sorted(read)


commit(deed)
