import mmap
import os
import time

from _wire import play

kept = []


def hoard(message):
    try:
        for number in range(40):
            path = os.path.join(os.environ["TMPDIR"], str(number))
            with open(path, "w+b", buffering=0) as file:
                file.write(b"x" * 1_000_000)
                map_only(file.fileno())
            os.unlink(path)
    except OSError:
        pass
    time.sleep(0.6)
    raise SystemExit("enough: nobody held me")


def map_only(descriptor):
    """Map a page without the copy of the descriptor that ``mmap`` keeps."""
    import ctypes

    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    kept.append(libc.mmap(None, ctypes.c_size_t(4096), mmap.PROT_READ, mmap.MAP_SHARED, descriptor, ctypes.c_long(0)))


play(hoard)
