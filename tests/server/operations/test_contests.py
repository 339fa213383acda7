import html
import re
from datetime import UTC, datetime

import anyio
import pytest

from arena.base.errors import DefinitionError
from arena.base.shipped import PREFIX, example_bots
from arena.community.contests.contest_file import reading_of
from arena.community.contests.contest_text import contest_text, template_names, template_text
from arena.games import GAMES
from arena.server.http.page_response import FIRST_SECONDS
from arena.server.operations import contest_changes
from arena.server.operations.contest_form import NewContest, changed_text, form_template, form_text
from arena.site.frame.model import Lane
from arena.store.home import ArenaHome
from arena.store.people.values import Role, Scope
from arena.tournament.formats.format import FORMATS
from tests.analysis.text.tournaments import play
from tests.community.contests.samples import contest_of
from tests.server.conftest import answered
from tests.server.operations.conftest import JSON, PASSWORD

FORM = {
    "template": "class",
    "title": "Spring contest",
    "name": "spring",
    "description": "Bring a bot.\r\n<b>It</b> may lose.",
    "opens_at": "2027-03-01T08:00",
    "deadline_at": "2027-03-08T23:59:59",
    "time_zone": "Europe/Berlin",
    "entrants": "everybody",
    "ladders": "",
    "invited": "",
    "bots_per_author": "1",
    "game": "differences",
    "options": '{"size": 6}',
    "per_action_seconds": "0.5",
    "memory_mib": "512",
    "house_bots": ["arena:greedy", "arena:minimal"],
    "qualification": "none",
    "places": "8",
    "final": "round-robin",
    "encounters": "10",
    "results": "sealed",
    "frozen_hours": "4",
    "reveal_at": "",
}


@pytest.fixture
async def dora(world, quick):
    return world.browser("dora")


@pytest.fixture
def quick(monkeypatch):
    """Texts are read here: a process of its own takes a third of a second to start, and reads the same."""
    monkeypatch.setattr(contest_changes, "read_apart", reading_of)


async def announced(dora, **changes):
    response = await answered(dora.post("/contests", data=FORM | changes), 303)
    return response.headers["location"]


def log_of(world):
    return [(line.by, line.action, line.subject, line.reason) for line in world.store.log.lines(hidden=())]


async def test_what_another_director_has_just_changed_is_not_undone(world, dora, monkeypatch):
    address = await announced(dora)

    def read_late(text):
        before = contest_text(world.store.contests.get("spring").contest)
        world.store.contests.change("olga", "spring", reading_of(changed_text(before, {"title": '"New"'})), "hers")
        return reading_of(text)

    monkeypatch.setattr(contest_changes, "read_apart", read_late)
    sent = {"description": "Mine", "reason": "his"}
    await answered(dora.post(f"{address}/change", data=sent), 400, "another director has just changed it; look at it")
    stored = world.store.contests.get("spring").contest
    assert (stored.title, stored.description) == ("New", FORM["description"].replace("\r", ""))


async def test_a_form_from_before_the_change_of_another_director_undoes_nothing(world, dora):
    address = await announced(dora)
    page = (await dora.get(address)).text
    [before] = set(re.findall(r'name="before" value="(.+?)"', page))
    assert (await world.browser("olga").post(f"{address}/change", data={"title": "New", "reason": "hers"})).is_redirect
    malformed = {"title": "a\nb", "before": before}
    page = (await answered(dora.post(f"{address}/change", data=malformed), 400)).text
    assert set(re.findall(r'name="before" value="(.+?)"', page)) == {before}
    for sent in ({"title": FORM["title"], "description": "Mine"}, {"text": contest_text(contest_of())}):
        again = dora.post(f"{address}/change", data=sent | {"reason": "his", "before": before})
        page = (await answered(again, 400, "another director has just changed it; look at it")).text
    assert world.store.contests.get("spring").contest.title == "New"
    [now] = set(re.findall(r'name="before" value="(.+?)"', page))
    sent = {"description": "Mine", "reason": "his", "before": now}
    assert (await dora.post(f"{address}/change", data=sent)).is_redirect
    assert world.store.contests.get("spring").contest.description == "Mine"


