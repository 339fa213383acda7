"""A site whose results and people are in PostgreSQL: a bot is submitted, checked, and rated in a table."""

import json
import urllib.request

import pytest

from arena.store.home import PEOPLE_VARIABLE, STORE_VARIABLE, open_people
from arena.store.people.values import Role, Scope
from tests import needs
from tests.community.ladders.test_kill_storm import LADDER, archive, until
from tests.server.http.test_serve import served


@pytest.mark.slow
def test_a_bot_gets_from_its_upload_to_the_table(postgres, monkeypatch, tmp_path, file):
    file.write_text(LADDER)
    needs.contained_uploads()
    for variable in (STORE_VARIABLE, PEOPLE_VARIABLE):
        monkeypatch.setenv(variable, postgres.new_database())
    with open_people(tmp_path) as people:
        token = people.tokens.make(people.accounts.add("ada", Role.AUTHOR, "test"), "t", [Scope.SUBMIT], 1)
    with served("--home", tmp_path, "--open-to", "authors", "--ladder", file) as site:
        until(lambda: site.get("/tournaments/open.json")[0] == 200, "the ladder has not begun")
        assert submitted(site, token, archive("ada", 1)) == "/submissions/1"
        until(lambda: "ada@1" in rated(site.get("/tournaments/open.json")), "it is not in the table")
        assert json.loads(site.get("/health.json")[2])["troubles"] == []


def rated(answer):
    return [line["label"] for line in json.loads(answer[2])["standings"] if line["matches"] > 0]


def submitted(site, token, data):
    headers = {
        "authorization": f"Bearer {token}",
        "accept": "application/json",
        "content-type": "application/octet-stream",
    }
    request = urllib.request.Request(f"http://{site.address}/submissions?file_name=ada.zip", data, headers)
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.loads(response.read())["to"]
