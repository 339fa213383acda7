import json
import traceback
from typing import get_args
from unittest.mock import Mock
from urllib.parse import quote

import pytest

from arena.community.contests.contest_file import reading_of
from arena.community.play.host_program import playable_game
from arena.lab.matches.puzzle import keep_puzzles
from arena.server.gate import gate
from arena.server.gate.description import description_of
from arena.server.gate.operation import Who
from arena.server.http.openapi import document
from arena.server.operations import contest_changes
from arena.server.operations.opened_people import OPERATIONS
from arena.site.matches.playing_model import PlayableBot, PlayMenu
from arena.site.page_table import PAGES
from arena.store.home import ArenaHome
from arena.store.people.directors import DirectorState
from arena.store.people.rates import Rates
from arena.store.people.unrated_match import Choices
from arena.store.people.values import Role
from tests.analysis.text.tournaments import play
from tests.community.contests.samples import contest_of
from tests.lab.made_puzzles import made_puzzle
from tests.server.http.test_addresses import check_openapi
from tests.server.operations.conftest import HTML, JSON, PASSWORD
from tests.server.operations.test_permissions import named


@pytest.fixture
async def described(world, cache=[]):  # noqa: B006 - one for all tests
    if not cache:
        cache.append((await world.client().get("/openapi.json")).json())
    return cache[0]


@pytest.mark.slow(sample=True)
async def test_it_is_openapi(described):
    check_openapi(described)


def test_a_name_of_a_schema_stands_for_one_thing():
    found = dict(document(PAGES, ())["components"]["schemas"])
    for operation in OPERATIONS:
        for name, schema in description_of(operation).schemas.items():
            assert found.setdefault(name, schema) == schema, name


async def test_every_operation_has_its_fields_its_model_and_who_may(described):
    identifiers = set()
    for operation in OPERATIONS:
        found = described["paths"][operation.path][operation.method.lower()]
        identifiers.add(found["operationId"])
        in_address = {one["name"] for one in found["parameters"]}
        body = found.get("requestBody", {"content": {JSON: {"schema": {"properties": {}}}}})
        in_body = set(body["content"][JSON]["schema"]["properties"])
        assert in_address | in_body == set(operation.fields.model_fields)
        assert in_address.isdisjoint(in_body)
        assert found["description"]
        content = found["responses"]["200"]["content"]
        if operation.media_type:
            assert set(content) == {operation.media_type}
            continue
        schema = content[JSON]["schema"]
        if operation.model is not None:
            name = schema["$ref"].rpartition("/")[2]
            assert set(described["components"]["schemas"][name]["properties"]) == set(operation.model.model_fields)
        else:
            assert set(schema["properties"]) == {"done", "to"}
    assert len(identifiers) == len(OPERATIONS)


AUTHORS = "author, director, operator"


@pytest.mark.parametrize(
    ("path", "method", "sentence", "security"),
    [
        ("/log", "get", "Anybody may.", [{}]),
        ("/account", "get", "Everybody who has signed in may, and any token.", [{"session": []}, {"token": []}]),
        ("/account/tokens", "post", "Everybody who has signed in with a browser may, but no token.", [{"session": []}]),
        ("/people", "get", "Roles: director, operator. Tokens: direct.", [{"session": []}, {"token": ["direct"]}]),
        ("/play", "post", f"Roles: visitor, {AUTHORS}. Tokens: play.", [{}, {"session": []}, {"token": ["play"]}]),
        ("/people/{person}/link", "post", "Roles: director, operator. No token.", [{"session": []}]),
        ("/people/{person}/role", "post", "Roles: operator. No token.", [{"session": []}]),
    ],
)
async def test_who_may_is_said(described, path, method, sentence, security):
    operation = described["paths"][path][method]
    assert (operation["description"], operation["security"]) == (sentence, security)


THERE = {"number": "1", "person": "ann", "secret": "x" * 43, "tournament": "t", "match": "1", "bot": "a", "rival": "b"}
THERE |= {"name": "none", "game": "differences", "puzzle": "1", "page": "time", "chapter": "games"}
LOGIN = {"data": {"name": "ann", "password": PASSWORD}}
REQUESTS = (
    ("", {}),
    ("", LOGIN),
    ("", {"content": b"x"}),
    ("", {"content": b"[1]", "headers": {"content-type": JSON}}),
    ("", {"content": b"x" * 2_000_000, "headers": {"content-type": JSON}}),
    ("", {"headers": {"sec-fetch-site": "cross-site"}}),
    ("", {"headers": {"authorization": "Bearer nobody's"}}),
    ("", {"headers": {"host": "elsewhere.example"}}),
    ("", {"headers": {"if-none-match": "*"}}),
    ("", {"headers": {"range": "bytes=0-1"}}),
    ("", {"headers": {"range": "bytes=9-"}}),
    ("?x=1", {}),
    ("?" + "x" * 9000, {}),
    ("x" * 9000, {}),
    ("%ff", {}),
)
"""Whatever may be wrong with a request: what is behind its path, or in place of its fields, and what is sent."""


