from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from arena.base.errors import DefinitionError
from arena.base.records import Bot, Limits, TimeControl
from arena.community.contests.contest_file import instants, reading_of
from arena.community.contests.contest_text import contest_text, read_apart
from arena.community.contests.stages import definition_of
from arena.games import make_game
from arena.games.checked_game import checked_game
from arena.store.people.contest import ContestEntrants, ContestResults
from arena.tournament.formats.format import format_of
from arena.tournament.openings import has_opening, openings
from tests.community.contests.samples import LINES, OPEN, SEALED, contest_of, stored_of, text_of


def test_what_a_director_has_written_is_what_is_played():
    contest = contest_of()
    assert (contest.name, contest.title, contest.description) == ("spring", "Spring contest", "Two lines\nof text")
    assert (contest.game, contest.options["size"], contest.players) == ("differences", 3, 2)
    assert contest.opens_at == "2027-01-15T07:00:00+00:00"  # Berlin is an hour ahead in winter
    assert contest.deadline_at == "2027-01-20T22:59:59+00:00"
    assert contest.freeze_at == "2027-01-20T18:59:59+00:00"
    assert (contest.entrants, contest.invited, contest.bots_per_author) == (ContestEntrants.EVERYBODY, (), 1)
    assert (contest.results, contest.reveal_at) == (ContestResults.FROZEN, None)
    assert contest.time_control == TimeControl(per_action_seconds=2.0)
    assert contest.limits == Limits(memory_bytes=512 * 2**20)
    assert contest.tournaments == ("spring-qualification", "spring")
    assert (contest.qualification.format, contest.qualification.places) == ("ladder", 2)
    assert contest.qualification.settings == {"margin_95": 9.0}
    assert (contest.final.format, contest.final.places, contest.final.encounters) == ("round-robin", None, 2)


@pytest.mark.parametrize(
    "changed",
    [
        {},
        OPEN,
        SEALED | {"reveal_at": "2027-01-21T12:00:00"},
        {"qualification": None, "final": '{ format = "knockout", encounters = 3, ply_limit = 80 }'},
        {"final": '{ openings = { plies = 2, choose = "information" } }'},
        {"final": '{ until = { decided = "top 3", indifference = 2.0, max_matches = 5000 } }'},
        {"entrants": '"invited"', "invited": '["ada", "Bob"]', "bots_per_author": "3", "title": '"\\"quoted\\" \\\\"'},
        {"time_control": '{ bank_seconds = 60, increment_seconds = 0.5, clock = "cpu" }', "time_zone": '"Asia/Tokyo"'},
    ],
)
def test_a_written_contest_reads_as_the_same(changed):
    contest = contest_of(**changed)
    assert reading_of(contest_text(contest)).check() == contest


