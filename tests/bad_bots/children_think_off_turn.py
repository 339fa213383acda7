import os

from _wire import answer, play, send

if os.fork() == 0:
    while True:
        pass
play(lambda message: send(answer(message)))
