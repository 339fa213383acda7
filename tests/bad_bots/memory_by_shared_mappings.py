import mmap

from _wire import answer, play, send

kept = []


def hog(message):
    for _ in range(0 if kept else 40):
        mapping = mmap.mmap(-1, 16_000_000)
        for at in range(0, 16_000_000, 4096):
            mapping[at] = 1
        mapping.madvise(mmap.MADV_DONTNEED)
        kept.append(mapping)
    send(answer(message))


play(hog)
