"""A run that stops itself once it has recorded so many matches, so that a test can act in the middle of it.

To look from outside until a number is recorded is too late on a busy machine: the run may be complete by then.
"""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager


@contextmanager
def stepped_run(*arguments, stops, **kwargs):
    """Start ``arena run ARGUMENTS``; yield the process, which stops whenever this run has recorded one of ``stops``."""
    numbers = ",".join(map(str, stops))
    with subprocess.Popen([sys.executable, __file__, numbers, "run", *map(str, arguments)], **kwargs) as run:
        try:
            yield run
        finally:
            run.kill()


def wait_until_stopped(run):
    state = os.waitid(os.P_PID, run.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    assert state.si_code == os.CLD_STOPPED, f"the run has ended by itself ({state.si_status})"


def go_on(run):
    os.waitid(os.P_PID, run.pid, os.WSTOPPED)  # this stop has been seen
    run.send_signal(signal.SIGCONT)


def _main():
    from arena.__main__ import main
    from arena.tournament.run import Run

    stops = sorted(map(int, sys.argv.pop(1).split(",")))
    report = Run._report

    def stopping_report(run, *arguments):
        report(run, *arguments)
        while stops and run.progress.played >= stops[0]:
            stops.pop(0)
            os.kill(os.getpid(), signal.SIGSTOP)

    Run._report = stopping_report
    main()


if __name__ == "__main__":
    _main()
