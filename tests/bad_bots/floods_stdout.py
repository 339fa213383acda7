from _wire import play, write


def flood(message):
    while True:
        write(b"\x00\x01\x00\x00" + b"x" * 65536)


play(flood)
