import fcntl
import sys

from _wire import commit

one, other = open(sys.executable, "rb"), open(sys.executable, "rb")  # noqa: SIM115


def lock():
    fcntl.flock(one, fcntl.LOCK_EX | fcntl.LOCK_NB)
    try:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return "it is seen"
    finally:
        fcntl.flock(one, fcntl.LOCK_UN)
    raise PermissionError("nobody sees it")


commit(lock)
