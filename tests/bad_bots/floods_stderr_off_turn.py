import os
import threading

from _wire import answer, play, send


def flood():
    while True:
        os.write(2, b"x" * 65536)


threading.Thread(target=flood, daemon=True).start()
play(lambda message: (threading.Event().wait(0.15), send(answer(message))))