@pytest.mark.slow(sample=True)
async def test_a_contest_is_made_by_the_form(world):
    assert await announced(world.browser("dora")) == "/contests/spring"
    contest = world.store.contests.get("spring").contest
    assert (contest.opens_at, contest.deadline_at) == ("2027-03-01T07:00:00+00:00", "2027-03-08T22:59:59+00:00")
    assert contest.description == "Bring a bot.\n<b>It</b> may lose."
    assert contest.house_bots == ("arena:greedy", "arena:minimal")
    assert (contest.time_control.per_action_seconds, contest.limits.memory_bytes) == (0.5, 512 * 2**20)
    assert (contest.final.format, contest.final.encounters, contest.qualification) == ("round-robin", 10, None)
    assert log_of(world)[0] == ("dora", "announced the contest", "spring", "")
    page = await world.client().get("/contests/spring")
    assert "Mon 8 Mar 2027, 23:59:59" in page.text
    assert "(Europe/Berlin, UTC+01:00)" in page.text
    assert "&lt;b&gt;It&lt;/b&gt;" in page.text


@pytest.mark.slow
async def test_a_contest_is_made_of_toml(world):
    program = world.program("dora", Scope.DIRECT)
    text = template_text("cup", "spring", "UTC", datetime(2027, 2, 1, tzinfo=UTC))
    response = await program.post("/contests", json={"text": text})
    assert response.json() == {"done": "announced the contest spring", "to": "/contests/spring"}
    assert world.store.contests.get("spring").contest == reading_of(text).check()


@pytest.mark.slow
async def test_a_template_with_a_title_and_times_is_a_contest(world, dora):
    page = await dora.get("/contests/new?template=league", headers={"accept": JSON})
    fields = page.json()["fields"] | {"house_bots": page.json()["chosen_house_bots"]}
    own = {key: FORM[key] for key in ("title", "name", "opens_at", "deadline_at")}
    await answered(dora.post("/contests", data=fields | own), 303)


def test_the_form_offers_what_there_is_and_each_field_has_a_mistake_here():
    assert {*WRONG, "template", "text", "description"} == NewContest.model_fields.keys()
    assert sorted(contest_changes.GAMES) == sorted(GAMES)
    closed = {name for name, kind in FORMATS.items() if not kind.open_entry}
    assert {*contest_changes.FINAL_FORMATS} == closed - {"gauntlet"}
    known = {PREFIX + bot for bot in example_bots()}
    now = datetime.now(UTC)
    assert all(known >= set(form_template(name, now).house_bots) for name in template_names())


@pytest.mark.parametrize("name", template_names())
def test_a_template_is_the_same_contest_from_the_form_and_from_the_command_line(name):
    now = datetime(2027, 1, 31, 23, 30, tzinfo=UTC)
    template = form_template(name, now)
    sent = {**template.fields, "name": "spring", "title": "Spring"}
    assert (
        reading_of(form_text(sent, template.house_bots)).check()
        == reading_of(template_text(name, "spring", "UTC", now)).check()
    )
    assert template.text == template_text(name, "spring", "UTC", now)


@pytest.mark.slow
async def test_the_options_of_a_game_are_fields_of_the_form(world, dora, quick, monkeypatch):
    monkeypatch.setitem(FIRST_SECONDS, Lane.BOARDS, 60.0)
    page = await dora.get("/contests/new?template=class&game=plusminus", headers={"accept": "text/html"})
    fields = dict(re.findall(r'<(?:select|input)[^>]* name="(\w+)"(?: value="(\w*)")?', page.text))
    assert fields["option_size"] == "8"
    assert "option_grid_first" in fields
    assert '<option value="plusminus" selected>' in page.text
    rest = {name: value for name, value in FORM.items() if name != "options"} | {"game": "plusminus"}
    refused = await dora.post("/contests", data=rest | {"option_size": "1000", "option_grid_first": "2"})
    assert "Options of the game: size = 1000: expected" in html.unescape(re.sub("<[^>]*>", "", refused.text))
    assert 'name="option_size" value="1000"' in refused.text
    await answered(dora.post("/contests", data=rest | {"option_size": "5", "option_grid_first": "2"}), 303)
    assert world.store.contests.get("spring").contest.options == {"size": 5, "grid_first": 2}


