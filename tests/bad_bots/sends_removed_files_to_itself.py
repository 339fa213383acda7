import os
import socket
import time

from _wire import answer, play, send


def hoard(message):
    ours, theirs = socket.socketpair()
    try:
        for number in range(40):
            path = os.path.join(os.environ["TMPDIR"], str(number))
            with open(path, "wb", buffering=0) as file:
                os.unlink(path)
                file.write(b"x" * 1_000_000)
                socket.send_fds(ours, [b"x"], [file.fileno()])
    except PermissionError as error:
        raise SystemExit("refused") from error
    except OSError:
        pass
    time.sleep(0.6)
    send(answer(message, note=f"{theirs}"))


play(hoard)
