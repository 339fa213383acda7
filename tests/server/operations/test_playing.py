import json
import re
from dataclasses import replace

import pytest

from arena.base.records import Fault, SeatReport, TimeControl
from arena.community.play.host_program import playable_game
from arena.community.play.view import Played, view_of
from arena.games import make_game
from arena.games.checked_game import checked_game
from arena.server.gate import followed_matches
from arena.server.gate.followed_matches import FollowedMatches
from arena.server.http.problems import ProblemError
from arena.site.matches.playing_model import PlayableBot, PlayMenu
from arena.store.home import ArenaHome
from arena.store.people.answers import Enjoyed
from arena.store.people.unrated_match import MatchState, PlayRequest, Position, hint_sentence
from arena.store.people.unrated_match import matches as unrated_matches
from arena.store.people.unrated_matches import KEPT_DAYS
from arena.store.people.values import DAY_SECONDS, Role, Scope, SubmissionState
from arena.store.results.values import OwnedBot
from tests.community.contests.samples import OPENS, SEALED, contest_of
from tests.server.conftest import answered
from tests.server.operations.conftest import HTML, JSON, Listener, stream_scope
from tests.store.results.samples import definition, line, record

CHOICES = {"game": "differences", "bot": "arena:greedy", "seat": "0", "seconds": "0.5", "option_size": "4"}
SEEN = {"plies": 0}


@pytest.fixture
def matches(world):
    bots = (
        PlayableBot(name="arena:greedy", label="greedy@1"),
        PlayableBot(name="signs@1", label="signs@1", games=("plusminus",)),
    )
    games = tuple(playable_game(name) for name in ("differences", "plaid", "plusminus", "coprimality"))
    world.store.unrated_matches.set_menu(PlayMenu(games=games, bots=bots, slots=4).model_dump_json(), 4)
    return world.store.unrated_matches


async def begun(client, **choices):
    response = await answered(client.post("/play", data=CHOICES | choices), 303)
    return response.headers["location"]


def offer(matches, *labels):
    menu = PlayMenu.model_validate_json(matches.menu())
    bots = (*menu.bots, *(PlayableBot(name=label, label=label, games=("differences",)) for label in labels))
    text = menu.model_copy(update={"bots": bots}).model_dump_json()
    matches.set_menu(text, 9)
    return text


def play_on(matches, address, state=MatchState.PERSON, played=()):
    one = matches.find(address.removeprefix("/play/"))
    rules = checked_game(make_game("differences", **json.loads(one.choices.options)), "differences")
    position = rules.initial_state()
    for each in played:
        position = rules.apply(position, each.action)
    view = view_of("differences", rules, position, played, ("you", "greedy@1"), 0, TimeControl())
    actions = json.dumps(played)
    claim = matches.claim(one.number)
    stored = Position(state=state, actions=actions, plies=len(played), view=view.model_dump_json())
    assert claim.write(stored, "digest")
    return claim


async def test_a_visitor_begins_acts_and_sees_the_board(world, matches):
    visitor = world.client()
    address = await begun(visitor)
    one = matches.find(address.removeprefix("/play/"))
    assert (one.person, json.loads(one.choices.options)) == (None, {"size": 4})
    assert one.choices.per_action_milliseconds == 500
    page = (await visitor.get(address)).text
    assert "is being set up" in page
    assert '<noscript><meta http-equiv="refresh" content="1"></noscript>' in page
    claim = play_on(matches, address, played=[Played(0, (1, 1)), Played(1, (2, 3), 0.25)])
    page = (await visitor.get(address)).text
    assert "It is your turn." in page
    assert "http-equiv" not in page
    assert 'value="c4" aria-label="c4: column 3, row 4, empty"' in page
    assert 'aria-label="a1: column 1, row 1, your 1"' in page
    response = await visitor.post(f"{address}/act", data={"plies": "2", "action": " c4 "})
    assert (response.status_code, response.headers["location"]) == (303, address)
    found = claim.read()
    assert (found.request, found.requested_action) == (PlayRequest.ACT, "c4")


