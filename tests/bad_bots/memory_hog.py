from _wire import play


def hog(message):
    kept = []
    for _ in range(800):
        kept.append(bytearray(b"x" * 1_000_000))
    raise SystemExit("enough: nobody held me")


play(hog)
