import msgpack
from _wire import answer, play_with_body


def body(message):
    packed = msgpack.packb(answer(message))
    return bytes([packed[0] + 1]) + packed[1:] + msgpack.packb("ply") + msgpack.packb(0)


play_with_body(body)