@pytest.mark.slow
async def test_every_status_that_comes_is_described(world, described):
    with world.uploads.receive() as receiving:
        receiving.write(b"x")
        came = receiving.keep()
    world.store.submissions.add(world.store.accounts.get("olga"), came.name, came.digest, 1, "x.py", "")
    pages = {f"{page.path}{suffix}" for page in PAGES for suffix in ("", ".json", ".csv")}
    statuses = set()
    for path, operations in described["paths"].items():
        clients = [world.browser("olga", accept=JSON), world.client(), world.client(scheme="http", accept=JSON)]
        for method, operation in operations.items():
            for number, (behind, sent) in enumerate(REQUESTS):
                filled = behind and not behind.startswith("?")
                is_built = path in pages and not (behind and (not filled or "{" in path))
                if is_built or (method == "get" and "content" in sent):
                    continue
                fields = dict.fromkeys(THERE, behind) if filled else THERE
                address = path.format_map(fields) + ("" if filled else behind)
                for client in clients if path not in pages and number < 3 else clients[:1]:
                    response = await client.request(method, address, **sent)
                    where = (method, path, behind[:20], str(sent)[:80], response.status_code, response.text[:200])
                    assert str(response.status_code) in operation["responses"], where
                    statuses.add(response.status_code)
    assert statuses >= {200, 206, 303, 304, 400, 401, 403, 404, 413, 414, 415, 416, 421}


CANARY = "canary-of-what-was-sent"
"""In each value that is odd, and in each that is secret."""
DIFFERENT = [{CANARY: [CANARY]}]
"""Of no field's type."""
JSON_VALUES = (None, DIFFERENT, {CANARY: None}, 10**400, True, "\ud800" + CANARY, CANARY)
FORM_VALUES = ([CANARY, CANARY], "\0" + CANARY, CANARY, "")
PATH_VALUES = (CANARY * 200, "\0" + CANARY, CANARY, "9" * 400)

SENT = dict.fromkeys(("name", "password", "present", "secret", "code"), CANARY)
SENT |= dict.fromkeys(("bot", "new"), "arena:greedy") | dict.fromkeys(("numbers", "correction"), "1")
SENT |= {"machine": "a machine", "scopes": ["read"], "role": "author", "reason": "A reason."}
SENT |= {"game": "differences", "plies": "0", "action": "a1", "choice": "alike", "change": ""}
"""What is sent in the other fields, where it is not odd: no password is right, so that nobody leaves."""


@pytest.fixture
async def places(logged_world, directory, monkeypatch):
    monkeypatch.setattr(Rates, "take", lambda *_: 0.0)
    monkeypatch.setattr(contest_changes, "read_apart", reading_of)
    monkeypatch.setattr(contest_changes, "time_zones", lambda: ("UTC",))
    with ArenaHome(directory) as home:
        keep_puzzles(directory, play(home, "kept", ["alpha", "beta"], encounters=1), [made_puzzle()])
    store = logged_world.store
    store.directors.report_state("kept", "ladder", DirectorState.IDLE)
    store.submissions.add(store.accounts.get("olga"), "-".join(["0" * 16] * 2), "0" * 64, 1, "bot.py", "")
    contest = store.contests.add("dora", contest_of()).name
    bot = PlayableBot(name="arena:greedy", label="greedy@1")
    menu = PlayMenu(games=(playable_game("differences"),), bots=(bot,), slots=4)
    store.unrated_matches.set_menu(menu.model_dump_json(), 4)
    choices = Choices(game="differences", options="{}", seat=0, bot="arena:greedy", per_action_milliseconds=500)
    match = store.unrated_matches.begin(choices, None, "a network").secret
    secret = store.invitations.invite(Role.AUTHOR, "olga", 7)
    return {
        "number": "1", "person": "ann", "secret": secret, "tournament": "kept", "match": match, "name": contest,
        "bot": "alpha", "puzzle": "1",
    }  # fmt: skip


def fields_sent(operation):
    names = [name for name in operation.fields.model_fields if f"{{{name}}}" not in operation.path]
    if operation.takes_upload:
        names.remove("file_name")
    return names, {name: SENT[name] for name in names if name in SENT}


