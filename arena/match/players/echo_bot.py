"""A bot that answers everything at once with the same few bytes: the rest of a turn is the arena's own share."""

import os

MESSAGE = b"\x82\xa4type\xa5ready\xa8protocol\x01"
FRAME = len(MESSAGE).to_bytes(4, "big") + MESSAGE


def main() -> None:
    """Answer until the input ends."""
    while os.read(0, 65536):
        os.write(1, FRAME)


if __name__ == "__main__":
    main()
