import threading
import time

from _wire import play


def bomb(message):
    for _ in range(2000):
        try:
            threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
        except RuntimeError:
            break
    time.sleep(1000)


play(bomb)