async def test_a_level_is_played_at_once_where_its_bot_is_offered(world, matches):
    offer(matches, "arena:random_legal", "arena:alphabeta")
    page = (await world.client().get("/play?game=differences")).text
    levels = re.findall('name="bot" value="([^"]*)">Play, ([a-z]*)<', page)
    assert levels == [("arena:random_legal", "beginner"), ("arena:greedy", "easy"), ("arena:alphabeta", "strong")]
    answer = await world.client().post("/play", data={"game": "differences", "bot": "arena:random_legal"})
    choices = matches.find(answer.headers["location"].removeprefix("/play/")).choices
    assert (choices.bot, choices.seat, choices.per_action_milliseconds) == ("arena:random_legal", 0, 1000)
    assert "Play, easy" in (await world.client().get("/play?game=plusminus")).text
    assert "Play, beginner" not in (await world.client().get("/play?game=plusminus")).text


async def test_programs_get_the_same_as_json(world, matches):
    program = world.program("ann", Scope.PLAY)
    sent = {"game": "differences", "bot": "arena:greedy", "seconds": 0.5, "options": {"size": 4}}
    done = (await program.post("/play", json=sent)).json()
    play_on(matches, done["to"])
    match = (await program.get(done["to"])).json()
    assert (match["state"], match["plies"], match["is_waiting"], match["may_undo"]) == ("person", 0, False, False)
    assert match["view"]["legal"] == [f"{column}{row}" for column in "abcd" for row in "1234"]
    answer = await program.post(f"{done['to']}/act", json={"plies": 0, "action": "a1"})
    assert answer.json() == {"done": "the play host was asked", "to": done["to"]}
    [own] = (await program.get("/play")).json()["own"]
    assert (own["address"], own["game"]) == (done["to"], "differences")
    page = (await program.get("/play?bot=signs")).json()
    assert ([game["name"] for game in page["games"]], page["bot"]) == (["plusminus"], "signs@1")
    assert (await program.get("/play?game=chess")).status_code == 404


@pytest.mark.slow(sample=("json",))
@pytest.mark.parametrize("accept", [HTML, JSON], ids=["page", "json"])
async def test_the_match_of_somebody_is_as_if_it_were_not_there(world, matches, accept):
    ann = world.browser("ann")
    address = await begun(ann)
    play_on(matches, address)
    nothing = "/play/" + "x" * 43
    world.add("eve", Role.AUTHOR)
    others = [world.client(), world.browser("eve"), world.browser("olga"), world.program("eve", Scope.PLAY)]
    for client in others:
        for what in ("", "/events", "/act", "/undo", "/hint", "/resign", "/retry", "/again", "/vote"):
            answers = []
            for place in (address, nothing, "/play/nothing", address[:-1], f"/play/{address[6:].swapcase()}"):
                fields = {"/act": SEEN | {"action": "a1"}, "/undo": SEEN, "/hint": SEEN, "/vote": {"choice": "alike"}}
                sent = fields.get(what, {})
                way = {"method": "GET"} if what in ("", "/events") else {"method": "POST", "json": sent}
                response = await client.request(url=place + what, headers={"accept": accept}, **way)
                answers.append((response.status_code, response.content))
            assert answers[0][0] == 404
            assert set(answers) == {answers[0]}
    assert matches.find(address.removeprefix("/play/")).request is None
    assert (await ann.get(address)).status_code == 200


async def test_a_stale_form_and_a_second_tab_are_refused_in_a_sentence(world, matches):
    visitor = world.client()
    address = await begun(visitor)
    play_on(matches, address, played=[Played(0, (1, 1)), Played(1, (2, 3))])
    stale = await answered(visitor.post(f"{address}/act", data={"plies": "0", "action": "c4"}), 400)
    assert "it has 2 actions now, yours came after 0" in stale.text
    assert 'aria-label="c4: column 3' in stale.text  # the board as it is
    assert (await visitor.post(f"{address}/act", data={"plies": "2", "action": "c4"})).status_code == 303
    await answered(
        visitor.post(f"{address}/act", data={"plies": "2", "action": "d4"}), 400, "not handled your last input"
    )


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"game": "chess"}, "Game 'chess': expected "),
        ({"bot": "signs@1"}, "does not play differences here"),
        ({"bot": "/bin/sh"}, "does not play differences here"),
        ({"bot": "arena:../../x"}, "does not play differences here"),
        ({"seconds": "3600"}, "expected 0.1, 0.5, 1.0, 2.0 or 5.0"),
        ({"seconds": "nan"}, "expected 0.1, 0.5, 1.0, 2.0 or 5.0"),
        ({"seat": "3"}, "less than 3"),
        ({"seat": "2"}, "Seat = 2: expected 0 or 1, for players = 2"),
        ({"game": "coprimality", "seat": "2"}, "Seat = 2: expected 0 or 1, for players = 2"),
        ({"game": "coprimality", "option_players": "4"}, "expected a whole number from 2 to 3"),
        ({"option_size": "21"}, "expected a whole number from 2 to 20"),
        ({"option_size": "99999999999999999999"}, "expected a whole number from 2 to 20"),
        ({"option_size": "٤"}, "expected a whole number from 2 to 20"),
        ({"option_scoring": "x"}, "expected"),
        ({"option_players": "64"}, "Option 'players': expected "),
        ({"option___class__": "1"}, "Option '__class__': expected "),
    ],
)
async def test_what_can_not_be_chosen_is_refused(world, matches, changed, sentence):
    before = world.contents()
    sent = CHOICES | changed
    program = world.client(accept=JSON)
    assert sentence in (await answered(program.post("/play", data=sent), 400)).json()["error"]
    assert world.contents() == before
    assert (await world.client().post("/play", data=sent)).status_code in (400, 404)


