import os
from pathlib import Path

from _wire import answer, play, send

book = Path(os.environ["TMPDIR"], "book")


def note(message):
    with book.open("a") as file:
        file.write("x" * 10_000)
    send(answer(message))


play(note)
