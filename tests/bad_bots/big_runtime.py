from _wire import answer, play, send

ballast = bytearray(b"x" * 300 * 1024 * 1024)
play(lambda message: send(answer(message)))
