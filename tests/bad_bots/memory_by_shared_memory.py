from pathlib import Path

from _wire import play_hog


def hog():
    for number in range(20):
        with Path(f"/dev/shm/arena-zoo-{number}").open("wb") as file:
            for _ in range(40):
                file.write(b"x" * 1_000_000)


play_hog(hog)
