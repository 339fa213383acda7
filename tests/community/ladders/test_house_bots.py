from dataclasses import replace

from arena.community.ladders.open_ladder import OpenLadder
from arena.store.home import ArenaHome
from arena.tournament.definition import load_definition
from arena.tournament.resumption import create_or_resume

DIGESTS = {"random_legal@1": "7540272821baf649", "greedy@1": "a311474e9e584511", "mcts@2": "f47dc76ee0638f0e"}
"""Of the files of each version. A ladder that is played refuses other files under a version that it knows."""


def test_other_files_have_another_version():
    found = {bot.label: bot.digest for bot in load_definition("arena:open_ladder").entrants}
    assert found == DIGESTS, "give the bot that has changed another version in its bot.toml, and add its digest here"


def test_another_version_enters_a_ladder_that_is_played_in_place_of_the_one_before(tmp_path):
    with ArenaHome(tmp_path) as home:
        ladder = OpenLadder("arena:open_ladder", home).definition()
        *others, last = ladder.entrants
        before = replace(last, version="0", digest="0" * 16)
        create_or_resume(replace(ladder, entrants=(*others, before)), home.store)
        resumed, _ = create_or_resume(ladder, home.store)
    assert resumed.entrants == (*others, before, last)
    assert resumed.active == frozenset({0, 1, 3})