async def test_without_a_play_host_the_page_says_so(world):
    assert "Nobody can play here now" in (await world.client().get("/play")).text
    refused = await world.client(accept=JSON).post("/play", data=CHOICES)
    assert (refused.status_code, refused.json()["error"]) == (400, "Nobody can play here now.")


async def test_who_resigns_may_play_again_in_the_other_seat(world, matches):
    visitor = world.client()
    address = await begun(visitor)
    await visitor.post(f"{address}/resign")
    assert "You resigned." in (await visitor.get(address)).text
    swapped = (await visitor.post(f"{address}/again", data={"swap": "yes"})).headers["location"]
    await visitor.post(f"{swapped}/resign")  # visitors of one network have one slot of four
    same = (await visitor.post(f"{address}/again")).headers["location"]
    seats = [matches.find(place.removeprefix("/play/")).choices.seat for place in (address, swapped, same)]
    assert seats == [0, 1, 0]
    assert (await visitor.post(f"{address}/resign")).status_code == 400
    refused = await answered(visitor.post("/play", data=CHOICES), 400)
    assert "isitors from one network have 1 slot at most" in refused.text


@pytest.mark.slow
async def test_a_bot_that_rests_is_played_against_by_its_author_alone(world, matches):
    menu = offer(matches, "annbot@2")
    ann = world.store.accounts.get("ann")
    world.now.seconds = OPENS - 60
    world.store.contests.add("dora", contest_of(**SEALED))
    world.store.submissions.add(ann, "upload", "digest", 10, "mine.py", "")
    assert world.store.submissions.own_bot_name(ann.number, "annbot")
    world.store.submissions.claim().finish(SubmissionState.ACCEPTED, "", "", "annbot@2")
    world.add("eve", Role.AUTHOR)
    who = {name: world.browser(name) for name in ("ann", "eve", "dora")} | {"visitor": world.client()}
    own = {name: await begun(client, bot="annbot@2") for name, client in who.items()}
    for address in own.values():
        play_on(matches, address)
    visitor = who["visitor"]
    assert ">annbot@2, of ann<" in (await visitor.get("/play?game=differences")).text
    owner = '<span class="soft">of <a href="/people/ann"><bdi>ann</bdi></a></span>'
    assert (await visitor.get(own["visitor"])).text.count(owner) == 2  # in the heading and at its seat
    assert (await visitor.get(own["visitor"], headers={"accept": JSON})).json()["authors"] == {"annbot@2": "ann"}
    hints = {name: await client.post(f"{own[name]}/hint", data={"plies": "0"}) for name, client in who.items()}
    assert {name for name, answer in hints.items() if answer.status_code == 303} == {"ann"}
    assert all("belongs to another author" in hints[name].text for name in ("eve", "visitor", "dora"))

    world.now.seconds = OPENS
    matches.set_menu(menu, 9)
    rests = "is suspended while the contest spring hides its results, until a director reveals them"
    for name, client in who.items():
        page = (await client.get("/play?game=differences")).text
        match = (await client.get(own[name])).text
        again = await client.post("/play", data=CHOICES | {"bot": "annbot@2"})
        if name == "ann":
            assert 'value="annbot@2"' in page
            assert f"Your bot annbot@2 {rests}. Only you can play against it." in page
            assert rests not in match
            assert again.status_code == 303
            continue
        assert 'value="annbot@2"' not in page
        assert "Bots that can enter spring are not offered here until the results of spring are revealed." in page
        assert f"annbot@2 {rests}. The match stays" in match
        fields = {"act": {"plies": 0, "action": "a1"}, "undo": {"plies": 0}, "vote": {"choice": "alike"}}
        for what, sent in (fields | {"retry": {}, "again": {}}).items():
            refused = await client.post(f"{own[name]}/{what}", json=sent, headers={"accept": JSON})
            assert (refused.status_code, rests in refused.json()["error"]) == (400, True), what
        assert again.status_code == 400
        assert rests in again.text
    world.store.contests.cancel("dora", "spring", "Too few.")
    assert (await who["eve"].post(f"{own['eve']}/act", data={"plies": "0", "action": "a1"})).status_code == 303


