import os
import pty
import re
import select
import subprocess
import sys


class Terminal:
    def __init__(self, command, options=(), **environment):
        self._ours, theirs = pty.openpty()
        settings = {"COLUMNS": "80", "LINES": "24", "TERM": "xterm"} | environment
        self.process = subprocess.Popen(
            command,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,  # or a hidden question would be asked at the terminal of the tests
            env={name: value for name, value in os.environ.items() if name != "NO_COLOR"} | settings,
            **dict(options),
        )
        os.close(theirs)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self._ours)

    def type(self, keys):
        os.write(self._ours, keys)

    def read_until(self, pattern, seconds=60.0):
        """Read until a pattern has come, or, if there is none, until the command ends; return the text."""
        text = b""
        try:
            while pattern is None or not re.search(pattern, text.decode(errors="replace")):
                assert select.select([self._ours], [], [], seconds)[0], f"{pattern} did not come:\n{text}"
                text += os.read(self._ours, 65536)
        except OSError:  # how a terminal ends
            assert pattern is None, f"{pattern} did not come:\n{text}"
        return text.decode()


def arena_at_a_terminal(arguments, **environment):
    return Terminal([sys.executable, "-m", "arena", *map(str, arguments)], **environment)


def shown_at_a_terminal(arguments, **environment):
    with arena_at_a_terminal(arguments, **environment) as terminal:
        return terminal.read_until(None)
