from secrets import token_hex

import pytest

from arena.analysis.measures.standings_cache import standings_of
from arena.base.programs.service_program import ProblemNote
from arena.base.results import EntrantRating
from arena.community.submissions import upload_directory
from arena.server.gate import request as upload
from arena.server.gate.homes import HomeBuilders
from arena.server.operating.service_programs import problems
from arena.server.operations.submissions import AWAITED_SECONDS
from arena.store.home import ArenaHome
from arena.store.people.directors import DirectorState
from arena.store.people.values import Role, Scope, SubmissionState, is_timeout
from arena.store.results.live_state import RunProgress
from arena.store.results.values import OwnedBot
from tests.analysis.measures.test_rating_history import fill as fill_ladder
from tests.server.conftest import answered, client_of
from tests.server.operations.conftest import HTML, JSON

FORM = "multipart/form-data; boundary=x"
FILE = "application/octet-stream"
HEAD_OF_FILE = b'--x\r\nContent-Disposition: form-data; name="file"; filename="xn--\\ud800.py"\r\n\r\n'


@pytest.fixture
def ann(world):
    world.add("eve", Role.AUTHOR)
    return world.browser("ann", accept=JSON)


async def submit_bot(client, data=b"print()", file_name="bot.py", **options):
    return await client.post("/submissions", files={"file": (file_name, data)}, **options)


def uploads(tmp_path):
    return sorted(path.name for path in (tmp_path / "uploads").glob("*"))


async def test_a_form_with_a_file_is_a_submission_that_waits(world, ann, tmp_path):
    answer = await answered(submit_bot(ann), 200)
    assert answer.json() == {"done": "submission 1 is waiting", "to": "/submissions/1"}
    one = world.store.submissions.find(1)
    assert (one.author, one.file_name, one.size_bytes, one.state) == ("ann", "bot.py", 7, SubmissionState.WAITING)
    assert uploads(tmp_path) == [one.upload]
    answer = await submit_bot(ann, b"other", headers={"accept": HTML})  # a browser is led to it
    assert (answer.status_code, answer.headers["location"]) == (303, "/submissions/2")
    assert "It waits to be checked." in (await ann.get("/submissions/1", headers={"accept": HTML})).text


async def test_a_program_sends_the_file_alone(world):
    program = world.program("ann", Scope.SUBMIT)
    for _ in range(2):
        address = "/submissions?file_name=bot.zip&note=mine"
        answer = await program.post(address, content=b"PK", headers={"content-type": FILE})
        assert answer.json()["to"] == "/submissions/1"
    assert world.store.submissions.find(1).note == "mine"


async def test_how_to_fix_it_is_beside_what_is_wrong(world, ann):
    await submit_bot(ann)
    report = "what it wrote to stderr:\nto fix it: what a bot says\nto fix it: return an action"
    world.store.submissions.claim().finish(SubmissionState.REJECTED, report, "illegal")
    assert (await ann.get("/submissions/1")).json()["details"]["hint"] == "return an action"
    page = await ann.get("/submissions/1", headers={"accept": HTML})
    assert '<p class="notice bad">illegal<br>To fix it: return an action</p>' in page.text


@pytest.mark.parametrize("has_length", [True, False])
@pytest.mark.parametrize("is_form", [True, False])
async def test_too_large_an_upload_is_rejected_while_it_comes(ann, tmp_path, monkeypatch, has_length, is_form):
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

    headers = {"content-type": FORM if is_form else FILE} | ({"content-length": "10000000"} if has_length else {})
    answer = await answered(ann.post("/submissions?file_name=a.py", content=pieces(), headers=headers), 400)
    assert "larger than" in answer.json()["error"]
    assert sent < 400_000
    assert uploads(tmp_path) == []


