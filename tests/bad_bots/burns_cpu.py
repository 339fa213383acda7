import time

from _wire import answer, play, send


def burn(message):
    until = time.process_time() + 0.4
    while time.process_time() < until:
        pass
    send(answer(message))


play(burn)
