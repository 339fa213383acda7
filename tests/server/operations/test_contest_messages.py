import anyio
import pytest

from arena.store.people.values import Role
from tests.community.contests.samples import contest_of
from tests.server.operations.conftest import JSON, PASSWORD

QUESTION, ANSWER, NEWS = "canary-question <b>", "canary-answer", "canary-news"


@pytest.fixture
def contest(world):
    world.add("eve", Role.AUTHOR)
    return world.store.contests.add("dora", contest_of()).name


async def read(world, who, contest):
    """Return (text, answer, author) of each message that somebody reads; who has signed in has seen them then."""
    client = world.client(accept=JSON) if who is None else world.browser(who)
    answer = await client.get(f"/contests/{contest}", headers={"accept": JSON})
    return [(one["text"], one["answer"], one["author"]) for one in answer.json()["messages"]]


async def new_for(world, who):
    client = world.client(accept=JSON) if who is None else world.browser(who)
    answer = await client.get("/contests", headers={"accept": JSON})
    return [one["unseen"] for one in answer.json()["contests"]]


async def test_a_question_is_between_who_asks_and_directors_until_it_is_answered_for_all(world, contest):
    ann, dora = world.browser("ann"), world.browser("dora")
    assert (await ann.post(f"/contests/{contest}/ask", data={"message": QUESTION})).status_code == 303
    assert await new_for(world, "dora") == [1]
    assert await read(world, "dora", contest) == [(QUESTION, "", "ann")]
    assert await read(world, "ann", contest) == [(QUESTION, "", "")]
    for other in ("eve", None):
        assert await read(world, other, contest) == []
    assert "canary-question &lt;b&gt;" in (await dora.get(f"/contests/{contest}")).text
    address = f"/contests/{contest}/questions/1/answer"
    assert (await ann.post(address, data={"message": ANSWER})).status_code == 403
    assert (await dora.post(f"/contests/{contest}/questions/2/answer", data={"message": ANSWER})).status_code == 400
    assert (await dora.post(address, data={"message": ANSWER})).status_code == 303
    assert [await new_for(world, who) for who in ("ann", "dora", "eve", None)] == [[1], [0], [0], [0]]
    assert await read(world, "eve", contest) == []
    assert await read(world, "ann", contest) == [(QUESTION, ANSWER, "")]
    assert await new_for(world, "ann") == [0]
    assert (await dora.post(address, data={"message": ANSWER, "to_all": "yes"})).status_code == 303
    for other in ("eve", None):
        assert await read(world, other, contest) == [(QUESTION, ANSWER, "")]
    for who, number in (("ann", 0), ("eve", 0), ("dora", 1)):  # whose gaps would tell how much others have asked
        answer = await world.browser(who).get(f"/contests/{contest}", headers={"accept": JSON})
        assert [one["number"] for one in answer.json()["messages"]] == [number]
    assert "ann" not in str(world.store.log.lines(hidden=())[0])


async def test_an_announcement_is_new_until_it_was_seen_in_a_browser(world, contest):
    dora = world.browser("dora")
    assert (await dora.post(f"/contests/{contest}/announce", data={"message": f"{NEWS}\r\nline 2"})).status_code == 303
    assert [await new_for(world, who) for who in ("ann", "eve", None)] == [[1], [1], [0]]
    eve = world.browser("eve")
    assert '<span class="badge">1 new</span>' in (await eve.get("/contests")).text
    for address in ("/account", "/play", "/contests"):  # the bar counts for its reader alone
        assert "1 new message of contests" in (await eve.get(address)).text
        assert "new message" not in (await world.client().get(address)).text
    with anyio.fail_after(120):
        while (await eve.get("/bots")).status_code == 202:  # it is being computed
            await anyio.sleep(0.02)
    assert (await eve.get("/bots")).content == (await world.client().get("/bots")).content  # a page that all share
    first, second = [(await eve.get(f"/contests/{contest}")).text for _ in range(2)]
    assert "new message" not in first + second + (await eve.get("/account")).text
    assert f"{NEWS}\nline 2" in first
    assert ('<span class="badge">new</span>' in first, '<span class="badge">new</span>' in second) == (True, False)
    assert [await new_for(world, who) for who in ("ann", "eve")] == [[1], [0]]
    program = world.program("ann")
    assert (await program.get(f"/contests/{contest}")).json()["messages"][0]["is_new"]
    assert await new_for(world, "ann") == [1]  # a program has not seen it for them
    assert "announced something in the contest" in str(world.store.log.lines(hidden=())[0])


async def test_what_is_sent_is_bounded(world, contest):
    ann, dora = world.browser("ann"), world.browser("dora")
    for text, status in (("x" * 2001, 400), ("", 400), ("a\0b", 400)):
        assert (await dora.post(f"/contests/{contest}/announce", data={"message": text})).status_code == status
    for number in range(5):
        assert (await ann.post(f"/contests/{contest}/ask", data={"message": f"{number}"})).status_code == 303
    refused = await ann.post(f"/contests/{contest}/ask", data={"message": "6"})
    assert (refused.status_code, "5 questions of yours have no answer yet" in refused.text) == (400, True)
    assert (await ann.post("/contests/none/ask", data={"message": "7"})).status_code == 404


async def test_who_leaves_takes_their_questions_along_and_an_answer_for_all_stays(world, contest):
    ann, store = world.store.accounts.get("ann"), world.store.contest_messages
    for _ in range(2):
        store.ask(ann, contest, QUESTION)
    store.answer("dora", contest, 1, ANSWER, is_for_all=True)
    browser = world.browser("ann")
    await browser.get(f"/contests/{contest}")
    data = (await browser.get("/account/data", headers={"accept": JSON})).json()
    questions = [(one["contest"], one["text"], one["answer"]) for one in data["questions"]]
    assert questions == [(contest, QUESTION, ""), (contest, QUESTION, ANSWER)]
    assert (await browser.post("/account/erase", data={"present": PASSWORD})).status_code == 303
    assert QUESTION not in str(world.contents())
    assert await read(world, "eve", contest) == [("", ANSWER, "")]
    assert ann.number not in {one["person_id"] for one in world.contents()["contest_reads"]}
