import threading

from _wire import answer, play, send

for _ in range(40):
    threading.Thread(target=threading.Event().wait, daemon=True).start()
play(lambda message: send(answer(message)))