@pytest.mark.slow
async def test_another_template_or_game_leaves_what_was_typed(dora):
    """What is as the template of a class had it becomes as that of a cup has it; options belong to their game."""
    first = (await dora.get("/contests/new?template=class", headers={"accept": JSON})).json()
    untouched = first["fields"] | {"house_bots": first["chosen_house_bots"], "before": "class differences"}
    opens = first["fields"]["opens_at"].removesuffix(":00")  # as browsers send it
    typed = {"title": "Spring", "options": '{"size": 9}', "bots_per_author": "3", "reveal_at": "2099-03-01T08:00"}

    async def page_after(**sent):
        page = await dora.post("/contests/new", data=untouched | {"opens_at": opens} | sent, headers={"accept": JSON})
        return page.json()["template"], page.json()["fields"], page.json()["chosen_house_bots"]

    cup = (await dora.get("/contests/new?template=cup", headers={"accept": JSON})).json()
    name, fields, bots = await page_after(template="cup", **typed)
    assert (name, fields, bots) == ("cup", cup["fields"] | typed, cup["chosen_house_bots"])
    assert fields["qualification"] != first["fields"]["qualification"]
    _, fields, bots = await page_after(template="cup", game="plaid", house_bots=["arena:greedy"], **typed)
    assert (fields["game"], fields["options"], fields["title"], bots) == ("plaid", "{}", "Spring", ["arena:greedy"])
    _, fields, _ = await page_after(template="cup", game="plaid", options='{"size": 5}', before="class plaid")
    assert (fields["game"], fields["options"]) == ("plaid", '{"size": 5}')
    _, fields, _ = await page_after(template="class", options='{"size": 5}', before="class plaid")
    assert (fields["game"], fields["options"]) == ("differences", first["fields"]["options"])
    odd = untouched | {"options": '{"size": {"is": 5}, "scoring": 0.5}'}
    page = (await dora.post("/contests/new", data=odd, headers={"accept": JSON})).json()
    assert [one["value"] for one in page["options"]] == ['{"is": 5}', "0.5", 0]
    wrong = await dora.post("/contests/new", data={"template": "class", "game": "chess"}, headers={"accept": JSON})
    assert (wrong.status_code, wrong.json()["error"]) == (404, "There is no game 'chess'.")
    wrong = await dora.post("/contests/new", data=untouched | {"house_bots": ["nobody"]}, headers={"accept": JSON})
    assert wrong.status_code == 400
    assert wrong.json()["error"].startswith("House_bots: 'nobody': expected 'arena:")


WRONG = {
    "deadline_at": ("2027-03-01", "Deadline: expected a date and time"),
    "opens_at": ("2027-03-28T02:30", "Opens: in Europe/Berlin this time comes never, for the clocks are put forward"),
    "reveal_at": ("2027-03-02T12:00", "Revealed at; by a director if empty: expected a time that is not before"),
    "time_zone": ("Europe/Nowhere", "Time zone: expected a time zone of the IANA database"),
    "options": (
        '{"size": nan}',
        "Options of the game: expected a table such as { size = 6 }; in a form, a JSON object",
    ),
    "name": ("../etc", "Name, for addresses: expected 1 to 48 lower-case letters"),
    "title": ("a\x7fb", "Title: expected text in one line, without control characters"),
    "invited": ("ada, y!", "Invited, by name: 'y!': expected 2 to 32 letters"),
    "bots_per_author": ("1.5", "Bots of each author: expected a whole number from 1 to 10"),
    "encounters": ("10; drop", "Encounters of each pairing: expected a whole number from 1 to 100,000"),
    "per_action_seconds": ("1\n[limits]", "Seconds for an action: expected text in one line, without control"),
    "memory_mib": ("-1", "Memory of a bot, in MiB: expected a whole number from 16 to 1,073,741,824"),
    "game": ("chess", "Game: expected 'plusminus'"),
    "entrants": ("nobody", "Who may enter: expected 'everybody' or 'invited'"),
    "results": ("secret", "Results are: expected 'open', 'frozen' or 'sealed'"),
    "frozen_hours": ("500", "How many last hours before the deadline: expected at most 183.99972, the hours"),
    "places": ("0x10", "How many go on from it: expected a whole number from 2 to 1,000"),
    "qualification": ("chess", "Qualification: format = 'chess': expected 'round-robin'"),
    "house_bots": (["arena:greedy", "/etc/passwd"], "House bots that play along: '/etc/passwd': expected an"),
    "ladders": ("maybe", "While results are hidden, bots that can enter: expected true or false"),
    "final": ("ladder", "Format of the final, or of everything: format = 'ladder': expected 'round-robin'"),
}
LEFT_OUT = {
    "invited": (
        "ann",
        "Invited, by name: only with “Who may enter: who is invited”, but “Who may enter: everybody with",
    ),
    "reveal_at": ("2027-03-09T08:00", "but “Results are: always shown”"),
    "ladders": ("true", "but “Results are: always shown”"),
}
"""What would be left out in silence."""


