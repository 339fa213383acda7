from datetime import datetime, timedelta

import pytest

from arena.community.contests.contest_file import reading_of
from arena.community.contests.contest_text import template_names, template_text
from arena.store.home import ArenaHome, open_people
from arena.store.people.contest import ContestResults
from arena.store.people.directors import DesiredState, DirectorState, RunFigures
from arena.store.people.values import Role
from tests.cli.calls import as_json, printed, refusal, refusals
from tests.store.results.samples import definition, line


@pytest.fixture
def people(home):
    with open_people(home) as opened:
        yield opened


@pytest.fixture
def file(arena, tmp_path):
    text = printed(arena, "contest", "new", "class", "--name", "autumn", "--time-zone", "Europe/Berlin")
    path = tmp_path / "autumn.toml"
    path.write_text(text)
    return path


@pytest.fixture
def tournament(home):
    def begin(name):
        with ArenaHome(home, store=home / "arena.sqlite3") as opened:
            opened.store.create_tournament(definition(name=name), [line(1)])

    return begin


@pytest.mark.parametrize("template", template_names())
def test_each_template_is_a_contest(template):
    contest = reading_of(template_text(template, "spring", "Asia/Tokyo", datetime(2027, 3, 4, 15, 30))).check()
    assert (contest.name, contest.title, contest.time_zone) == ("spring", "Spring", "Asia/Tokyo")
    assert contest.opens_at == "2027-03-04T23:00:00+00:00"  # the next day at 8 in Tokyo
    assert contest.deadline_at == "2027-03-12T14:59:59+00:00"
    results = {"class": ContestResults.SEALED, "cup": ContestResults.FROZEN, "league": ContestResults.OPEN}
    assert contest.results is results[template]
    revealed = template_text(template, "spring", "UTC", datetime(2027, 3, 4)).replace("# reveal_at", "reveal_at")
    assert (reading_of(revealed).check().reveal_at is not None) == (template != "league")


def test_a_contest_is_announced_shown_changed_and_cancelled(arena, file, people):
    code, out, _ = arena("contest", "add", file)
    assert (code, "autumn is announced" in out) == (0, True)
    assert people.contests.get("autumn").created_by == "the command line"
    (row,) = as_json(arena, "contest", "list")
    assert (row["name"], row["phase"], row["results"], row["entries"]) == ("autumn", "announced", "sealed", 0)
    out = arena("contest", "show", "autumn")[1]
    assert "it has not opened yet\n" in out
    assert "results are sealed, and revealed by a director\n" in out
    text = arena("contest", "show", "autumn", "--toml")[1]
    file.write_text(text.replace('title = "Autumn"', 'title = "The autumn contest"'))
    code, out, _ = arena("contest", "change", "autumn", file, "--reason", "A title.")
    assert (code, out) == (0, "autumn is changed:\n  title: Autumn → The autumn contest\n")
    code, out, _ = arena("contest", "change", "autumn", file, "--reason", "Once more.")
    assert (code, out) == (0, f"Nothing in {file} is different: autumn stays as it is.\n")
    assert people.contests.get("autumn").contest.title == "The autumn contest"
    assert arena("contest", "cancel", "autumn", "--reason", "Nobody came.", "--yes")[0] == 0
    assert "it is cancelled: Nobody came." in arena("contest", "show", "autumn")[1]
    assert [(line.action, line.reason, line.details) for line in people.log.lines(hidden=())] == [
        ("cancelled the contest", "Nobody came.", ""),
        ("changed the contest", "A title.", "title: Autumn → The autumn contest"),
        ("announced the contest", "", ""),
    ]
    assert as_json(arena, "people", "log")[1]["details"] == "title: Autumn → The autumn contest"


def test_results_are_revealed_on_request(arena, file, people):
    arena("contest", "add", file)
    code, _, errors = arena("contest", "reveal", "autumn", "--reason", "Now.")
    assert (code, errors) == (2, "arena: contest 'autumn': not everything is played yet\n")
    assert arena("contest", "reveal", "autumn", "--reason", "Now.", "--before-played")[0] == 0
    assert people.contests.get("autumn").reveal_asked_at is not None


def test_who_is_invited_is_listed(arena, file, people):
    people.accounts.add("ada", Role.AUTHOR, "test")
    file.write_text(file.read_text().replace('"everybody"', '"invited"\ninvited = ["ada"]'))
    assert arena("contest", "add", file)[0] == 0
    assert "invited: ada\n" in arena("contest", "show", "autumn")[1]


