import os
import signal

from _wire import commit


def deed():
    if os.getppid() <= 2:
        raise PermissionError("the parent is out of sight")
    os.kill(os.getppid(), signal.SIGKILL)
    return "killed"


commit(deed)
