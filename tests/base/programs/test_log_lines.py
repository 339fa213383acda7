import json
import logging
import os
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.base.errors import UsageError
from arena.base.programs.log_lines import (
    FIELDS,
    FORMAT_VARIABLE,
    MAX_CHARACTERS,
    REQUEST,
    JsonLines,
    TextLines,
    set_up_logging,
)
from arena.base.programs.service_program import TerminatedError

HOSTILE = "name\r\n2026-01-01 ERROR forged\x1b[2J\u202e\u2028\x00\ud800"


def record(message, *arguments, error=None, **fields):
    info = (type(error), error, error.__traceback__) if error is not None else None
    made = logging.LogRecord("arena.server.http", logging.WARNING, "x.py", 1, message, arguments, info)
    made.created = 1_700_000_000.25
    if fields:
        setattr(made, FIELDS, fields)
    return made


@given(st.text())
def test_an_event_is_one_line_of_what_can_be_seen(text):
    for formatter in (TextLines(), JsonLines()):
        assert formatter.format(record("%s", text)).isprintable()
    assert len(TextLines().format(record("x" * 10 * MAX_CHARACTERS))) < MAX_CHARACTERS + 100


def test_what_a_bot_is_called_forges_no_line_and_a_traceback_is_indented_or_a_field():
    line = TextLines().format(record("bot %s", HOSTILE))
    assert line == (
        "2023-11-14T22:13:20.250+00:00 WARNING arena.server.http: bot"
        r" name\r\n2026-01-01 ERROR forged\x1b[2J\u202e\u2028\x00\ud800"
    )
    try:
        raise ValueError(HOSTILE)
    except ValueError as error:
        failed = record("failed", error=error)
    first, *others = TextLines().format(failed).splitlines()
    assert first.endswith("failed")
    assert all(line.startswith("    ") and line.isprintable() for line in others)
    assert "ValueError" in json.loads(JsonLines().format(failed))["traceback"]


def test_json_has_fields_and_the_request():
    token = REQUEST.set("abc")
    try:
        fields = json.loads(JsonLines().format(record("GET / 200", route="/", status=200)))
        assert " [abc]: " in TextLines().format(record("x"))
    finally:
        REQUEST.reset(token)
    assert fields == {
        "at": "2023-11-14T22:13:20.250+00:00",
        "level": "warning",
        "logger": "arena.server.http",
        "message": "GET / 200",
        "request": "abc",
        "route": "/",
        "status": 200,
    }
    assert "request" not in json.loads(JsonLines().format(record("x")))


@pytest.mark.parametrize(
    ("error", "is_logged"), [(KeyboardInterrupt(), False), (TerminatedError(), False), (OSError(), True)]
)
def test_being_ended_is_no_error_of_whatever_was_done_then(monkeypatch, capsys, error, is_logged):
    monkeypatch.setattr(logging.root, "handlers", [])
    set_up_logging(logging.WARNING)
    try:
        raise error
    except type(error):
        logging.getLogger("sqlalchemy.pool").error("Exception closing connection", exc_info=True)
    assert ("Exception closing connection" in capsys.readouterr().err) == is_logged


@pytest.mark.parametrize(
    ("chosen", "environment", "is_json"), [("json", "text", True), (None, "json", True), (None, "", False)]
)
def test_the_environment_says_the_format_for_programs_that_are_started(monkeypatch, chosen, environment, is_json):
    added = []
    monkeypatch.setattr(logging, "basicConfig", lambda handlers: added.extend(handlers))
    monkeypatch.setenv(FORMAT_VARIABLE, environment)
    set_up_logging(logging.WARNING, chosen)
    assert isinstance(added[0].formatter, JsonLines) is is_json
    assert added[0].stream is sys.stderr
    monkeypatch.setenv(FORMAT_VARIABLE, "xml")
    with pytest.raises(UsageError, match="expected 'text' or 'json'"):
        set_up_logging(logging.WARNING)


@pytest.mark.parametrize(
    ("level", "priority"),
    [(logging.CRITICAL, 2), (logging.ERROR, 3), (logging.WARNING, 4), (logging.INFO, 6), (logging.DEBUG, 7)],
)
def test_the_journal_is_told_how_bad_each_line_is(monkeypatch, level, priority):
    """As sd-daemon(3) has it: SD_CRIT, SD_ERR, SD_WARNING, SD_INFO, SD_DEBUG."""
    added = []
    monkeypatch.setattr(logging, "basicConfig", lambda handlers: added.extend(handlers))
    stderr = os.fstat(2)
    for stream, beginning in ((f"{stderr.st_dev}:{stderr.st_ino}", f"<{priority}>"), ("1:1", ""), ("", "")):
        monkeypatch.setenv("JOURNAL_STREAM", stream)
        set_up_logging(logging.WARNING)
        try:
            raise ValueError("a\nb")
        except ValueError as error:
            failed = record("failed", error=error)
        failed.levelno = level
        lines = added[-1].format(failed).split("\n")
        assert len(lines) > 3
        assert all(line.startswith(beginning) for line in lines)
        assert lines[0].removeprefix(beginning).startswith("2023-11-14")
