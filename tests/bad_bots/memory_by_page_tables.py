import mmap
import os

from _wire import play_hog

CHILDREN, BYTES, TABLE_BYTES = 110, 7 << 29, 1 << 21


def read_here_and_there():
    """Take 7 MiB for tables that map nothing but the page of zeros."""
    memory = mmap.mmap(-1, BYTES, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, mmap.PROT_READ)
    memory.madvise(mmap.MADV_NOHUGEPAGE)
    for at in range(0, BYTES, TABLE_BYTES):
        memory[at]
    while True:
        pass


def hog():
    for _ in range(CHILDREN):
        if os.fork() == 0:
            read_here_and_there()


play_hog(hog, 8)
