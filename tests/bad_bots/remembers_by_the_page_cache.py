import os
from pathlib import Path

from _wire import commit


def deed():
    file = os.open(Path(__file__).with_name("_hidden_work.py"), os.O_RDONLY)
    os.fsync(file)  # what isn't on disk yet can't be dropped
    try:
        os.preadv(file, [bytearray(1)], 0, os.RWF_NOWAIT)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.preadv(file, [bytearray(1)], 0, os.RWF_NOWAIT)
        raise PermissionError("it is still in memory")
    except BlockingIOError:
        return "its file is not in memory"
    finally:
        os.close(file)


commit(deed)