@pytest.mark.parametrize(
    ("content_type", "content", "status"),
    [
        ("text/plain", b"print()", 415),
        ("", b"print()", 415),
        (FILE, b"", 400),
        ("multipart/form-data", b"print()", 400),
        (FORM, b"print()", 400),
        (FORM, b"--x\r\nContent-Disposition: form-data; name=note\r\n\r\na\r\n--x--\r\n", 400),
        (FORM, b"--x\r\nContent-Disposition: form-data; name=file\r\n\r\na\r\n--x--\r\n", 400),
        *(  # codecs that raise another error than UnicodeDecodeError
            (f"{FORM}; charset={codec}", HEAD_OF_FILE + b"a\r\n--x--\r\n", 400)
            for codec in ("idna", "punycode", "undefined")
        ),
    ],
)
async def test_what_is_no_upload_is_rejected(world, ann, tmp_path, content_type, content, status):
    headers = {"content-type": content_type}
    answer = await answered(ann.post("/submissions?file_name=a.py", content=content, headers=headers), status)
    assert answer.json()["error"].endswith(".")
    assert world.store.submissions.find(1) is None
    assert uploads(tmp_path) == []


async def test_a_machine_that_can_contain_nobody_takes_nothing(world, ann, tmp_path, monkeypatch):
    reason = "uploads can't be contained: here"
    monkeypatch.setattr(world.uploads, "upload_obstacle", lambda: reason)
    answer = await answered(submit_bot(ann), 400)
    assert answer.json()["error"] == "Uploads can't be contained: here."
    assert reason in (await world.client().get("/submissions")).text.replace("&#39;", "'")
    assert uploads(tmp_path) == []


async def test_why_it_was_rejected_is_for_its_author_alone(world, ann):
    await submit_bot(ann)
    claim = world.store.submissions.claim()
    claim.finish(SubmissionState.REJECTED, "canary-report", "canary-reason", "canary-bot@1")
    for client in (world.client(), world.browser("eve"), world.browser("dora")):
        for path in ("/submissions", "/submissions/1", "/submissions/1/upload"):
            for accept in (HTML, JSON):
                answer = await client.get(path, headers={"accept": accept})
                assert "canary" not in answer.text
                assert b"print()" not in answer.content
    own = (await ann.get("/submissions/1")).json()
    assert (own["details"]["reason"], own["details"]["report"]) == ("canary-reason", "canary-report")
    assert own["line"]["state"] == "refused"  # the word of the JSON; people read another one
    for path, word in (("/submissions/1", "It is rejected."), ("/submissions", "<td>rejected</td>")):
        assert word in (await ann.get(path, headers={"accept": HTML})).text


async def test_an_author_gets_back_what_was_submitted_and_no_browser_runs_it(ann):
    await submit_bot(ann, b"<script>alert(1)</script>", 'a".html')
    answer = await ann.get("/submissions/1/upload")
    assert answer.content == b"<script>alert(1)</script>"
    assert answer.headers["content-type"] == FILE
    assert answer.headers["content-disposition"].startswith("attachment")
    assert "sandbox" in answer.headers.get_list("content-security-policy")


async def test_what_others_have_submitted_might_as_well_not_exist_and_only_its_author_withdraws_it(world, ann):
    await submit_bot(ann)
    eve = world.browser("eve", accept=JSON)
    for number in (1, 2):
        answer = await answered(eve.get(f"/submissions/{number}/upload"), 404)
        assert answer.json()["error"] == f"You have no submission {number}."
    for client, status in ((eve, 404), (ann, 200), (ann, 400)):
        assert (await client.post("/submissions/1/withdraw")).status_code == status
    assert world.store.submissions.find(1).state is SubmissionState.WITHDRAWN


async def test_health_says_what_is_wrong_with_services_and_nothing_of_what_a_contest_hides(world, directory):
    say = world.store.directors.report_state
    say("calm", "ladder", DirectorState.PLAYING)
    say("stormy", "ladder", DirectorState.RESTING, "3 <b>matches</b> stayed void")
    say("secret", "contest", DirectorState.UNABLE, "secret")
    ProblemNote(directory, "checker").report("nothing is checked: /home/arena is full")
    async with client_of(directory, problems=lambda: tuple(problems(directory, world.store))) as client:
        checker, ladder = (await client.get("/health.json")).json()["troubles"]
        assert checker.startswith("the service that checks what authors submit can't do all of its work")
        assert ladder == "stormy: 3 <b>matches</b> stayed void"
        page = (await client.get("/health")).text
        assert "3 &lt;b&gt;matches" in page
        assert "secret" not in page and "/home/arena" not in page


TIMEOUT = "bot@1 is rejected: in plaid at ply 2: timeout: no answer within 1.1 s"


