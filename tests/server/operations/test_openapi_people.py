import pytest

from arena.server.gate.description import description_of
from arena.server.http.openapi import document
from arena.server.operations.opened_people import OPERATIONS
from arena.site.page_table import PAGES
from tests.server.http.test_openapi import check_openapi
from tests.server.operations.conftest import JSON, PASSWORD


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
        ("/account", "get", "Whoever has signed in may, and any token.", [{"session": []}, {"token": []}]),
        ("/account/tokens", "post", "Whoever has signed in with a browser may, and no token.", [{"session": []}]),
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
