import json

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from arena.server.http.openapi import document
from arena.site.page_table import PAGES
from arena.store.home import ArenaHome
from tests.server.conftest import add_tournament, client_of
from tests.server.http.test_serve import served

THERE = {"tournament": "t", "match": 1, "bot": "a", "rival": "b", "game": "differences"}
"""Names that exist, for which the answer is a page."""

FEW = settings(
    max_examples=8, deadline=None, derandomize=True, database=None, phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)  # fmt: skip


def check_openapi(description):
    validator = pytest.importorskip("openapi_spec_validator", reason="needs openapi-spec-validator")
    validator.OpenAPIV31SpecValidator(description).validate()


def test_every_page_has_a_twin_and_every_table_an_address():
    assert "securitySchemes" not in document(PAGES, ())["components"], "without people there is nothing to sign in to"
    paths = document(PAGES, ())["paths"]
    for page in PAGES:
        assert page.path in paths
        assert (f"{page.path}.json" if page.path != "/" else "/index.json") in paths
    assert "/index.csv" in paths


@pytest.mark.slow
async def test_the_site_has_it(directory):
    async with client_of(directory) as client:
        response = await client.get("/openapi.json")
        assert response.json() == json.loads(json.dumps(document(PAGES, client.site._endpoints)))
        assert "/tournaments/{tournament}/feed.atom" in response.json()["paths"]
        check_openapi(response.json())


@pytest.fixture(scope="module")
def schema(tmp_path_factory):
    schemathesis = pytest.importorskip("schemathesis", reason="needs schemathesis")
    directory = tmp_path_factory.mktemp("home")
    with ArenaHome(directory) as home:
        add_tournament(home)
    with served("--home", directory) as server:
        yield schemathesis.openapi.from_url(f"http://{server.address}/openapi.json")


@pytest.mark.slow
def test_whatever_a_program_asks_the_answer_is_as_described(schema):
    from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

    def ask(case):
        chooses = case.method.lower() == "post"  # among the games and bots that are here, which no schema lists
        case.call_and_validate(excluded_checks=[positive_data_acceptance] if chooses else [])
        case.path_parameters = {name: THERE.get(name, value) for name, value in (case.path_parameters or {}).items()}
        case.call_and_validate(excluded_checks=[positive_data_acceptance, negative_data_rejection])

    with_an_end = schema.exclude(path="/events")  # a stream has none
    for operation in with_an_end.get_all_operations():
        FEW(given(case=operation.ok().as_strategy())(ask))()