def invalid_bodies(operation):
    names, usual = fields_sent(operation)
    fields = operation.fields.model_fields
    kind = "params" if operation.method == "GET" else "data"
    file = {"files": {"file": (f"{CANARY}.py", b"x")}} if operation.takes_upload else {}
    huge = CANARY * (100 if operation.max_body_bytes < 10_000 * len(CANARY) else 3000)
    if len(names) > 7:
        # one for all that are alike
        names = {repr((fields[name].annotation, fields[name].is_required())): name for name in names}.values()
    for name in (*names, *(["option_size"] if "options" in names else [])):
        field = fields.get(name)
        rest = {key: value for key, value in usual.items() if key != name}
        if field is not None:
            yield {kind: rest, **file}, field.is_required()
        for value in (*FORM_VALUES, huge):
            yield {kind: rest | {name: value}, **file}, value not in ("", CANARY)
        for value in (*JSON_VALUES, huge) if kind == "data" and not file else ():
            content = json.dumps(rest | {name: value})
            yield {"content": content, "headers": {"content-type": JSON}}, is_refused(field, value)
    yield {kind: usual | {"unknown": CANARY}, **file}, True


def is_refused(field, value):
    if value is None:
        return field is None or type(None) not in get_args(field.annotation)
    return value is not True and value != CANARY


def invalid_paths(operation, places):
    for name in places:
        if f"{{{name}}}" in operation.path:
            for value in PATH_VALUES:
                yield operation.path.format_map(places | {name: quote(value, safe="")})


async def answers(world, places, operation, accept):
    client = world.program("olga") if operation.who is Who.PROGRAM else world.browser("olga")
    bodies = list(invalid_bodies(operation))
    if accept == HTML:  # each is refused by the same function, and the page says what it says
        bodies = bodies[::5]
    requests = [(operation.path.format_map(places), *one) for one in bodies]
    _, usual = fields_sent(operation)
    usual = {"params" if operation.method == "GET" else "data": usual}
    requests += [(path, usual, False) for path in invalid_paths(operation, places)]
    for path, sent, is_wrong in requests:
        headers = {"accept": accept} | sent.get("headers", {})
        response = await client.request(operation.method, path, **sent | {"headers": headers})
        yield f"{named(operation)} {path[:100]} {sent!s:.300}", is_wrong, response


@pytest.mark.slow
@pytest.mark.parametrize("accept", [HTML, JSON], ids=["page", "json"])
async def test_what_a_field_cannot_be_is_refused_in_a_sentence(logged_world, places, lines, accept):
    wrong = []
    for operation in OPERATIONS:
        if accept == HTML and not (operation.form or operation.template):
            continue  # its refusals are pages like all others
        async for what, is_wrong, response in answers(logged_world, places, operation, accept):
            status = response.status_code
            if status >= 500 or (is_wrong and status < 400) or status in (401, 403):
                wrong.append(f"{status} {is_wrong} {what}")
            elif status >= 400 and accept == JSON:
                error = response.json()["error"]
                if not error.endswith(".") or "\n" in error:
                    wrong.append(f"{error!r} {what}")
    assert wrong == []
    assert_nothing_sent_is_in(lines, places)
    assert len(lines.texts) >= len(OPERATIONS)


def assert_nothing_sent_is_in(lines, places):
    everything = "\n".join(lines.texts) + str(lines.values)
    assert [one for one in (CANARY, places["secret"], places["match"]) if one in everything] == []
    assert lines.texts


@pytest.mark.slow
async def test_a_defect_after_a_refusal_does_not_log_what_was_sent(logged_world, places, lines, monkeypatch):
    """First one of the page with the form, then one of the page that says what is wrong."""

    olga = logged_world.browser("olga")
    monkeypatch.setattr(gate, "page_response", Mock(side_effect=ZeroDivisionError))
    requests = [
        (operation.path.format_map(places), sent)
        for operation in OPERATIONS
        if operation.form
        for sent in ends([sent for sent, is_wrong in invalid_bodies(operation) if is_wrong])
    ]
    for path, sent in requests:
        status = (await olga.post(path, **sent)).status_code
        assert status == 500, (status, path, sent)
    assert_nothing_sent_is_in(lines, places)
    monkeypatch.setattr(logged_world.site._responses, "problem", Mock(side_effect=ZeroDivisionError))
    for path, sent in requests:
        with pytest.raises(ZeroDivisionError) as caught:
            await olga.post(path, **sent)
        assert CANARY not in "".join(traceback.format_exception(caught.value))


def ends(found):
    return found[0], found[-1]