async def test_what_a_timeout_rejected_is_checked_again_when_its_author_asks(world, ann, tmp_path):
    assert is_timeout(TIMEOUT.replace("timeout:", "start: before it was ready:"))
    assert not is_timeout(TIMEOUT.replace("timeout: no answer", "start: before it was ready: the bot exited: status 1"))
    for data, reason in ((b"1", TIMEOUT), (b"2", TIMEOUT.replace("timeout", "illegal", 1) + ": timeout: x")):
        await submit_bot(ann, data)
        world.store.submissions.claim().finish(SubmissionState.REJECTED, "", reason, "bot@1")
    eve, dora, visitor = world.browser("eve"), world.browser("dora"), world.client()
    asked = ((eve, 1, 404), (dora, 1, 404), (visitor, 1, 401), (ann, 2, 400), (ann, 1, 200))
    for client, number, status in asked:
        answer = await client.post(f"/submissions/{number}/again", headers={"accept": JSON})
        assert answer.status_code == status, (number, answer.text)
    assert [world.store.submissions.find(number).state for number in (1, 2)] == ["waiting", "refused"]
    assert (await ann.post("/submissions/1/again")).status_code == 400
    (tmp_path / "uploads" / world.store.submissions.find(2).upload).unlink()
    assert [bot["may_check_again"] for bot in (await ann.get("/account")).json()["bots"]] == [False]


@pytest.mark.slow
async def test_my_bots_say_how_each_is_and_was_yesterday_and_what_to_do(world, ann, directory):
    with ArenaHome(directory) as home:
        bot = fill_ladder(home, 13, "ladder").definition.entrants[0]
        home.store.set_owner(OwnedBot(bot.label, bot.digest, "ann"))
    await submit_bot(ann, b"1")
    world.store.submissions.claim().finish(SubmissionState.ACCEPTED, "", "", "a@1")
    await submit_bot(ann, b"2", "other.py")
    world.store.submissions.claim().finish(SubmissionState.REJECTED, "", TIMEOUT)
    other, mine = (await ann.get("/account")).json()["bots"]
    assert (other["name"], other["may_check_again"], other["ratings"]) == ("other.py", True, [])
    assert other["reason"] == TIMEOUT
    assert (mine["name"], mine["submission"]["state"], mine["has_logs"]) == ("a", "accepted", True)
    [rating] = mine["ratings"]
    assert (rating["tournament"], rating["rank"], rating["bots"]) == ("ladder", 1, 2)
    with ArenaHome(directory) as home:  # all of it was played long ago
        now = next(line for line in standings_of(home.store, "ladder").lines if line.bot == "a")
    assert (rating["mu"], rating["change"], rating["places_won"]) == (pytest.approx(now.rating.mu), 0.0, 0)
    html = await ann.get("/account", headers={"accept": HTML})
    for text in ("My bots", 'action="/submissions/2/again"', "/bots/a/logs", "1 of 2"):
        assert text in html.text
    for client in (world.browser("eve", accept=JSON), world.program("ann", Scope.READ)):
        assert (await client.get("/account")).json()["bots"] == []


@pytest.mark.slow
async def test_my_bots_say_how_the_newest_version_is_that_a_ladder_has_rated(world, ann, directory):
    with ArenaHome(directory) as home:
        for bot in fill_ladder(home, 13, "ladder", ("c@1", "c@2")).definition.entrants:
            home.store.set_owner(OwnedBot(bot.label, bot.digest, "ann"))
    for number, state in enumerate((SubmissionState.ACCEPTED, SubmissionState.ACCEPTED, SubmissionState.REJECTED), 1):
        await submit_bot(ann, b"%d" % number)
        world.store.submissions.claim().finish(state, "", "", f"c@{number}")
    [mine] = (await ann.get("/account")).json()["bots"]
    assert (mine["submission"]["number"], [rating["bot"] for rating in mine["ratings"]]) == (3, ["c@2"])
    logs = await ann.get("/bots/c/logs", headers={"accept": HTML})
    assert "No match has a fault. What the bot wrote in another match" in logs.text


ASKED_AGAIN = "/asking.js"


