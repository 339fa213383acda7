import time
from pathlib import Path

from _wire import answer, play, send


def hog(message):
    for number in range(20):
        Path(f"/dev/shm/arena-zoo-{number}").write_bytes(b"x" * 10_000_000)
    time.sleep(0.6)
    send(answer(message))


play(hog)
