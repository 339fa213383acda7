import time


def wait_until(is_so, seconds=120.0, explained=str, alive=()):
    """Wait until something is so.

    Args:
        is_so: is asked again and again.
        seconds: the most to wait; a busy machine takes its time.
        explained: returns what is said if it does not come.
        alive: processes that must not end meanwhile.
    """
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, explained()
        assert all(process.poll() is None for process in alive), explained()
        time.sleep(0.05)
