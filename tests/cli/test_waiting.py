"""What a silent command is doing is said in a terminal, and nowhere else."""

import io
import sys

import pytest

from arena.cli.waiting import ERASE_LINE, waiting


class Terminal(io.StringIO):
    """A stderr that is a terminal."""

    def isatty(self):
        return True


def shown(monkeypatch, stderr, *arguments):
    monkeypatch.setattr(sys, "stderr", stderr)
    with pytest.raises(ZeroDivisionError), waiting(*arguments):
        raise ZeroDivisionError
    return stderr.getvalue()


def test_a_terminal_shows_it_until_it_is_over_or_fails(monkeypatch):
    assert shown(monkeypatch, Terminal(), "a\x1b[31m") == f"{ERASE_LINE}a\\x1b[31m …{ERASE_LINE}"


@pytest.mark.parametrize(("stderr", "is_quiet"), [(io.StringIO(), False), (Terminal(), True)])
def test_a_file_and_who_wants_quiet_get_nothing(monkeypatch, stderr, is_quiet):
    assert shown(monkeypatch, stderr, "a", is_quiet) == ""