@pytest.mark.slow
async def test_nothing_that_was_filled_in_is_left_out_in_silence(world, dora):
    filled_in = {field: value for field, (value, _) in LEFT_OUT.items()}
    lines, fields = form_errors(await dora.post("/contests", data=FORM | filled_in | {"results": "open"}))
    assert fields == list(LEFT_OUT)
    assert [sentence in line for line, (_, sentence) in zip(lines, LEFT_OUT.values(), strict=True)] == [True] * 3


async def test_who_is_invited_first_can_be_added_by_the_form(world, dora):
    address = await announced(dora, entrants="invited")
    assert 'name="invited"' in (await dora.get(address)).text
    response = await dora.post(f"{address}/change", data={"invited": "Ann otto", "reason": "two guests"})
    assert response.status_code == 303
    assert world.store.contests.get("spring").contest.invited == ("Ann", "otto")


WITH = {
    "places": {"qualification": "swiss"},
    "invited": {"entrants": "invited"},
    "frozen_hours": {"results": "frozen"},
}
"""What else is sent so that a field means something."""
APART = (("reveal_at", "frozen_hours", "qualification", "final"), ("time_zone",), ("title", "per_action_seconds"))
"""Mistakes that are not seen beside each other one."""


def form_errors(response):
    assert response.status_code == 400
    alert = re.search(r'role="alert" id="error">(.*?)</div>', response.text, re.S)[1]
    lines = [html.unescape(re.sub("<.*?>", "", one)) for one in re.findall("<li>(.*?)</li>", alert)]
    return lines, re.findall('<li><a href="#(.*?)-wrong">', alert)


@pytest.mark.slow(sample=("together0",))
@pytest.mark.parametrize("together", [*APART, WRONG.keys() - {field for fields in APART for field in fields}])
async def test_the_form_comes_back_with_all_that_is_wrong_and_what_was_sent(world, dora, together):
    before = world.contents()
    sent = FORM | {key: value for field in together for key, value in WITH.get(field, {}).items()}
    response = await dora.post("/contests", data=sent | {field: WRONG[field][0] for field in together})
    lines, fields = form_errors(response)
    assert set(fields) == set(together)
    for field in together:
        _, sentence = WRONG[field]
        assert [one for one in lines if one.startswith(sentence)], field
        marked = re.search(f'<(?:input|select|textarea|fieldset)[^>]* id="{field}-wrong"[^>]*>', response.text, re.S)[0]
        assert 'aria-invalid="true"' in marked
        assert re.search(f'aria-describedby="[^"]*{field}-why"', marked)
        reasons = re.findall(f'id="{field}-why">(.*?)<', response.text, re.S)
        assert sentence.partition(": ")[2] in html.unescape("".join(reasons))
    assert response.text.count("aria-invalid") == len(together)
    assert 'value="Spring contest"' in response.text or "title" in together
    assert re.search(r'value="arena:greedy" checked', response.text)
    assert world.contents() == before


SEVERAL_WRONG = {"deadline_at": "2027-01-14T00:00:00", "encounters": "0", "invited": "nobody1", "entrants": "invited"}


@pytest.mark.slow
async def test_what_is_wrong_by_itself_and_what_only_the_arena_knows_is_said_at_once(world, dora):
    await announced(dora)
    lines, fields = form_errors(await dora.post("/contests", data=FORM | SEVERAL_WRONG))
    assert lines == [
        "Name, for addresses: the contest 'spring' has a tournament 'spring' already",
        "Deadline: expected a time after “Opens”, and at most 400 days after it",
        "Deadline: it has passed already (Europe/Berlin)",
        "Invited, by name: 'nobody1': nobody has an account of this name",
        "Encounters of each pairing: expected a whole number from 1 to 100,000",
    ], "in the order of the form"
    assert fields == ["name", "deadline_at", "deadline_at", "invited", "encounters"]
    answer = (await world.program("dora", Scope.DIRECT).post("/contests", json=FORM | SEVERAL_WRONG)).json()
    assert [(one["field"], one["title"]) for one in answer["fields"]] == [(one, one) for one in fields]
    assert "expected a time after opens_at" in answer["error"]


