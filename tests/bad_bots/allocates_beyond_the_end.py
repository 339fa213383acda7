import ctypes
import errno
import os
import time

from _wire import answer, must, play, send

FALLOC_FL_KEEP_SIZE = 1
libc = ctypes.CDLL(None, use_errno=True)


def allocate(message):
    try:
        for number in range(40):
            descriptor = os.open(os.path.join(os.environ["TMPDIR"], str(number)), os.O_CREAT | os.O_WRONLY)
            size = ctypes.c_long(1 << 20)
            must(libc.fallocate(descriptor, FALLOC_FL_KEEP_SIZE, ctypes.c_long(0), size), libc)
    except OSError as error:
        if error.errno == errno.EOPNOTSUPP:
            raise SystemExit("refused") from error
    time.sleep(0.6)
    send(answer(message))


play(allocate)
