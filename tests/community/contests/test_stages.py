from arena.base.records import Bot
from arena.community.contests.stages import definition_of
from arena.tournament.formats.format import format_of
from tests.community.contests.samples import stored_of


def definition(labels, **changed):
    stored = stored_of(qualification=None, house_bots='["arena:greedy"]', **changed)
    names = (label.partition("@") for label in labels)
    bots = [Bot(name=name, version=version, command=("x",), directory="/") for name, _, version in names]
    return definition_of(stored, stored.contest.final, "spring", bots)


def test_a_swiss_has_no_more_rounds_than_can_be_paired_without_a_repeat_and_no_more_groups_meet_than_there_are():
    for entrants, rounds in ((2, 1), (3, 3), (4, 3), (9, 7)):
        labels = [f"bot{number}@1" for number in range(entrants)]
        found = definition(labels, final="{ format = 'swiss', swiss = { rounds = 7 } }")
        assert found.settings["rounds"] == rounds
    three = {"game": '"multiplication"', "options": "{ size = 10, players = 3 }"}
    labels = [f"bot{number}@1" for number in range(4)]
    assert definition(labels, **three, final="{ round_robin = { groups = 9 } }").settings == {"groups": 4}  # 4 over 3
    assert definition(labels, **three, final="{ round_robin = { groups = 2 } }").settings == {"groups": 2}


def test_challengers_are_the_bots_of_the_house_although_an_author_took_the_name():
    final = "{ format = 'gauntlet', gauntlet = { challengers = ['greedy'] } }"
    for labels, challenger in (
        (["mine@1", "greedy@0.1"], "greedy"),
        (["greedy@9", "mine@1", "greedy@0.1"], "greedy@0.1"),
    ):
        found = definition(labels, final=final)
        assert list(found.settings["challengers"]) == [challenger]
        house = len(labels) - 1
        assert {pairing[0] for pairing in format_of(found).next_round().pairings} == {house}


def test_what_is_to_be_decided_is_fitted_to_those_who_play():
    final = "{ until = { decided = 'top 3', max_matches = 10 } }"
    few, more = (definition([f"bot{number}@1" for number in range(count)], final=final) for count in (3, 5))
    assert (few.until.decided, few.until.max_matches) == ("groups", 12)  # 3 pairs, 2 encounters, 2 matches
    assert (more.until.decided, more.until.max_matches) == ("top 3", 40)
    assert format_of(more).next_round().further == (2,) * 10
    many = definition([f"bot{number}@1" for number in range(210)], final=final)
    assert many.until.max_matches == 2 * 2 * 12 * 105  # twelve rounds
