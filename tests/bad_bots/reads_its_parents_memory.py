import os
from pathlib import Path

from _wire import commit


def deed():
    if os.getppid() <= 2:
        raise PermissionError("the parent is out of sight")
    with Path(f"/proc/{os.getppid()}/mem").open("rb"):
        return "opened it"


commit(deed)
