"""How many matches a tournament has, when corrections have left some of them out."""

from dataclasses import replace

from arena.corrections import disqualify
from arena.home import ArenaHome
from tests.transfer.played import definition_of, play


def test_the_matches_of_another_tournament_make_no_difference(tmp_path):
    cup = definition_of(encounters=1)  # 12 matches, a bot sits in 6 of them
    with ArenaHome(tmp_path) as home:
        play(home.store, cup)
        disqualify(home.store, "cup", "d@1", reason="a book of openings")
        assert (home.store.tournament("cup").scheduled, home.store.tournament("cup").recorded) == (6, 6)
        play(home.store, replace(cup, name="plate"))
        assert (home.store.tournament("cup").scheduled, home.store.tournament("cup").recorded) == (6, 6)
