import time

from _wire import receive, send

receive()
send({"type": "ready", "protocol": 1})
time.sleep(1000)
