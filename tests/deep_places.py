import os


def nested(place, names):
    """Make a directory in a directory for each name, and return the descriptor of the last one."""
    here = os.open(place, os.O_RDONLY)
    for name in names:
        os.mkdir(name, dir_fd=here)
        here, above = os.open(name, os.O_RDONLY, dir_fd=here), here
        os.close(above)
    return here
