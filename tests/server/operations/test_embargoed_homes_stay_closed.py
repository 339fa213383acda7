"""Who may not see something is answered before it is opened: the time of the answer can't tell what is there.

`python -m benchmarks.refusals` measures it; here is what it follows from.
"""

from pathlib import Path

import pytest

from arena.server.gate.homes import Homes
from arena.server.operations.opened_people import OPERATIONS
from arena.store.people import submissions
from arena.store.people.values import Permission, Scope, SubmissionState
from tests.community.contests.samples import SEALED, contest_of
from tests.server.operations.conftest import JSON
from tests.server.operations.test_permissions import THERE, named

OF_CONTESTS = [one for one in OPERATIONS if "{name}" in one.path]
OTHERS = {
    "visitor": lambda world: world.client(accept=JSON),
    "author": lambda world: world.browser("ann"),
    "program of a director": lambda world: world.program("dora", Scope.READ, Scope.SUBMIT),
}


@pytest.fixture
def opened(world, monkeypatch):
    """Announce a contest whose results are sealed, and note what is looked for of embargoed homes and results."""
    world.store.contests.add("dora", contest_of(**SEALED))
    found = []

    def noted(name, function):
        def note(*args):
            found.append(name)
            return function(*args)

        monkeypatch.setattr(Homes, name, note)

    for name in ("embargoed", "embargoed_place", "has_embargoed"):
        noted(name, getattr(Homes, name))
    is_file = Path.is_file

    def note_file(path):
        if path.suffix == ".zip":
            found.append(path.name)
        return is_file(path)

    monkeypatch.setattr(Path, "is_file", note_file)
    return found


@pytest.mark.parametrize("who", OTHERS)
@pytest.mark.parametrize("operation", OF_CONTESTS, ids=named)
async def test_who_may_not_see_embargoed_results_opens_no_home_of_them(world, opened, who, operation):
    there = THERE | {"tournament": "spring", "match": "1"}
    response = await OTHERS[who](world).request(operation.method, operation.path.format_map(there))
    refused = operation.who is Permission.DIRECT
    found = (200, 404) if operation.method == "GET" else (400, 401, 404)  # a form without a field, or signed out
    assert response.status_code in ((401, 403) if refused else found)
    assert opened == []


async def test_a_director_opens_the_home_of_embargoed_results(world, opened):
    await world.browser("dora").get("/contests/spring")
    assert "embargoed" in opened


@pytest.fixture
def read(world, monkeypatch):
    ann = world.store.accounts.get("ann")
    one = world.store.submissions.add(ann, "upload", "digest", 10, "mine.py", "a note")
    world.store.submissions.claim().finish(SubmissionState.REJECTED, "a report", "a reason")
    assert one.number == 1
    found, submission_of = [], submissions.submission_of

    def note(row):
        found.append(row.author)
        return submission_of(row)

    monkeypatch.setattr(submissions, "submission_of", note)
    return found


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/submissions", 200),
        ("GET", "/submissions/1", 200),
        ("GET", "/submissions/1/upload", 404),
        ("POST", "/submissions/1/withdraw", 404),
    ],
)
async def test_of_submissions_of_others_nothing_is_read_but_what_lists_show(world, read, method, path, status):
    for client in (world.browser("dora"), world.program("olga", Scope.SUBMIT)):
        assert (await client.request(method, path, headers={"accept": JSON})).status_code == status
    assert read == []


async def test_of_ones_own_submission_all_is_read(world, read):
    details = (await world.browser("ann").get("/submissions/1", headers={"accept": JSON})).json()["details"]
    assert (details["note"], details["report"], details["reason"]) == ("a note", "a report", "a reason")
    assert read == ["ann"]
