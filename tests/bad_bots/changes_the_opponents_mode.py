import os
import sys

from _wire import commit

path = sys.argv[1]


def change():
    before = os.stat(path).st_mode
    os.chmod(path, before | 0o002)
    if os.stat(path).st_mode == before:
        raise PermissionError("it was not changed")
    os.chmod(path, before)
    return "changed"


commit(change)
