import time

from _wire import answer, frame, play, write


def twice(message):
    data = frame(answer(message))
    write(data[:2])
    time.sleep(0.02)
    write(data[2:])


play(twice)