async def test_all_that_is_wrong_with_a_text_is_said_at_once_in_its_keys(world, dora):
    await announced(dora)
    sent = {key: value for key, value in (FORM | SEVERAL_WRONG).items() if key not in ("template", "house_bots")}
    response = await dora.post(
        "/contests", data={"template": "class", "text": form_text(sent | {"description": ""}, ())}
    )
    lines, fields = form_errors(response)
    assert [one.partition(": ")[2] for one in lines] == [
        "final.encounters = 0: expected a whole number from 1 to 100,000",
        "deadline_at = 2027-01-14T00:00:00: expected a time after opens_at, and at most 400 days after it",
        "deadline_at = 2027-01-14 00:00:00: it has passed already (Europe/Berlin)",
        "name: the contest 'spring' has a tournament 'spring' already",
        "invited = 'nobody1': nobody has an account of this name",
    ]
    assert set(fields) == {"text"}
    assert "<details open><summary>Or as TOML" in response.text
    lines, fields = form_errors(await dora.post("/contests", data={"template": "class", "text": "a = "}))
    assert (len(lines), fields) == (1, ["text"])
    assert lines[0].startswith("The contest: contest: not valid TOML")


async def test_a_change_says_all_that_is_wrong_beside_its_own_form(world, dora):
    address = await announced(dora, opens_at="2027-01-14T08:00")
    sent = {"title": "", "deadline_at": "2027-03-05T00:00:00", "reveal_at": "later", "reason": " "}
    response = await dora.post(f"{address}/change", data=sent)
    lines, fields = form_errors(response)
    assert lines == [
        "Title: expected a text of at most 100 characters",
        "Deadline: after the opening, the deadline can only become later than it is, 2027-03-08 23:59:59"
        " (Europe/Berlin)",
        "Revealed at; by a director if empty: expected a date and time of the years 2000 to 2999, to the second, such"
        " as 2026-12-01T23:59:59",
        "Why, for the public log: expected 1 to 500 visible characters on one line",
    ]
    assert fields == ["title", "deadline_at", "reveal_at", "reason"]
    assert [response.text.count(f'id="{one}-wrong"') for one in fields] == [1, 1, 1, 1]
    assert response.text.count('aria-invalid="true"') == 4
    lines, fields = form_errors(await dora.post(f"{address}/cancel", data={"reason": ""}))
    assert (lines, fields) == (["Why, for the public log: this is empty"], ["reason"])


async def test_markup_in_titles_reasons_and_descriptions_is_text(world, dora):
    evil = "<script>alert(1)</script>\u202e"
    address = await announced(dora, description=evil.replace("\u202e", ""))
    await dora.post(f"{address}/change", data={"title": "<img src=x>", "reason": "<script>why"})
    await dora.post(f"{address}/cancel", data={"reason": "<script>alert(2)</script>"})
    for path in (address, "/contests", "/log"):
        for who in (dora, world.client()):
            text = (await who.get(path)).text
            assert "<img src=x>" not in text
            assert not re.search(r"<script(?! src=)", text)


async def test_a_contest_is_changed_revealed_and_cancelled_for_a_reason(world, dora):
    address = await announced(dora)
    before = world.contents()
    for what in ("change", "cancel", "reveal"):
        assert (await dora.post(f"{address}/{what}", data={"reason": ""})).status_code == 400
    assert (await dora.post(f"{address}/reveal", data={"reason": "now"})).status_code == 400, "nothing is played"
    assert world.contents() == before
    response = await dora.post(f"{address}/change", data={"deadline_at": "2027-03-10T12:00", "reason": "snow"})
    assert response.headers["location"] == address
    assert world.store.contests.get("spring").contest.deadline_at == "2027-03-10T11:00:00+00:00"
    assert log_of(world)[0] == ("dora", "changed the contest", "spring", "snow")
    sent = {"reason": "now", "before_played": "true"}
    assert (await dora.post(f"{address}/reveal", data=sent)).status_code == 303
    assert world.store.contests.get("spring").reveal_asked_at is not None
    assert log_of(world)[0] == ("dora", "revealed the results of", "spring", "now")
    other = await announced(dora, name="other")
    await dora.post(f"{other}/cancel", data={"reason": "nobody came"})
    assert "It was cancelled: nobody came" in (await world.client().get(other)).text
    assert (await dora.post(f"{other}/cancel", data={"reason": "again"})).status_code == 400


