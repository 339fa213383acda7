import sys

from _wire import answer, receive, send

TRICK = "\x1b[2J\x1b]0;owned\x07\u202eevil\r\n=1+1<script>alert(1)</script>"
while True:
    message = receive()
    if message["type"] == "hello":
        send({"type": "ready", "protocol": 1, "name": TRICK, "author": TRICK})
    elif message["type"] == "act":
        print(TRICK, file=sys.stderr)
        send(answer(message, note=TRICK))
    elif message["type"] == "quit":
        break
