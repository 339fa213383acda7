import contextlib

import pytest

from arena.analysis.measures.standings_cache import standings_of
from arena.base.programs.service_program import ProblemNote
from arena.community.submissions import upload_directory
from arena.community.uploads.containment import Containment
from arena.server.gate import request as upload
from arena.server.operations.opened_people import OpenedPeople
from arena.store.home import ArenaHome
from arena.store.people.directing import DirectorState
from arena.store.people.people_store import PeopleStore
from arena.store.people.values import Role, Scope, SubmissionState, is_timeout
from arena.store.results.values import OwnedBot
from tests.analysis.measures.test_ladder_history import fill as fill_ladder
from tests.server.conftest import answered, client_of

JSON = {"accept": "application/json"}
FORM = "multipart/form-data; boundary=x"
OURS = {"sec-fetch-site": "same-origin"}


class World:
    def __init__(self, directory, client):
        self.directory, self.client = directory, client
        self.people = PeopleStore(directory / "people.sqlite3")
        self.persons = {
            name: self.people.accounts.add(name, role, "test")
            for name, role in (("ada", Role.AUTHOR), ("eve", Role.AUTHOR), ("dora", Role.DIRECTOR))
        }

    def as_(self, name, *scopes):
        if not name:
            return dict(JSON)
        if scopes:
            return JSON | {"authorization": f"Bearer {self.people.tokens.make(self.persons[name], 't', scopes, 1)}"}
        return JSON | OURS | {"cookie": f"arena-here={self.people.sessions.begin(self.persons[name], '', '')}"}

    async def submit_bot(self, name="ada", data=b"print()", file_name="bot.py", **options):
        files = {"file": (file_name, data)}
        return await self.client.post("/submissions", files=files, headers=self.as_(name), **options)

    def uploads(self):
        return sorted(path.name for path in (self.directory / "uploads").glob("*"))


@contextlib.asynccontextmanager
async def world_of(directory, monkeypatch, containment):
    monkeypatch.setattr("arena.server.operations.opened_people.can_contain_uploads", lambda: containment)
    with contextlib.closing(OpenedPeople(directory)) as opened:
        async with client_of(directory, endpoints=opened.endpoints, links=opened.links) as client:
            made = World(directory, client)
            made.opened = opened
            yield made
            made.people.close()


@pytest.fixture
async def world(directory, monkeypatch):
    async with world_of(directory, monkeypatch, Containment(True, "of a test", None)) as made:
        yield made


async def test_a_form_with_a_file_is_a_submission_that_waits(world):
    answer = await answered(world.submit_bot(), 200)
    assert answer.json() == {"done": "submission 1 is waiting", "to": "/submissions/1"}
    one = world.people.submissions.find(1)
    assert (one.author, one.file_name, one.size_bytes, one.state) == ("ada", "bot.py", 7, SubmissionState.WAITING)
    assert world.uploads() == [one.upload]
    headers = world.as_("ada") | {"accept": "text/html"}  # a browser is led to it
    answer = await world.client.post("/submissions", files={"file": ("bot.py", b"other")}, headers=headers)
    assert (answer.status_code, answer.headers["location"]) == (303, "/submissions/2")
    assert "It waits to be checked." in (await world.client.get("/submissions/1", headers=headers)).text


async def test_a_program_sends_the_file_alone(world):
    headers = world.as_("ada", Scope.SUBMIT) | {"content-type": "application/octet-stream"}
    for _ in range(2):
        answer = await world.client.post("/submissions?file_name=bot.zip&note=mine", content=b"PK", headers=headers)
        assert answer.json()["to"] == "/submissions/1"
    assert world.people.submissions.find(1).note == "mine"


async def test_how_to_fix_it_is_beside_what_is_wrong(world):
    await world.submit_bot()
    report = "what it wrote to stderr:\nto fix it: what a bot says\nto fix it: return an action"
    world.people.submissions.claim().finish(SubmissionState.REJECTED, report, "illegal")
    details = (await world.client.get("/submissions/1", headers=world.as_("ada"))).json()["details"]
    assert details["hint"] == "return an action"
    page = await world.client.get("/submissions/1", headers=world.as_("ada") | {"accept": "text/html"})
    assert '<p class="notice bad">illegal<br>To fix it: return an action</p>' in page.text


