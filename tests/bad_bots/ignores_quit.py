import signal
import time

from _wire import answer, receive, send

for number in range(1, 32):
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_IGN)
while True:
    message = receive()
    if message["type"] == "hello":
        send({"type": "ready", "protocol": 1})
    elif message["type"] == "act":
        send(answer(message))
    elif message["type"] == "quit":
        time.sleep(1000)
