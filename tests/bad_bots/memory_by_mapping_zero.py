import mmap
import os

from _wire import answer, play, send

kept = []


def hog(message):
    zero = os.open("/dev/zero", os.O_RDWR)
    for _ in range(0 if kept else 40):
        mapping = mmap.mmap(zero, 16_000_000)
        for at in range(0, 16_000_000, 4096):
            mapping[at] = 1
        mapping.madvise(mmap.MADV_DONTNEED)
        kept.append(mapping)
    send(answer(message))


play(hog)