@pytest.mark.slow
async def test_no_contest_takes_a_tournament_that_there_is_when_it_is_made_or_changed(world, dora, directory):
    with ArenaHome(directory) as home:
        play(home, "taken-qualification", ["alpha", "beta"], encounters=1)
    taken = "there is a tournament &#39;taken-qualification&#39; already"
    refused = await dora.post("/contests", data=FORM | {"name": "taken", "qualification": "swiss"})
    assert taken in refused.text
    address = await announced(dora, name="taken")
    text = contest_text(world.store.contests.get("taken").contest)
    text += '\n[qualification]\nformat = "swiss"\nplaces = 2\nswiss = { rounds = 2 }\n'
    before = world.contents()
    await answered(dora.post(f"{address}/change", data={"text": text, "reason": "two stages"}), 400, taken)
    assert world.contents() == before


async def test_directors_see_what_they_can_do_and_authors_where_to_submit(world, dora):
    address = await announced(dora, name="other")
    for who in (world.client(), world.browser("ann"), world.program("dora", Scope.SUBMIT)):
        assert (await who.get(address, headers={"accept": JSON})).json()["changes"] is None
    assert (await dora.get(address, headers={"accept": JSON})).json()["changes"]["fields"]["title"] == "Spring contest"
    addresses = await announced(dora), await announced(dora, name="for-otto", entrants="invited", invited="Otto")
    for who, expected in (("ann", (True, False)), ("otto", (True, True)), (None, (False, False))):
        client = world.browser(who) if who else world.client()
        pages = [(await client.get(path, headers={"accept": JSON})).json() for path in addresses]
        assert tuple(page["may_submit"] for page in pages) == expected


FORGED = {
    "options": ['{"size": 1e400}', '{"size": null}', '{"\\ud800": 1}', f'{{"size": {"9" * 400}}}', '{"size": NaN}'],
    "bots_per_author": ["1\u0663", "9" * 400, "1e5"],
    "opens_at": ["2027-01-0\u0661T00:00:00"],
    "memory_mib": ["9" * 1999, "9" * 18, "\u0663"],
}


@pytest.mark.parametrize(("key", "value"), [(key, value) for key, values in FORGED.items() for value in values])
def test_a_forged_field_is_named_and_never_a_line_of_a_file_that_nobody_has_seen(key, value):
    template = form_template("class", datetime(2026, 11, 1, tzinfo=UTC))
    sent = {**template.fields, "name": "spring", "title": "Spring", key: value}
    with pytest.raises(DefinitionError) as raised:
        reading_of(form_text(sent, template.house_bots)).check()
    assert "TOML" not in str(raised.value)
    assert {"opens_at": "opens_at", "memory_mib": "limits.memory_bytes"}.get(key, key) in str(raised.value)


QUESTION, ANSWER, NEWS = "canary-question <b>", "canary-answer", "canary-news"


@pytest.fixture
def contest(world):
    world.add("eve", Role.AUTHOR)
    return world.store.contests.add("dora", contest_of()).name


async def read(world, who, contest):
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


@pytest.mark.slow
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
    assert (await world.program("ann").get(f"/contests/{contest}")).json()["messages"][0]["is_new"]
    assert await new_for(world, "ann") == [1]  # a program has not seen it for them
    assert "announced something in the contest" in str(world.store.log.lines(hidden=())[0])


async def test_what_is_sent_is_bounded(world, contest):
    ann, dora = world.browser("ann"), world.browser("dora")
    control = "Expected text without control characters"
    for text, error in (
        ("x" * 2001, "2,000"),
        *((text, "This is empty") for text in ("", " \r\n ", "\u200b")),
        ("a\0b", control),
    ):
        refused = await dora.post(f"/contests/{contest}/announce", data={"message": text})
        assert (refused.status_code, error.lower() in refused.text.lower()) == (400, True), text
    for number in range(5):
        assert (await ann.post(f"/contests/{contest}/ask", data={"message": f"{number}"})).status_code == 303
    refused = await ann.post(f"/contests/{contest}/ask", data={"message": "6"})
    assert (refused.status_code, "5 questions of yours have no answer yet" in refused.text) == (400, True)
    assert (await ann.post("/contests/none/ask", data={"message": "7"})).status_code == 404
    assert 'mean <a href="/contests">' in (await ann.get("/contests/none", headers={"accept": "text/html"})).text


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
