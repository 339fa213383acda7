from datetime import datetime

from arena.community.contests.contest_file import reading_of
from arena.store.people.contest import ContestStage, StoredContest

OPENS, FREEZE, DEADLINE = (
    datetime.fromisoformat(at).timestamp()
    for at in ("2027-01-15T07:00:00Z", "2027-01-20T18:59:59Z", "2027-01-20T22:59:59Z")
)

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
    return reading_of(text_of(**changed)).check()


def stored_of(**changed):
    contest = contest_of(**changed)
    return StoredContest(
        number=1, contest=contest, rng_seed=7, created_by="dora", created_at="2027-01-01T00:00:00+00:00",
        freeze_at=contest.freeze_at, closed_at=None, stage=ContestStage.ENTRIES, stage_note="", played_at=None,
        reveal_asked_at=None, revealed_at=None, cancelled_at=None, cancel_reason="",
    )  # fmt: skip


SEALED = {"results": '"sealed"', "frozen_hours": None}
OPEN = {"results": '"open"', "frozen_hours": None}