def test_without_a_contest_it_says_how_to_begin(arena):
    assert arena("contest")[1].endswith("There is no contest; begin with: arena site contest new class\n")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("add", "nowhere.toml"), "nowhere.toml: there is no such file"),
        (("show", "autum"), "unknown contest 'autum': did you mean 'autumn'?"),
        (("new", "clas"), "unknown template 'clas': did you mean 'class'?"),
        (("new", "class", "--name", 'a"b'), "--name 'a\"b': expected 1 to 48 lower-case letters a-z"),
        (("new", "class", "--time-zone", "Berlin"), "expected one such as Europe/Berlin"),
        (("cancel", "autumn"), "--reason"),
        (("cancel", "autumn", "--reason", " ", "--yes"), "expected 1 to 500 visible characters"),
        (("revael", "autumn"), "did you mean 'reveal'?"),
    ],
)
def test_a_mistake_is_one_sentence(arena, file, words, sentence):
    arena("contest", "add", file)
    assert sentence in refusal(arena, "contest", *words)


def test_a_change_takes_no_tournament_that_there_is_but_its_own(arena, file, tournament, people):
    arena("contest", "add", file)
    tournament("autumn")
    assert arena("contest", "change", "autumn", file, "--reason", "Words.")[0] == 0
    tournament("autumn-qualification")
    stage = '[qualification]\nformat = "swiss"\nplaces = 2\nswiss = { rounds = 2 }\n'
    file.write_text(arena("contest", "show", "autumn", "--toml")[1] + stage)
    sentence = refusal(arena, "contest", "change", "autumn", file, "--reason", "Two stages.")
    assert "there is a tournament 'autumn-qualification' already" in sentence
    assert people.contests.get("autumn").contest.qualification is None


def test_all_that_is_wrong_is_said_at_once(arena, file, tournament):
    tournament("autumn")
    long_ago = datetime.now() - timedelta(days=400)
    text = template_text("class", "autumn", "UTC", long_ago).replace('"everybody"', '"invited"\ninvited = ["nobody1"]')
    file.write_text(text.replace("bots_per_author = 1", "bots_per_author = 0"))
    passed = (long_ago + timedelta(days=8)).strftime("%Y-%m-%d 23:59:59")
    assert [sentence.removeprefix(f"{file}: ") for sentence in refusals(arena, "contest", "add", file)] == [
        "bots_per_author = 0: expected a whole number from 1 to 10",
        "name: there is a tournament 'autumn' already",
        f"deadline_at = {passed}: it has passed already (UTC)",
        "invited = 'nobody1': nobody has an account of this name",
    ]


@pytest.fixture
def ladders(people):
    people.directors.report_state("open", "ladder", DirectorState.PLAYING, "", RunFigures(recorded=12, playing=1))
    return people


def test_the_ladders_are_listed_with_what_each_is_doing(arena, ladders):
    (row,) = as_json(arena, "ladder", "list")
    assert (row["tournament"], row["state"], row["wish"], row["recorded"]) == ("open", "playing", "play", 12)


def test_a_ladder_is_paused_drained_and_resumed_with_a_reason(arena, ladders):
    for word, desired in (("pause", DesiredState.PAUSE), ("drain", DesiredState.DRAIN), ("resume", DesiredState.PLAY)):
        assert arena("ladder", word, "open", "--reason", f"To {word}.")[0] == 0
        assert ladders.directors.desired_state("open").state is desired
    assert [(line.by, line.action, line.reason) for line in ladders.log.lines(hidden=())] == [
        ("the command line", "resumed", "To resume."),
        ("the command line", "asked to drain", "To drain."),
        ("the command line", "paused", "To pause."),
    ]


def test_it_waits_until_nothing_is_played_or_says_that_it_still_is(arena, ladders):
    code, _, errors = arena("ladder", "pause", "open", "--reason", "x", "--wait", "1")
    assert (code, errors) == (1, "open still plays after 1 second.\n")
    ladders.directors.report_state("open", "ladder", DirectorState.DRAINED)
    assert arena("ladder", "drain", "open", "--reason", "x", "--wait", "600")[0] == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("pause", "other", "--reason", "x"), "'other': no program of this site supervises it; "),
        (("resume", "open", "--reason", "x"), "'open' is not paused"),
        (("pause", "open", "--reason", " "), "reason"),
        (("pause", "open"), "--reason"),
        (("stop", "open"), "arena ladder 'stop'"),
    ],
)
def test_what_is_refused_changes_nothing(arena, ladders, words, sentence):
    assert sentence in refusal(arena, "ladder", *words)
    assert ladders.directors.desired_state("open") is None
    assert ladders.log.lines(hidden=()) == []


def test_without_a_ladder_it_says_so(arena):
    assert "No ladder has run here yet" in arena("ladder", "list")[1]