async def test_a_bot_of_ones_own_challenges_any_that_can_be_played_against(world, matches):
    offer(matches, "annbot@2", "evebot@1")
    world.add("eve", Role.AUTHOR)
    for name in ("ann", "eve"):
        assert world.store.submissions.own_bot_name(world.store.accounts.get(name).number, f"{name}bot")
    ann, program = world.browser("ann"), world.program("ann", Scope.SUBMIT)
    sent = {"challenger": "annbot", "bot": "evebot", "game": "differences", "seconds": 0.5}
    page = (await ann.get("/challenges?bot=evebot")).text
    assert page.count('<option value="annbot@2">') == 1  # not as its own rival
    assert '<option value="evebot@1" selected>' in page
    assert ">annbot@2 (differences)</option>" in page
    offered = (await ann.get("/challenges", headers={"accept": JSON})).json()
    assert (offered["games"], offered["game"]) == (["differences"], "differences")  # which is not the first of all
    for wrong, sentence in (
        ({"challenger": "evebot@1"}, "expected a bot of yours that can be played here, 'annbot@2'."),
        ({"challenger": "arena:greedy"}, "expected a bot of yours"),
        ({"bot": "nobody"}, "bot 'nobody': it does not play differences here"),
        ({"game": "plusminus", "bot": "signs"}, "'annbot@2': it does not play plusminus; expected 'differences'"),
        ({"game": "chess"}, "game 'chess'"),
        ({"seconds": 99}, "seconds = 99"),
        ({"boot": "evebot"}, "'boot': no such field; did you mean 'bot'?"),
    ):
        answer = await program.post("/challenges", json=sent | wrong)
        assert (answer.status_code, sentence.lower() in answer.json()["error"].lower()) == (400, True), answer.text
    for client in (world.client(accept=JSON), world.program("ann", Scope.PLAY)):
        assert (await client.post("/challenges", json=sent)).status_code in (401, 403)
    done = (await program.post("/challenges", json=sent | {"both_seats": True})).json()
    assert done == {"done": "annbot@2 plays evebot@1: 2 matches", "to": "/challenges"}
    own = (await program.get("/challenges")).json()["own"]
    assert sorted((one["challenger"], one["bot"], one["seat"], one["outcome"]) for one in own) == [
        ("annbot@2", "evebot@1", 0, ""),
        ("annbot@2", "evebot@1", 1, ""),
    ]
    assert (await world.program("eve", Scope.SUBMIT).get("/challenges")).json()["own"] == []
    assert (await ann.get("/play", headers={"accept": JSON})).json()["own"] == []
    address = own[0]["address"]
    assert (await world.browser("eve").get(address)).status_code == 404
    play_on(matches, address, MatchState.BOT, [Played(0, (1, 1), 0.1, "a note"), Played(1, (2, 3), 0.25)])
    match = await ann.get(address)
    assert "It is being played." in match.text
    assert "a note" not in match.text  # that of a rival would be among them
    for what in ("act", "undo", "hint", "again", "vote"):
        fields = {"act": {"plies": 2, "action": "c4"}, "again": {}, "vote": {"choice": "first"}}.get(what, {"plies": 2})
        refused = await ann.post(f"{address}/{what}", json=fields, headers={"accept": JSON})
        assert (refused.status_code, "wo bots play" in refused.json()["error"]) == (400, True), what
    assert (await ann.post(f"{address}/resign")).status_code == 303
    assert "You stopped it." in (await ann.get("/challenges")).text


