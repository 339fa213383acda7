"""Directories that bots of another uid can get to, and those that are deeper than a path can tell."""

import os
import stat


def open_to_everybody(directory):
    """Let everybody list a directory, and enter those above it; one that everybody may enter is left as it is.

    Directories of tests are closed, also the one above those of a worker of pytest-xdist.
    """
    for place in (directory, *directory.parents):
        mode = stat.S_IMODE(place.stat().st_mode)
        if mode & 0o005 != 0o005:
            place.chmod(mode | 0o055)


def nested(place, names):
    """Make a directory in a directory for each name, and return the descriptor of the last one."""
    here = os.open(place, os.O_RDONLY)
    for name in names:
        os.mkdir(name, dir_fd=here)
        here, above = os.open(name, os.O_RDONLY, dir_fd=here), here
        os.close(above)
    return here
