"""Directories that bots of another uid can get to."""

import stat


def open_to_everybody(directory):
    """Let everybody list a directory, and enter those above it; one that everybody may enter is left as it is.

    Directories of tests are closed, also the one above those of a worker of pytest-xdist.
    """
    for place in (directory, *directory.parents):
        mode = stat.S_IMODE(place.stat().st_mode)
        if mode & 0o005 != 0o005:
            place.chmod(mode | 0o055)