async def test_a_bot_that_rests_is_challenged_by_nobody_else_and_challenges_are_counted(world, matches):
    menu = offer(matches, "annbot@2", "evebot@1")
    world.now.seconds = OPENS - 60
    world.store.contests.add("dora", contest_of(**SEALED))
    world.add("eve", Role.AUTHOR)
    for name, label in (("ann", "annbot@2"), ("eve", "evebot@1")):
        person = world.store.accounts.get(name)
        world.store.submissions.add(person, f"upload {name}", name, 10, "mine.py", "")
        assert world.store.submissions.own_bot_name(person.number, f"{name}bot")
        world.store.submissions.claim().finish(SubmissionState.ACCEPTED, "", "", label)
    ann = world.browser("ann")
    assert ">evebot@1, of eve<" in (await ann.get("/challenges")).text
    world.now.seconds = OPENS
    matches.set_menu(menu, 9)
    assert "evebot" not in (await ann.get("/challenges")).text
    sent = {"challenger": "annbot", "game": "differences", "seconds": "0.5"}
    for rival in ("evebot", "evebot@1"):
        refused = await answered(ann.post("/challenges", data=sent | {"bot": rival}), 400)
        assert "Evebot@1 is suspended while the contest spring hides its results" in refused.text
    for _ in range(20):
        assert (await ann.post("/challenges", data=sent | {"bot": "greedy"})).status_code == 303
    assert (await ann.post("/challenges", data=sent | {"bot": "greedy"})).status_code == 429


async def test_a_position_of_a_recorded_match_is_played_on_in_the_seat_that_was_to_act(world, matches, directory):
    with ArenaHome(directory) as home:
        recorded = home.store.record_of("t", 1)
    address = await begun(world.client(), tournament="t", match="1", ply="1", bot="")
    one = matches.find(address.removeprefix("/play/"))
    (first, action), (seat, _) = recorded.actions[:2]
    assert json.loads(one.position.actions) == [[first, action, None, None]]
    assert (one.choices.game, one.choices.seat, one.choices.bot) == (recorded.game, seat, "arena:greedy")
    assert json.loads(one.choices.options).items() <= dict(recorded.options).items()


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"ply": "1000"}, "Ply = 1000: match 1 of t ends after ply "),
        ({"ply": "1001"}, "less than or equal to 1000"),
        ({"match": "3"}, "Match 3 of t: it has no record"),
        ({"tournament": "missing"}, "Unknown tournament 'missing'"),
        ({"tournament": "t" * 5000}, "at most"),
    ],
)
async def test_a_position_that_is_not_there_is_not_played_on(world, matches, changed, sentence):
    before = world.contents()
    sent = {"tournament": "t", "match": "1", "ply": "0"} | changed
    response = await world.client(accept=JSON).post("/play", data=sent)
    assert response.status_code in (400, 404)
    assert sentence in json.dumps(response.json())
    assert world.contents() == before


