import os
import socket
import time

from _wire import play_hog

kept = []


def hog():
    for _ in range(10):
        if os.fork() == 0:
            fill()
            time.sleep(1000)


def fill():
    for _ in range(100):
        for end in socket.socketpair():
            kept.append(end)
            end.setblocking(False)
            try:
                while True:
                    end.send(b"x" * 30_000)
            except BlockingIOError:
                pass


play_hog(hog, 1.6)