@pytest.mark.parametrize("has_length", [True, False])
@pytest.mark.parametrize("is_form", [True, False])
async def test_too_large_an_upload_is_rejected_while_it_comes(world, monkeypatch, has_length, is_form):
    for module in (upload, upload_directory):
        monkeypatch.setattr(module, "MAX_UPLOAD_BYTES", 200_000)
    sent = 0

    async def pieces():
        nonlocal sent
        if is_form:
            yield b'--x\r\nContent-Disposition: form-data; name="file"; filename="bot.py"\r\n\r\n'
        for _ in range(1000):
            sent += 10_000
            yield b"x" * 10_000

    headers = world.as_("ada") | {"content-type": FORM if is_form else "application/octet-stream"}
    headers |= {"content-length": "10000000"} if has_length else {}
    answer = await answered(world.client.post("/submissions?file_name=a.py", content=pieces(), headers=headers), 400)
    assert "larger than" in answer.json()["error"]
    assert sent < 400_000
    assert world.uploads() == []


@pytest.mark.parametrize(
    ("content_type", "content", "status"),
    [
        ("text/plain", b"print()", 415),
        ("", b"print()", 415),
        ("application/octet-stream", b"", 400),
        ("multipart/form-data", b"print()", 400),
        (FORM, b"print()", 400),
        (FORM, b"--x\r\nContent-Disposition: form-data; name=note\r\n\r\na\r\n--x--\r\n", 400),
        (FORM, b"--x\r\nContent-Disposition: form-data; name=file\r\n\r\na\r\n--x--\r\n", 400),
    ],
)
async def test_what_is_no_upload_is_rejected(world, content_type, content, status):
    headers = world.as_("ada") | {"content-type": content_type}
    answer = await answered(world.client.post("/submissions?file_name=a.py", content=content, headers=headers), status)
    assert answer.json()["error"].endswith(".")
    assert world.people.submissions.find(1) is None
    assert world.uploads() == []


async def test_a_machine_that_can_contain_nobody_takes_nothing(directory, monkeypatch):
    reason = "uploads can't be contained: here"
    async with world_of(directory, monkeypatch, Containment(False, reason, None)) as world:
        answer = await answered(world.submit_bot(), 400)
        assert answer.json()["error"] == "Uploads can't be contained: here."
        page = await world.client.get("/submissions", headers={"accept": "text/html"})
        assert reason in page.text.replace("&#39;", "'")
        assert world.uploads() == []


async def test_why_it_was_rejected_is_for_its_author_alone(world):
    await world.submit_bot()
    claim = world.people.submissions.claim()
    claim.finish(SubmissionState.REJECTED, "canary-report", "canary-reason", "canary-bot@1")
    for path in ("/submissions", "/submissions/1", "/submissions/1/upload"):
        for who in ("", "eve", "dora"):
            for accept in ("application/json", "text/html"):
                answer = await world.client.get(path, headers=world.as_(who) | {"accept": accept})
                assert "canary" not in answer.text
                assert b"print()" not in answer.content
    own = (await world.client.get("/submissions/1", headers=world.as_("ada"))).json()
    assert (own["details"]["reason"], own["details"]["report"]) == ("canary-reason", "canary-report")
    assert own["line"]["state"] == "refused"  # the word of the JSON; people read another one
    for path, word in (("/submissions/1", "It is rejected."), ("/submissions", "<td>rejected</td>")):
        assert word in (await world.client.get(path, headers=world.as_("ada") | {"accept": "text/html"})).text


async def test_an_author_gets_back_what_was_submitted_and_no_browser_runs_it(world):
    await world.submit_bot(data=b"<script>alert(1)</script>", file_name='a".html')
    answer = await world.client.get("/submissions/1/upload", headers=world.as_("ada"))
    assert answer.content == b"<script>alert(1)</script>"
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"].startswith("attachment")
    assert "sandbox" in answer.headers.get_list("content-security-policy")


async def test_what_others_have_submitted_might_as_well_not_exist_and_only_its_author_withdraws_it(world):
    await world.submit_bot()
    for number in (1, 2):
        answer = await answered(world.client.get(f"/submissions/{number}/upload", headers=world.as_("eve")), 404)
        assert answer.json()["error"] == f"You have no submission {number}."
    assert (await world.client.post("/submissions/1/withdraw", headers=world.as_("eve"))).status_code == 404
    assert (await world.client.post("/submissions/1/withdraw", headers=world.as_("ada"))).status_code == 200
    await answered(world.client.post("/submissions/1/withdraw", headers=world.as_("ada")), 400)
    assert world.people.submissions.find(1).state is SubmissionState.WITHDRAWN


async def test_health_says_what_is_wrong_with_services_and_nothing_of_what_a_contest_hides(world, directory):
    say = world.people.directors.report_state
    say("calm", "ladder", DirectorState.PLAYING)
    say("stormy", "ladder", DirectorState.RESTING, "3 <b>matches</b> stayed void")
    say("secret", "contest", DirectorState.UNABLE, "secret")
    ProblemNote(directory, "checker").report("nothing is checked: /home/arena is full")
    async with client_of(directory, problems=world.opened.problems) as client:
        checker, ladder = (await client.get("/health.json")).json()["troubles"]
        assert checker.startswith("the service that checks what authors submit can't do all of its work")
        assert ladder == "stormy: 3 <b>matches</b> stayed void"
        page = (await client.get("/health")).text
        assert "3 &lt;b&gt;matches" in page
        assert "secret" not in page and "/home/arena" not in page


