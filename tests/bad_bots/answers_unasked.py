from _wire import receive, send

while True:
    message = receive()
    if message["type"] == "hello":
        send({"type": "ready", "protocol": 1})
    elif message["type"] == "match":
        send({"type": "action", "ply": 1, "action": [1, 1]})