FAULTS = {
    "name": [("'Spring'", "lower-case"), ("'new'", "not 'new'"), ("'a/b'", "lower-case"), ("'a' * 2", "TOML")],
    "title": [("''", "at most 100"), ("'   '", "visible"), ('"a\\u202eb"', "visible"), ("7", "a text")],
    "description": [("'''a\u200bb'''", "invisible"), ("[]", "a text")],
    "game": [("'chess'", "'differences'"), ("'os:path'", "expected"), ("1", "a text")],
    "options": [("{ size = 600 }", "options.size = 600"), ("{ sise = 4 }", "options.sise"), ("4", "a table")],
    "opens_at": [
        ("2027-01-15", "to the second"),
        ("2027-01-15T08:00:00Z", "without an offset"),
        ("2027-01-15T08:00:00.5", "to the second"),
        ("1970-01-01T00:00:00", "2000"),
        ("2027-02-15T08:00:00", "deadline_at = 2027-01-20T23:59:59: expected a time after opens_at"),
    ],
    "deadline_at": [
        ("2027-03-28T02:30:00", "never, for the clocks are put forward"),
        ("2027-10-31T02:30:00", "twice, for the clocks are put back"),
        ("2027-01-15T08:00:00", "a time after opens_at"),
        ("2029-01-15T08:00:00", "400 days"),
    ],
    "time_zone": [("'Berlin'", "IANA"), ("'/etc/passwd'", "IANA"), ("'../x'", "IANA"), ("''", "IANA"), ("1", "a text")],
    "entrants": [("'all'", "'everybody' or 'invited'")],
    "invited": [("['ada']", "only with entrants = 'invited'"), ("['x y']", r"invited\[0\]"), ("'ada'", "a list")],
    "bots_per_author": [("0", "from 1 to 10"), ("11", "from 1 to 10"), ("1.5", "a whole number")],
    "house_bots": [
        ("['arena:gredy']", "did you mean 'arena:greedy'"),
        ("['/bin/sh']", "an example bot"),
        ("['arena:stripes']", "house_bots: expected bots that play differences; arena:stripes plays plaid"),
    ],
    "results": [("'secret'", "'open', 'frozen' or 'sealed'"), ("'open'", "frozen_hours: only with results = 'frozen'")],
    "frozen_hours": [
        ("0", "greater than 0"),
        ("inf", "greater than 0"),
        ("'4'", "a number"),
        ("136", "frozen_hours = 136: expected at most 135.99972"),  # from the 15th at 8 to the end of the 20th
    ],
    "reveal_at": [("2027-01-20T23:59:58", "not before deadline_at"), ("'later'", "to the second")],
    "ladders": [("'yes'", "true or false")],
    "time_control": [("{ per_action_seconds = 0 }", "greater than 0"), ("{}", "needs per_action_seconds")],
    "limits": [("{ memory_bytes = 1 }", "from 16,777,216"), ("{ memory = 1 }", "unknown key")],
    "qualification": [
        ("{ places = 1 }", "from 2 to 1,000"),
        ("{}", "places: missing"),
        ("{ places = 4, format = 'ladder' }", "margin_95: missing"),
        ("{ places = 4, format = 'ladder', ladder = { matches = 9, margin_95 = 1 } }", "would play no match"),
    ],
    "final": [
        ("{ format = 'ladder' }", "final.format = 'ladder': expected 'round-robin'"),
        ("{ encounters = 0 }", "from 1 to 100,000"),
        ("{ ply_limit = 2 }", "the 2 plies of the opening count"),
        ("{ openings = 'book.toml' }", "expected a table"),
        ("{ openings = { plies = 3 }, opening_plies = 3 }", "opening_plies and openings: expected one of them"),
        ("{ openings = { plies = 3, choose = 'best' } }", "expected 'random' or 'information'"),
        ("{ opening_plies = 3 }", "final.opening_plies = 3: no random opening of that many plies leaves every seat in"),
        ("{ round_robin = { groups = 3 } }", "final.round_robin.groups: only for games of three or more players"),
        ("{ format = 'gauntlet' }", "final.gauntlet.challengers: missing .expected names of house_bots, such as"),
        ("{ format = 'gauntlet', gauntlet = { challengers = ['ada'] } }", "challengers = .'ada'.: expected names of"),
        ("{ until = { decided = 'all' } }", "final.until: until.decided = 'all': expected .groups., .order."),
        ("{ until = {}, encounters = 3 }", "encounters and until: expected one of them"),
        ("{ swiss = { rounds = 3 } }", "final.swiss: this table belongs to format = 'swiss'"),
        ("{ entrants = [] }", "unknown key"),
    ],
    "isolation": [("'none'", "unknown key")],
}


@pytest.mark.parametrize(("key", "value", "sentence"), [(key, *one) for key, some in FAULTS.items() for one in some])
def test_a_mistake_is_one_sentence(key, value, sentence):
    with pytest.raises(DefinitionError, match=sentence) as caught:
        contest_of(**{key: value})
    assert str(caught.value).startswith("contest: ")
    assert "\n" not in str(caught.value)


def test_one_mistake_hides_no_other():
    """Neither of a key by itself, nor of several together, as long as what they depend on is right."""
    mistakes = {
        "title": ("7", "title = 7: expected a text of at most 100 characters"),
        "time_zone": ("'Berlin'", "time_zone = 'Berlin': expected a time zone"),
        "options": ("{ size = 600 }", "options.size = 600: expected"),
        "results": ("'open'", "frozen_hours: only with results = 'frozen'"),
        "reveal_at": ("'later'", "reveal_at = 'later': expected a date"),
        "final": ("{ format = 'ladder' }", "final.format = 'ladder': expected"),
        "bots_per_author": ("11", "bots_per_author = 11: expected"),
    }
    with pytest.raises(DefinitionError) as caught:
        contest_of(**{key: value for key, (value, _) in mistakes.items()})
    text = str(caught.value)
    for _, sentence in mistakes.values():
        assert text.count(sentence) == 1, (sentence, text)
    assert text.startswith("contest: ")
    assert "opens_at" not in text  # which can't be known without a zone


def test_every_key_has_a_mistake_here_and_a_text_that_is_too_long_or_no_toml_is_refused():
    assert FAULTS.keys() >= LINES.keys()
    with pytest.raises(DefinitionError, match="more than 64 KiB"):
        reading_of(text_of(description=f'"{"a" * 70_000}"')).check()
    for text in ("a = ", "\0", "[" * 10_000, "a = 1" * 2):
        with pytest.raises(DefinitionError, match="not valid TOML"):
            reading_of(text).check()
    with pytest.raises(DefinitionError, match="missing"):
        reading_of("").check()