TIMEOUT = "bot@1 is rejected: in plaid at ply 2: timeout: no answer within 1.1 s"


async def test_what_a_timeout_rejected_is_checked_again_when_its_author_asks(world):
    assert is_timeout(TIMEOUT.replace("timeout:", "start: before it was ready:"))
    assert not is_timeout(TIMEOUT.replace("timeout: no answer", "start: before it was ready: the bot exited: status 1"))
    for data, reason in ((b"1", TIMEOUT), (b"2", TIMEOUT.replace("timeout", "illegal", 1) + ": timeout: x")):
        await world.submit_bot(data=data)
        world.people.submissions.claim().finish(SubmissionState.REJECTED, "", reason, "bot@1")
    for name, number, status in (("eve", 1, 404), ("dora", 1, 404), ("", 1, 401), ("ada", 2, 400), ("ada", 1, 200)):
        answer = await world.client.post(f"/submissions/{number}/again", headers=world.as_(name))
        assert answer.status_code == status, (name, number, answer.text)
    assert [world.people.submissions.find(number).state for number in (1, 2)] == ["waiting", "refused"]
    assert (await world.client.post("/submissions/1/again", headers=world.as_("ada"))).status_code == 400
    (world.directory / "uploads" / world.people.submissions.find(2).upload).unlink()
    page = await world.client.get("/account", headers=world.as_("ada"))
    assert [bot["may_check_again"] for bot in page.json()["bots"]] == [False]


@pytest.mark.slow
async def test_my_bots_say_how_each_is_and_was_yesterday_and_what_to_do(world):
    with ArenaHome(world.directory) as home:
        ladder = fill_ladder(home, 13, "ladder")
        bot = ladder.definition.entrants[0]
        home.store.set_owner(OwnedBot(bot.label, bot.digest, "ada"))
    await world.submit_bot(data=b"1")
    world.people.submissions.claim().finish(SubmissionState.ACCEPTED, "", "", "a@1")
    await world.submit_bot(data=b"2", file_name="other.py")
    world.people.submissions.claim().finish(SubmissionState.REJECTED, "", TIMEOUT)
    page = await world.client.get("/account", headers=world.as_("ada"))
    other, mine = page.json()["bots"]
    assert (other["name"], other["may_check_again"], other["ratings"]) == ("other.py", True, [])
    assert other["reason"] == TIMEOUT
    assert (mine["name"], mine["submission"]["state"], mine["has_logs"]) == ("a", "accepted", True)
    [rating] = mine["ratings"]
    assert (rating["tournament"], rating["rank"], rating["bots"]) == ("ladder", 1, 2)
    with ArenaHome(world.directory) as home:  # all of it was played long ago
        now = next(line for line in standings_of(home.store, "ladder").lines if line.bot == "a")
    assert (rating["mu"], rating["change"], rating["places_won"]) == (pytest.approx(now.rating.mu), 0.0, 0)
    html = await world.client.get("/account", headers=world.as_("ada") | {"accept": "text/html"})
    for text in ("My bots", 'action="/submissions/2/again"', "/bots/a/logs", "1 of 2"):
        assert text in html.text
    assert (await world.client.get("/account", headers=world.as_("eve"))).json()["bots"] == []
    assert (await world.client.get("/account", headers=world.as_("ada", Scope.READ))).json()["bots"] == []


@pytest.mark.slow
async def test_my_bots_say_how_the_newest_version_is_that_a_ladder_has_rated(world):
    with ArenaHome(world.directory) as home:
        for bot in fill_ladder(home, 13, "ladder", ("c@1", "c@2")).definition.entrants:
            home.store.set_owner(OwnedBot(bot.label, bot.digest, "ada"))
    for number, state in enumerate((SubmissionState.ACCEPTED, SubmissionState.ACCEPTED, SubmissionState.REJECTED), 1):
        await world.submit_bot(data=b"%d" % number)
        world.people.submissions.claim().finish(state, "", "", f"c@{number}")
    page = await world.client.get("/account", headers=world.as_("ada"))
    [mine] = page.json()["bots"]
    assert (mine["submission"]["number"], [rating["bot"] for rating in mine["ratings"]]) == (3, ["c@2"])
    logs = await world.client.get("/bots/c/logs", headers=world.as_("ada") | {"accept": "text/html"})
    assert "There is no match with a fault. What it wrote in another match" in logs.text
