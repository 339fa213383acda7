from _wire import play_hog


def hog():
    kept = []
    for _ in range(800):
        kept.append(bytearray(b"x" * 1_000_000))


play_hog(hog)
