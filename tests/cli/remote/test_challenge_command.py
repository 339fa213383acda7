"""``arena challenge RIVAL --mine NAME --at URL``: asked for, waited for, and printed."""

import json

import pytest

from arena.cli.remote import submit_command
from arena.community.play.host_program import playable_game
from arena.site.matches.playing import PlayableBot, PlayMenu
from tests.cli.calls import called, printed_alone, refusal
from tests.docs.test_data_page import is_of, sections


@pytest.fixture
def command(arena_site, capsys, monkeypatch):
    monkeypatch.setenv("ARENA_TOKEN", arena_site.token("submit", "read"))
    bots = (PlayableBot(name="arena:greedy", label="greedy@1"), PlayableBot(name="mine@1", label="mine@1"))
    menu = PlayMenu(games=(playable_game("differences"),), bots=bots, slots=4)
    arena_site.people.unrated_matches.set_menu(menu.model_dump_json(), 4)
    assert arena_site.people.submissions.own_bot_name(arena_site.ada.number, "mine")
    usual = ("--at", arena_site.url, "--game", "differences", "--mine", "mine")
    return lambda *arguments: called(capsys, "challenge", *usual, *arguments)


@pytest.mark.parametrize(("arguments", "seats"), [((), {0, 1}), (("--one-match",), {0})])
def test_it_waits_for_the_matches_and_prints_how_they_ended(command, arena_site, monkeypatch, arguments, seats):
    matches = arena_site.people.unrated_matches

    def play(_):
        for number in matches.waiting():
            matches.end(number, "mine@1 wins 3 : 1.")

    monkeypatch.setattr(submit_command.time, "sleep", play)
    out = printed_alone(command, "greedy", *arguments, "--json")
    rows = json.loads(out)
    assert {row["seat"] for row in rows} == seats
    promised = sections()[("arena challenge",)]
    for row in rows:
        assert row.keys() == promised.keys() and all(is_of(row[field], promised[field]) for field in row)
    ended = {(row["challenger"], row["bot"], row["outcome"]) for row in rows}
    assert ended == {("mine@1", "arena:greedy", "mine@1 wins 3 : 1.")}
    assert all(row["page"].startswith(f"{arena_site.url}/play/") for row in rows)


def test_what_can_not_be_is_one_sentence(command, arena_site):
    assert "bot 'nobody'" in refusal(command, "nobody").lower()
    assert "Missing argument" in refusal(command)