async def test_a_hint_is_drawn_on_the_board_and_another_answer_is_not(world, matches):
    visitor = world.client()
    address = await begun(visitor)
    claim = play_on(matches, address)
    for answer, drawn in (("greedy@1 would play c4.", 1), ("z9: there is no such square", 0)):
        assert claim.answer(answer)
        page = (await visitor.get(address)).text
        assert answer in page
        assert page.count('class="best"') == drawn
    assert claim.answer(hint_sentence("greedy@1", "c4"))
    page = (await visitor.get(address)).text
    place = re.search(r'<foreignObject x="(\d+)" y="(\d+)"[^>]*><button[^>]*value="c4"', page)
    hinted = re.search(r'<rect x="(\d+)" y="(\d+)"[^>]*class="best"', page)
    assert [int(one) // 100 for one in place.groups()] == [int(one) for one in hinted.groups()]


ACTIONS = [Played(number % 2, (number + 1, number + 1), 0.1 if number % 2 else None) for number in range(8)]
QUESTION = "Which did you enjoy more?"


def play(matches, address, plies=6, state=MatchState.OVER):
    matches.release_left()
    play_on(matches, address, state, ACTIONS[:plies])


async def varied(client, address, change="scoring=once"):
    response = await answered(client.post(f"{address}/again", data={"change": change}), 303)
    return response.headers["location"]


async def pair(client, matches, size="8"):
    first = await begun(client, option_size=size)
    play(matches, first)
    second = await varied(client, first)
    play(matches, second)
    return second


def votes(world):
    found = world.store.votes.found(game="differences")
    return [(json.loads(one.first_options), json.loads(one.second_options), one.choice) for one in found]


async def test_a_vote_is_asked_for_once_both_were_played_and_can_be_changed(world, matches):
    visitor = world.client()
    first = await begun(visitor, option_size="8")
    play(matches, first)
    page = await visitor.get(first, headers={"accept": JSON})
    assert page.json()["variations"] == ["scoring=once", "pie=1", "pie=2", "pie=3"]
    assert QUESTION not in (await visitor.get(first)).text
    second = await varied(visitor, first)
    play(matches, second, 2, MatchState.PERSON)
    page = (await visitor.get(second)).text
    assert "for each action; scoring = once in place of distinct</p>" in page
    assert QUESTION not in page
    play(matches, second)
    for choice, told in (("second", "this one"), ("alike", "both alike"), ("first", "the one before")):
        page = (await visitor.get(second)).text
        assert QUESTION in page
        assert f"Your vote counts: {told}" not in page
        answer = await visitor.post(f"{second}/vote", data={"choice": choice})
        assert (answer.status_code, answer.headers["location"]) == (303, second)
        assert f"Your vote counts: {told}" in (await visitor.get(second)).text
    options = {"size": 8, "scoring": "distinct", "pie": 0}
    assert votes(world) == [(options, options | {"scoring": "once"}, Enjoyed.FIRST)]


@pytest.mark.slow
async def test_a_person_and_a_network_have_one_vote_for_two_variations(world, matches):
    world.add("eve", Role.AUTHOR)
    clients = [world.client(), world.client(), world.client(address="198.51.100.7"), world.browser("ann")]
    clients += [world.browser("ann"), world.browser("eve")]
    for client in clients:
        second = await pair(client, matches)
        back = await varied(client, second, "scoring=distinct")  # the same two, in the other order
        play(matches, back)
        for address in (second, back):
            assert (await client.post(f"{address}/vote", data={"choice": "second"})).status_code == 303
    assert len(votes(world)) == 4
    assert {second["scoring"] for _, second, _ in votes(world)} == {"distinct"}
    other = await pair(clients[0], matches, "7")
    assert (await clients[0].post(f"{other}/vote", data={"choice": "alike"})).status_code == 303
    assert len(votes(world)) == 5
    world.now.seconds += (KEPT_DAYS + 1) * DAY_SECONDS
    matches.prune()
    assert len(votes(world)) == 5
    assert "192.0.2.1" not in str(world.contents()["votes"])


@pytest.mark.parametrize(
    ("change", "plies", "sentence"),
    [
        ("", 6, "this match is no variation of another one"),
        ("scoring=once", 5, "once you and the bot have played 3 actions each, and it is over"),
        ("scoring=distinct", 6, "change 'scoring=distinct': expected 'scoring=once', 'pie=1', 'pie=2' or 'pie=3'"),
        ("size=9", 6, "change 'size=9': expected 'scoring=once'"),
        ("pie", 6, "change 'pie': expected 'scoring=once'"),
    ],
)
async def test_what_can_not_be_compared_is_refused_in_a_sentence(world, matches, change, plies, sentence):
    visitor = world.client(accept=JSON)
    address = (await visitor.post("/play", data={"game": "differences", "bot": "arena:greedy"})).json()["to"]
    play(matches, address)
    answer = await visitor.post(f"{address}/again", data={"change": change})
    if answer.status_code == 200:
        address = answer.json()["to"]
        play(matches, address, plies)
        answer = await visitor.post(f"{address}/vote", data={"choice": "alike"})
    assert answer.status_code == 400
    assert sentence in answer.json()["error"].replace("This match is", "this match is").replace("Change", "change")
    assert votes(world) == []


async def test_a_match_that_was_left_at_once_or_begun_near_its_end_has_no_variation(world, matches):
    visitor = world.client(accept=JSON)
    address = (await visitor.post("/play", data={"game": "differences", "bot": "arena:greedy"})).json()["to"]
    play_on(matches, address, MatchState.OVER, [one._replace(seconds=None) for one in ACTIONS])
    assert (await visitor.get(address)).json()["variations"] == []
    answer = await visitor.post(f"{address}/again", data={"change": "scoring=once"})
    assert (answer.status_code, "played 3 actions each" in answer.json()["error"]) == (400, True)


CHANGED = b"event: changed\ndata: {}\n\n"


def listening(world, client, address):
    request = client.build_request("GET", f"{address}/events")
    headers = [(name.lower(), value) for name, value in request.headers.raw]
    return Listener(world.site, stream_scope(request.url.path, headers))


async def test_the_owner_hears_of_each_change_and_of_no_other_match(world, matches):
    visitor, ann = world.client(), world.browser("ann")
    address, other = await begun(visitor), await begun(ann)
    one = listening(world, visitor, address)
    assert (await one.heard.get(), one.status) == (CHANGED, 200)
    play_on(matches, other)
    claim = play_on(matches, address)
    assert await one.heard.get() == CHANGED
    matches.request(claim.number, PlayRequest.HINT, 0)
    assert await one.heard.get() == CHANGED
    claim.answer("it would play c4")
    assert await one.heard.get() == CHANGED
    assert one.heard.empty()
    await one.leave()


async def test_who_signs_out_hears_nothing_any_more(world, matches, monkeypatch):
    monkeypatch.setattr(followed_matches, "CHECK_SECONDS", 0.0)
    ann = world.browser("ann")
    one = listening(world, ann, await begun(ann))
    assert await one.heard.get() == CHANGED
    await ann.post("/sign-out")
    await one.task


async def test_streams_are_bounded_and_end_with_the_server(world, matches):
    visitor = world.client()
    number = matches.find((await begun(visitor)).removeprefix("/play/")).number
    followed = FollowedMatches(world.store)
    shown = matches.shown([number])[number]
    streams = [followed.follow(number, shown, lambda: True) for _ in range(followed_matches.MAX_OF_A_MATCH)]
    with pytest.raises(ProblemError):
        followed.follow(number, shown, lambda: True)
    listeners = [Listener(stream, {}) for stream in streams]
    await listeners[0].heard.get()
    await listeners[0].leave()
    listeners[0] = Listener(followed.follow(number, shown, lambda: True), {})  # there is room again
    await followed.close()
    for one in listeners:
        await one.task
    with pytest.raises(ProblemError):
        followed.follow(number, shown, lambda: True)


async def test_a_reader_that_takes_nothing_is_owed_one_event_at_most(world, matches):
    address = await begun(world.client())
    number = matches.find(address.removeprefix("/play/")).number
    followed = FollowedMatches(world.store)
    stream = followed.follow(number, matches.shown([number])[number], lambda: True)
    for _ in range(1000):
        stream.tell()
    one = Listener(stream, {})
    assert await one.heard.get() == CHANGED
    assert one.heard.empty()
    await followed.close()
    await one.task


OURS, THEIRS, FOREIGN = "0urs3cret", "th3irs3cret", "f0reigns3cret"
MATCH, BOT = "/tournaments/said/matches/1", "/bots/a"
LOGS = (f"{MATCH}/logs", f"{BOT}/logs")


def add_talkative(home, name, first, second, *digests):
    """Add a tournament with a match of a@1 and b@1, who write these texts; ``digests`` are those of their files."""
    entrants = tuple(replace(bot, digest=digest) for bot, digest in zip(definition().entrants, digests, strict=True))
    made = home.store.create_tournament(definition(name=name, entrants=entrants), [line(1), line(2)])
    texts = (first, second)
    faults = [Fault(seat=seat, kind="exit", ply=1, detail=f"exit {text}") for seat, text in enumerate(texts)]
    seats = [SeatReport(exit=f"signal {text}", stderr=f"see {text}") for text in texts]
    notes = [[0, {first: 7}], [1, {second: 3}]]
    row = record(1, tournament=name, faults=faults, seats=seats, notes=notes, termination="forfeit")
    home.store.record(made, [row])


@pytest.fixture
def logs(world, directory):
    """Two bots crash in a match; ann has submitted a@1, and rick b@1."""
    world.add("rick", Role.AUTHOR)
    for author, label in (("ann", "a@1"), ("rick", "b@1")):
        person, upload = world.store.accounts.get(author), f"{label[0] * 16}-{label[0] * 16}"
        world.store.submissions.add(person, upload, label[0] * 64, 9, "x.py", "")
        world.store.submissions.claim().finish("accepted", "", "", label)
    with ArenaHome(directory) as home:
        home.store.set_owners([OwnedBot("a@1", "files of a", "ann"), OwnedBot("b@1", "files of b", "rick")])
        add_talkative(home, "said", OURS, THEIRS, "files of a", "files of b")
    (directory / "people.sqlite3").touch()
    return world


def readers(world):
    return {
        "the author": (world.browser("ann"), (OURS,)),
        "the author's program": (world.program("ann", Scope.SUBMIT), (OURS,)),
        "a rival": (world.browser("rick"), (THEIRS,)),
        "a director": (world.browser("dora"), (OURS, THEIRS)),
        "an operator": (world.browser("olga"), (OURS, THEIRS)),
        "a director's program": (world.program("dora", Scope.DIRECT), (OURS, THEIRS)),
        "a program that reads": (world.program("dora", Scope.READ), ()),
        "a visitor": (world.client(), ()),
    }


async def test_each_reads_what_is_for_them(logs):
    for name, (client, theirs) in readers(logs).items():
        for accept in (HTML, JSON):
            found = await client.get(LOGS[0], headers={"accept": accept})
            assert [text in found.text for text in (OURS, THEIRS)] == [text in theirs for text in (OURS, THEIRS)], name
            assert all(found.text.count(text) >= 4 for text in theirs), name
        assert (OURS in (await client.get(LOGS[1])).text) == (OURS in theirs), name
        assert THEIRS not in (await client.get(LOGS[1])).text, name
        numbers = (await client.get(LOGS[1], headers={"accept": JSON})).json().get("numbers", [])
        assert [(one["bot"], one["number"], one["mean"]) for one in numbers] == [("a@1", OURS, 7.0)] * (OURS in theirs)


async def test_what_other_files_said_under_the_name_of_a_submitted_bot_is_not_for_its_author(logs, directory):
    with ArenaHome(directory) as home:
        add_talkative(home, "before", FOREIGN, OURS, "files of a stranger", "files of b")
    foreign = "/tournaments/before/matches/1/logs"
    for name in ("ann", "dora"):
        for path in (foreign, *LOGS):
            text = (await logs.browser(name).get(path, headers={"accept": JSON})).text
            assert (FOREIGN in text) == (name == "dora" and path != LOGS[0]), (name, path)
    assert (await logs.browser("ann").get(foreign)).status_code == 404
    assert OURS in (await logs.browser("rick").get(foreign)).text
    assert OURS in (await logs.browser("ann").get(LOGS[1])).text


async def test_who_may_not_read_gets_the_same_bytes_whether_there_is_something_or_not(logs):
    logs.add("nina", Role.AUTHOR)
    nothing = ("/tournaments/said/matches/2/logs", "/tournaments/x/matches/1/logs", "/bots/nobody/logs")
    for client in (logs.browser("nina"), logs.program("ann", Scope.READ)):
        answers = [await client.get(path, headers={"accept": JSON}) for path in (*LOGS, *nothing)]
        assert {(one.status_code, one.content) for one in answers} == {(404, answers[0].content)}
    assert {(await logs.client().get(path)).status_code for path in (*LOGS, *nothing)} == {303}


@pytest.mark.parametrize(
    ("bot", "person", "is_read"), [("b@1", "ann", False), ("b@1", "rick", True), ("arena:greedy", "ann", True)]
)
async def test_notes_of_a_match_in_the_browser_are_for_the_author_of_the_bot(logs, matches, bot, person, is_read):
    client = logs.browser(person)
    address = await begun(client)
    one = matches.find(address.removeprefix("/play/"))
    play_on(matches, address, MatchState.OVER, [Played(0, (1, 1)), Played(1, (2, 3), 0.25, THEIRS)])
    changed = unrated_matches.update().where(unrated_matches.c.id == one.number)
    changed = changed.values(bot=bot, reason=f"b@1 forfeits (exit): {THEIRS}")
    matches._database.write(lambda connection: connection.execute(changed))
    for path in (address, "/account/data"):
        for accept in (HTML, JSON):
            text = (await client.get(path, headers={"accept": accept})).text
            if not is_read:
                assert THEIRS not in text, path
    stored = (await client.get("/account/data", headers={"accept": JSON})).json()["matches"][0]["actions"]
    assert [THEIRS in json.dumps(action) for action in json.loads(stored)] == [False, is_read]


async def test_an_author_reads_why_the_own_bots_are_suspended(logs):
    logs.store.record_quota.add({"a@1": 2**26 + 1})
    number = next(one.number for one in logs.store.submissions.latest() if one.author == "ann")
    for path in ("/submissions", f"/submissions/{number}"):
        for client, is_told in ((logs.browser("ann"), True), (logs.browser("rick"), False), (logs.client(), False)):
            text = (await client.get(path)).text
            assert ("Your bots wrote more than 64 MiB today" in text) == is_told, path
