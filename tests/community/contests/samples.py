"""A contest as text, which tests change line by line."""

from arena.community.contests.contest_file import read_contest

LINES = {
    "name": '"spring"',
    "title": '"Spring contest"',
    "description": '"Two lines\\nof text"',
    "game": '"differences"',
    "options": "{ size = 3 }",
    "opens_at": "2027-01-15T08:00:00",
    "deadline_at": "2027-01-20T23:59:59",
    "time_zone": '"Europe/Berlin"',
    "house_bots": '["arena:greedy"]',
    "results": '"frozen"',
    "frozen_hours": "4.0",
    "time_control": "{ per_action_seconds = 2.0 }",
    "limits": '{ memory_bytes = "512 MiB" }',
    "qualification": '{ format = "ladder", places = 2, ladder = { margin_95 = 9.0 } }',
    "final": "{ encounters = 2 }",
}


def text_of(**changed):
    """Return a contest's text; a changed line that is None is left out."""
    lines = LINES | changed
    return "\n".join(f"{key} = {value}" for key, value in lines.items() if value is not None)


def contest_of(**changed):
    return read_contest(text_of(**changed))


SEALED = {"results": '"sealed"', "frozen_hours": None}
OPEN = {"results": '"open"', "frozen_hours": None}
