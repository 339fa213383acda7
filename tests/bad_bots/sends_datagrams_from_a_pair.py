import socket

from _wire import commit


def send():
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with one, other:
        other.bind("\0arena-zoo-0-datagrams")
        one.sendto(b"x", "\0arena-zoo-0-datagrams")
        return other.recv(1)


commit(send)