zones = st.sampled_from(sorted(available_timezones() - {"localtime", "Factory"}))
locals_ = st.datetimes(datetime(2000, 1, 1), datetime(2037, 12, 31)).map(lambda at: at.replace(microsecond=0))


@given(locals_, zones, st.none())
@example(datetime(2027, 3, 28, 1, 59, 59), "Europe/Berlin", 1)
@example(datetime(2027, 3, 28, 2, 0), "Europe/Berlin", 0)
@example(datetime(2027, 3, 28, 2, 59, 59), "Europe/Berlin", 0)
@example(datetime(2027, 10, 31, 2, 0), "Europe/Berlin", 2)
@example(datetime(2011, 12, 30, 12, 0), "Pacific/Apia", 0)  # a day that Samoa has left out
@example(datetime(2027, 4, 4, 1, 45), "Australia/Lord_Howe", 2)
def test_the_times_that_a_clock_on_the_wall_shows_are_found_by_looking_at_all_of_them(local, zone, count):
    """What is compared with: each quarter of an hour within two days, for offsets are multiples of that since 2000."""
    near = local.replace(tzinfo=UTC)
    steps = [near + timedelta(minutes=15 * k) for k in range(-4 * 30, 4 * 30 + 1)]
    shown = [at for at in steps if at.astimezone(ZoneInfo(zone)).replace(tzinfo=None) == local]
    assert instants(local, zone) == shown
    assert count in (None, len(shown))


@pytest.mark.slow
def test_a_process_of_its_own_reads_the_same():
    for text in (text_of(), text_of(title="''", options="{ size = 600 }"), ""):
        assert read_apart(text) == reading_of(text)
    for text in ("a = ", "\udcff", "a" * 70_000):
        with pytest.raises(DefinitionError) as here:
            reading_of(text)
        with pytest.raises(DefinitionError) as apart:
            read_apart(text)
        assert str(apart.value) == str(here.value)


def test_openings_that_tell_most_are_for_games_of_two():
    rules = contest_of(final='{ openings = { plies = 2, choose = "information" } }').final
    assert (rules.opening_plies, rules.opening_choice) == (2, "information")
    rules = contest_of(final="{ openings = { plies = 1 } }").final
    assert (rules.opening_plies, rules.opening_choice) == (1, None)
    final = '{ openings = { plies = 3, choose = "information" } }'
    with pytest.raises(DefinitionError, match=r'final\.openings: choose = "information" is for games of two'):
        contest_of(game='"coprimality"', options="{ players = 3 }", final=final)


def test_what_could_not_be_played_after_the_deadline_is_refused_before():
    three = {"game": '"multiplication"', "options": "{ size = 10, players = 3 }", "house_bots": None}
    for format_ in ("knockout", "swiss"):
        with pytest.raises(DefinitionError, match=f"final.format = '{format_}': expected a format for 3 players"):
            contest_of(**three, qualification=None, final=f'{{ format = "{format_}" }}')
    few = '{ format = "round-robin", places = 2 }'
    with pytest.raises(DefinitionError, match=r"places = 2: expected at least 3, for a match of 3"):
        contest_of(**three, qualification=few)
    assert contest_of(**three | {"house_bots": '["arena:greedy"]'}, qualification=few).qualification.places == 2
    league = contest_of(**three, qualification=None, final="{ round_robin = { groups = 3 } }")
    assert league.final.settings == {"groups": 3}
    gauntlet = "{ format = 'gauntlet', gauntlet = { challengers = ['greedy'] } }"
    assert contest_of(final=gauntlet).final.settings == {"challengers": ["greedy"]}


@pytest.mark.parametrize(
    ("game", "options", "most"),
    [
        ("differences", {"size": 5}, 4),  # a match has 5 plies
        ("plusminus", {"size": 3}, 6),  # 2 signs each, then 3 marks
        ("multiplication", {"size": 7}, 12),  # 7 marks, then 6 numbers
        ("plaid", {"width": 4, "height": 4, "lines": 6}, 5),  # the sheet is full with 6 lines
    ],
)
def test_there_are_openings_up_to_one_ply_before_the_end_of_a_match(game, options, most):
    assert has_opening(make_game(game, **options), most)
    assert not has_opening(make_game(game, **options), most + 1)
    varied = make_game("coprimality", size=4)  # whose matches differ in length: an opening is drawn
    assert has_opening(varied, 5) == (next(openings(checked_game(varied, "coprimality"), 5, 1)) is not None)


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
