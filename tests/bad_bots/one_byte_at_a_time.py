import time

from _wire import answer, frame, play, write


def drip(message):
    for byte in frame(answer(message)):
        write(bytes([byte]))
        time.sleep(0.1)


play(drip)
