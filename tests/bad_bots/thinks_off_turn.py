import threading

from _wire import answer, play, send


def think():
    while True:
        pass


threading.Thread(target=think, daemon=True).start()
play(lambda message: send(answer(message)))
