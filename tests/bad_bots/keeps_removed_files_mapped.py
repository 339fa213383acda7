import mmap
import os

from _wire import play_hog

kept = []


def hoard():
    for number in range(40):
        path = os.path.join(os.environ["TMPDIR"], str(number))
        with open(path, "w+b", buffering=0) as file:
            file.write(b"x" * 1_000_000)
            map_only(file.fileno())
        os.unlink(path)


def map_only(descriptor):
    """Map a page without the copy of the descriptor that ``mmap`` keeps."""
    import ctypes

    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    kept.append(libc.mmap(None, ctypes.c_size_t(4096), mmap.PROT_READ, mmap.MAP_SHARED, descriptor, ctypes.c_long(0)))


play_hog(hoard, 0.6)
