"""Every operation is described for programs, as the table has it."""

import pytest

from arena.site.pages import PAGES
from arena.web.openapi import document
from arena.web.people.description import description_of
from arena.web.people.table import OPERATIONS
from tests.web.people.conftest import JSON, PASSWORD
from tests.web.test_openapi import check_openapi

pytestmark = pytest.mark.anyio


@pytest.fixture
async def described(world):
    return (await world.client().get("/openapi.json")).json()


@pytest.mark.slow
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


@pytest.mark.parametrize(
    ("path", "method", "sentence", "security"),
    [
        ("/log", "get", "Anybody may.", [{}]),
        ("/account", "get", "Whoever has signed in may, and any token.", [{"session": []}, {"token": []}]),
        ("/account/tokens", "post", "Whoever has signed in with a browser may, and no token.", [{"session": []}]),
        ("/people", "get", "Roles: director, operator. Tokens: direct.", [{"session": []}, {"token": ["direct"]}]),
        (
            "/play",
            "post",
            "Roles: visitor, author, director, operator. Tokens: play.",
            [{}, {"session": []}, {"token": ["play"]}],
        ),
        ("/people/{person}/link", "post", "Roles: director, operator. No token.", [{"session": []}]),
        ("/people/{person}/role", "post", "Roles: operator. No token.", [{"session": []}]),
    ],
)
async def test_who_may_is_said(described, path, method, sentence, security):
    operation = described["paths"][path][method]
    assert (operation["description"], operation["security"]) == (sentence, security)


@pytest.mark.slow(sample=True)
async def test_every_status_that_comes_is_described(world, described):
    olga, visitor = world.browser("olga", accept=JSON), world.client(accept=JSON)
    for client in (olga, visitor):
        for operation in OPERATIONS:
            path = operation.path.format(
                number=1, person="nobody", secret="x" * 43, name="none", tournament="x", match="x", bot="x"
            )
            responses = described["paths"][operation.path][operation.method.lower()]["responses"]
            for sent in ({}, {"data": {"name": "ann", "password": PASSWORD}}, {"content": b"x"}):
                if operation.method == "POST" or not sent:
                    response = await client.request(operation.method, path, **sent)
                    assert str(response.status_code) in responses, (operation.path, response.text)


async def test_without_people_there_is_nothing_to_sign_in_to():
    assert "securitySchemes" not in document(PAGES, ())["components"]
