import os

from _wire import commit


def deed():
    os.openpty()
    taken, _ = os.openpty()
    return os.ttyname(taken)


commit(deed)