def decided(world, state, report="", reason=""):
    world.store.submissions.add(world.store.accounts.get("ann"), token_hex(8), token_hex(32), 100, "new.py", "")
    world.store.submissions.claim().finish(state, report, reason, "new@1")
    return world.store.submissions.latest()[0].number


@pytest.fixture
def submission(world):
    return decided(world, SubmissionState.ACCEPTED)


@pytest.fixture
def store(directory):
    with ArenaHome(directory) as home:
        yield home.store


def rate(store, *bots):
    (tournament,) = store.tournaments()
    ratings = tuple(EntrantRating(bot=bot, mu=26.04, margin_95=9.96) for bot in bots)
    store.live_state(tournament).write_progress(RunProgress(recorded=2, scheduled=4, least_certain=ratings))
    return tournament.name


@pytest.mark.parametrize("who", ["its author", "a visitor"])
async def test_it_is_shown_as_soon_as_there_is_one(world, submission, store, who):
    path = f"/submissions/{submission}"
    client = world.browser("ann") if who == "its author" else world.client()
    name = rate(store, "other@1")
    with store.lock(name):
        before = (await client.get(path)).text
        assert ASKED_AGAIN in before
        assert "so far" not in before
        rate(store, "other@1", "new@1")
        after = (await client.get(path)).text
        assert ASKED_AGAIN not in after
        assert "It is rated 26.0" in after
        answer = (await client.get(path, headers={"accept": JSON})).json()
        assert answer["ratings"] == [{"bot": "new@1", "tournament": name, "mu": 26.04, "margin_95": 9.96}]


async def test_it_is_not_awaited_for_ever_and_not_at_all_if_it_was_rejected(world, submission):
    path, client = f"/submissions/{submission}", world.browser("ann")
    world.now.seconds += AWAITED_SECONDS - 1
    assert ASKED_AGAIN in (await client.get(path)).text
    world.now.seconds += 2
    assert ASKED_AGAIN not in (await client.get(path)).text
    path = f"/submissions/{decided(world, SubmissionState.REJECTED, '', 'wrong')}"
    assert ASKED_AGAIN not in (await client.get(path)).text


async def test_of_the_lines_of_a_failed_build_the_account_has_the_first_and_the_submission_all(world):
    lines, client = "its build failed: cc\n  new.c: error", world.browser("ann")
    number = decided(world, SubmissionState.REJECTED, f"new@1: copied\n{lines}", lines)
    submission, account = [(await client.get(path)).text for path in (f"/submissions/{number}", "/account")]
    assert "its build failed: cc" in account
    assert "new.c" not in account
    assert lines in submission
    assert "\\n" not in submission


async def test_a_document_that_a_hint_names_is_a_page_of_the_guide(world):
    hint = "<b> Submit it with the bot, as docs/dependencies.md says; docs/other.md does not"
    number = decided(world, SubmissionState.REJECTED, f"new@1: copied\nto fix it: {hint}", "no module")
    client = world.browser("ann")
    for path in (f"/submissions/{number}", "/account"):
        text = (await client.get(path)).text
        assert 'as <a href="/guide/dependencies">docs/dependencies.md</a> says; docs/other.md does' in text
        assert "&lt;b&gt; Submit" in text
    assert (await client.get("/guide/dependencies")).status_code == 200


async def test_a_rejected_version_leaves_the_accepted_one_in_its_place(world, submission):
    decided(world, SubmissionState.REJECTED, "", "new@1 has been submitted with other files")
    bots = (await world.browser("ann").get("/account", headers={"accept": JSON})).json()["bots"]
    assert bots[0]["next_step"].endswith("under a new version if this one was accepted before. Until then new@1 plays.")


async def test_an_account_is_late_until_the_ratings_of_its_bots_are_there(world, submission, store, monkeypatch):
    async def nothing(*_, **__):
        return None

    monkeypatch.setattr(HomeBuilders, "kept", nothing)
    client = world.browser("ann")
    assert "retry-after" not in (await client.get("/account")).headers, "no page is known of"
    store.set_owners([OwnedBot("new@1", "d" * 64, "ann")])
    answer = await client.get("/account", headers={"accept": JSON})
    assert "retry-after" in answer.headers
    assert answer.json()["bots"][0]["next_step"] == "Nothing to do: the arena is computing its rating."
