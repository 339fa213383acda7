import json
import random
import re
from contextlib import suppress
from dataclasses import replace

import pytest

from arena import (
    ArenaHome,
    disqualify,
    enter_late,
    function_bot,
    load_definition,
    make_definition,
    void_matches,
    withdraw,
)
from arena.analysis.measures.rounds_played import decided_so_far
from arena.analysis.measures.standings_cache import standings_of
from arena.analysis.measures.verification import verify
from arena.analysis.text.standings_table import standings_table
from arena.analysis.text.verdict import verdict
from arena.base.definition import Definition
from arena.base.enums import DisqualifiedMatches, StopReason, TournamentState
from arena.base.errors import DefinitionError, UsageError
from arena.base.until import Until
from arena.cli.group import run
from arena.store.results.states import state_of
from arena.tournament.director import run_tournament
from arena.tournament.extension import extended
from arena.tournament.formats.format import format_of
from arena.tournament.resumption import create_or_resume
from arena.tournament.rounds import played_format
from arena.tournament.schedule import schedule
from arena.tournament.transfer.merging import merge_home
from tests.databases import change
from tests.site.parsed import checked, model_of
from tests.tournament.corrections.contest import Scripts, contest, play, records, write_bots

UNTIL = Until(indifference=4.0, max_matches=400)


class Shuffled(Scripts):
    """Plays a few matches at a time, and reports them in any order, as several workers do."""

    def __init__(self, workers, max_matches=None):
        super().__init__(max_matches)
        self.workers, self.rng = workers, random.Random(workers)

    def run(self, queue):
        waiting = []
        for results in super().run(queue):
            waiting += results
            if len(waiting) >= self.workers:
                yield [waiting.pop(self.rng.randrange(len(waiting)))]
        while waiting:
            yield [waiting.pop(self.rng.randrange(len(waiting)))]


def lines(home, name="t"):
    return list(home.store.schedule(home.store.tournament(name)))


def timeless(texts):
    return {match: text.partition('"started_at"')[0] for match, text in texts.items()}


def holds(home):
    found = verify(home, "t")
    return found.problems == [] and found.checked == home.store.tournament("t").scheduled


@pytest.mark.slow(only=("round robin", "some groups of three"))
@pytest.mark.parametrize(
    "fields",
    [{}, {"format": "gauntlet", "settings": {"challengers": ["bob"]}}, {"players": 3, "settings": {"groups": 3}}],
    ids=["round robin", "gauntlet", "some groups of three"],
)
def test_more_encounters_are_those_of_a_tournament_that_was_longer_from_the_start(home, bots, tmp_path, fields):
    short = contest(bots, encounters=2, **fields)
    play(home, short)
    before = records(home)
    play(home, extended(home.store, "t", encounters=5))
    after = records(home)
    assert before.items() <= after.items()
    assert lines(home) == list(schedule(replace(short, encounters=5)))
    with ArenaHome(tmp_path / "other") as other:
        play(other, replace(short, encounters=5))
        assert timeless(records(other)) == timeless(after)
    with ArenaHome(tmp_path / "third") as third:
        assert merge_home(third, home.directory)[0].taken == len(after) and records(third) == after
    assert holds(home)
    with pytest.raises(DefinitionError, match="arena extend t --encounters 9 plays those that are missing"):
        create_or_resume(replace(short, encounters=9), home.store)


def test_an_interrupted_extension_goes_on_with_its_own_command_and_with_the_file(home, bots):
    play(home, contest(bots, encounters=1))
    play(home, extended(home.store, "t", matches=30), max_matches=3)
    assert (home.store.tournament("t").recorded, home.store.tournament("t").scheduled) == (15, 36)
    with pytest.raises(UsageError, match="tournament 't' is not finished, with 21 matches to play"):
        extended(home.store, "t", encounters=4)
    play(home, extended(home.store, "t", encounters=3), max_matches=3)
    assert play(home, contest(bots, encounters=3)).is_complete and holds(home)
    before = contest(bots, encounters=1)
    with pytest.raises(DefinitionError, match="arena extend t --encounters 3 resumes it if it was extended; else give"):
        create_or_resume(before, home.store)
    extended(home.store, "t", until=UNTIL)
    with pytest.raises(DefinitionError, match="arena extend t --until-decided resumes it if it was extended; else"):
        create_or_resume(before, home.store)
    other = replace(home.store.tournament("t").definition, until=replace(UNTIL, indifference=9.5))
    expected = r"in until; with indifference = 4\.0 the file resumes it, and arena extend t --until-decided --until KEY"
    with pytest.raises(DefinitionError, match=expected):
        create_or_resume(other, home.store)


@pytest.mark.parametrize("changes", [{"until": UNTIL, "encounters": 1}, {"encounters": 9}], ids=["until", "encounters"])
def test_nobody_is_sent_to_a_command_that_refuses_the_format(changes, home, bots):
    swiss = replace(contest(bots, encounters=2), format="swiss", settings={})
    create_or_resume(swiss, home.store)
    with pytest.raises(DefinitionError, match=r"differs in [a-z, ]+; give this one another name \(--name NAME\)$"):
        create_or_resume(replace(swiss, **changes), home.store)


def test_a_tournament_from_another_machine_is_extended_once_a_run_has_found_its_bots(home, bots, tmp_path):
    play(home, contest(bots, encounters=1))
    moved = write_bots(tmp_path / "moved", [bot.name for bot in bots])
    with ArenaHome(tmp_path / "other") as other:
        merge_home(other, home.directory)
        with pytest.raises(UsageError, match=r"'ann@\w*' was on another machine; name its files .*\(arena run FILE\)$"):
            extended(other.store, "t", encounters=2)
        before = other.store.tournament("t")
        play(other, contest(moved, encounters=1))
        after = other.store.tournament("t")
        assert (after.finished_at, after.definition.entrants) == (before.finished_at, moved)
        assert play(other, extended(other.store, "t", encounters=2)).is_complete and holds(other)


def test_corrections_before_and_after_an_extension(home, bots, tmp_path):
    play(home, contest(bots, encounters=1))
    withdrawn = contest(bots, encounters=2)
    home.store.set_finished(home.store.tournament("t"), False)  # as in the middle of a run
    withdraw(home.store, "t", "dan", reason="broken")
    play(home, contest(bots, encounters=1))
    play(home, extended(home.store, "t", encounters=2))
    assert home.store.tournament("t").recorded == 12 + 6  # those of dan end with the first encounter
    void_matches(home.store, "t", [14], reason="power cut")
    enter_late(home.store, "t", write_bots(tmp_path / "new", ["eve"])[0], reason="ill")
    assert play(home, withdrawn).is_complete
    assert home.store.tournament("t").recorded == 18 + 2 * 2 * 3 and holds(home)


def test_a_tournament_may_have_more_rounds_than_matches(home, bots, monkeypatch):
    monkeypatch.setattr("arena.store.results.record_reader.MANY_ROUNDS", 10)
    play(home, contest(bots))
    for name in ("cid", "dan"):
        disqualify(home.store, "t", name, reason="x")
    play(home, extended(home.store, "t", encounters=30))
    assert home.store.last_round("t") > home.store.last_match("t")
    assert play(home, extended(home.store, "t", until=UNTIL)).is_complete and holds(home)


def test_rounds_without_a_match_come_before_those_that_decide(home, bots):
    play(home, contest(bots[:3]))
    disqualify(home.store, "t", "cid", reason="copied", matches=DisqualifiedMatches.KEEP)
    play(home, extended(home.store, "t", encounters=2))
    assert play(home, extended(home.store, "t", until=UNTIL)).is_complete
    assert verify(home, "t").problems == []


@pytest.mark.parametrize("kind", ["swiss", "knockout", "ladder"])
def test_other_formats_are_not_extended(home, bots, kind):
    limits = {"ladder": {"matches": 4}, "swiss": {"rounds": 2}}.get(kind, {})
    play(home, contest(bots, format=kind, settings=limits))
    for wish in ({"encounters": 5}, {"until": UNTIL}):
        with pytest.raises(UsageError, match=f"'t' is a {kind}, which can't be extended: expected a round-robin"):
            extended(home.store, "t", **wish)


def test_three_players_are_no_reason_to_doubt_the_format(home, bots):
    with pytest.raises(DefinitionError, match=r"^until: expected a game for 2 players, not for 3$"):
        create_or_resume(contest(bots, players=3, until=UNTIL), home.store)


def test_what_can_not_be_extended_is_said_in_a_sentence_and_nothing_is_changed(home, bots):
    play(home, contest(bots, encounters=2))
    stored = home.store.tournament("t")
    refused = {
        "--encounters 2: each pairing of tournament 't' has 2 encounters; expected more": {"encounters": 2},
        "--matches 24: tournament 't' has 24; expected more": {"matches": 24},
        "until.decided = 'all': expected": {"until": Until(decided="all")},
        "until.max_matches = 3: the first 24 matches": {"until": Until(max_matches=3)},
        "until.indifference = nan: expected": {"until": Until(indifference=float("nan"))},
    }
    for message, wish in refused.items():
        with pytest.raises(UsageError) as error:
            extended(home.store, "t", **wish)
        assert message in str(error.value)
    with home.store.lock("t"), pytest.raises(UsageError, match="is being run by another director"):
        extended(home.store, "t", encounters=3)
    (home.directory.parent / "bots" / "bob.py").write_text("# another bob\n")
    with pytest.raises(UsageError, match=r"bot 'bob@\w*' has changed in .* since; put its files back"):
        extended(home.store, "t", encounters=3)
    assert home.store.tournament("t") == stored


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--until", "max_matches=9"], "--until max_matches=9: expected --until-decided with it"),
        (["--encounters", "9", "--until", "error=0.1"], "--until error=0.1: expected --until-decided with it"),
        (["--encounters", "9", "--until-decided"], "--encounters and --until-decided: expected one of"),
        ([], "expected one of --encounters, --matches and --until-decided"),
        (["--until-decided", "--until", "colour=3"], "--until: colour: unknown key"),
    ],
)
def test_options_that_contradict_each_other_are_refused(home, bots, capsys, options, message):
    play(home, contest(bots, encounters=1))
    before = home.store.tournament("t")
    assert run(["--home", str(home.directory), "extend", "t", *options]) == 2
    assert message in capsys.readouterr().err and home.store.tournament("t") == before


@pytest.mark.slow
@pytest.mark.parametrize("store", ["sqlite", "postgresql"])
def test_workers_interruptions_and_the_store_make_no_difference(request, bots, tmp_path, store):
    definition = contest(bots, until=UNTIL)
    with ArenaHome(tmp_path / "undisturbed") as other:
        assert play(other, definition).is_complete
        undisturbed = timeless(records(other)), lines(other)
    url = request.getfixturevalue("postgres_url") if store == "postgresql" else None
    with ArenaHome(tmp_path / "home", store=url) as home:
        for workers, most in ((1, 5), (2, 40), (8, 60), (3, 1), (8, None)):
            with suppress(KeyboardInterrupt):
                run_tournament(definition, home.store, executor=Shuffled(workers, most))
        assert (timeless(records(home)), lines(home)) == undisturbed
        assert holds(home)


@pytest.mark.slow
def test_it_ends_decided_or_at_its_budget_and_goes_on_with_a_larger_one(home, bots):
    definition = contest(bots, until=Until(indifference=0.1, max_matches=100))
    play(home, definition)
    stored = home.store.tournament("t")
    assert (stored.recorded, stored.finished_at is not None) == (100, True)
    assert played_format(home.store, stored).deciding.reason is StopReason.MATCHES
    before = records(home)
    assert play(home, contest(bots, until=Until(indifference=0.1, max_matches=200))).recorded == 200
    assert before.items() <= records(home).items()
    assert home.store.tournament("t").definition.until.max_matches == 200
    again = Definition.from_json("t", home.store.tournament("t").definition.to_json())
    assert again.identity() == definition.identity()


def test_a_finished_round_robin_plays_on_until_it_is_decided(home, bots):
    play(home, contest(bots, encounters=3))
    before = records(home)
    play(home, extended(home.store, "t", until=UNTIL), max_matches=10)
    play(home, extended(home.store, "t", until=UNTIL))
    assert before.items() <= records(home).items() and holds(home)
    assert play(home, contest(bots, until=UNTIL)).played == 0
    openings = {}
    for line in lines(home):
        openings.setdefault(frozenset(line.seats), []).append(line.opening)
    assert all(found == sorted(2 * [*range(len(found) // 2)]) for found in openings.values())
    with pytest.raises(UsageError, match="plays until it is decided; expected --until-decided"):
        extended(home.store, "t", encounters=9)
    with pytest.raises(DefinitionError, match="differs in until"):
        create_or_resume(contest(bots, until=replace(UNTIL, error=0.01)), home.store)


@pytest.mark.parametrize(
    "changes",
    [
        lambda matches: {"format": "ladder", "settings": {"matches": matches}},
        lambda matches: {"until": Until(indifference=0.1, max_matches=matches)},
    ],
    ids=["ladder", "until_decided"],
)
def test_a_tournament_that_plays_on_is_not_finished_before_its_new_end(home, bots, monkeypatch, changes):
    def ended_at(matches, **options):
        play(home, contest(bots, **changes(matches)), **options)
        return home.store.tournament("t").finished_at

    times = (f"2026-01-31T12:00:0{second}+00:00" for second in range(9))
    monkeypatch.setattr("arena.store.results.store.utc_now", lambda: next(times))
    first = ended_at(40)
    assert first is not None and ended_at(40) == first
    assert ended_at(80, max_matches=1) is None
    assert state_of(home.store.tournament("t"), ()) is TournamentState.STOPPED
    change(home.directory / "arena.sqlite3", "UPDATE tournaments SET finished_at = ?", first)  # an earlier version's
    last = ended_at(80)
    assert last > first and ended_at(80) == last


@pytest.mark.parametrize("gone", [2, 3, 4])
@pytest.mark.parametrize("decided", ["first", "groups"])
def test_nothing_is_left_to_decide_where_nearly_everybody_has_left(home, bots, capsys, decided, gone):
    definition = contest(bots, until=replace(UNTIL, decided=decided))
    play(home, definition, max_matches=20)
    for bot in bots[:gone]:
        disqualify(home.store, "t", bot.name, reason="x")
    assert verify(home, "t").problems == []
    assert play(home, definition).is_complete and holds(home)
    assert run(["--home", str(home.directory), "standings", "t"]) == 0
    assert (decided_so_far(home.store, home.store.tournament("t")) is None) == (gone == len(bots))


def test_corrections_of_a_tournament_that_plays_until_it_is_decided(home, bots, tmp_path):
    play(home, contest(bots, until=UNTIL), max_matches=60)
    withdraw(home.store, "t", "dan", reason="broken")
    void_matches(home.store, "t", [2], reason="power cut")
    enter_late(home.store, "t", write_bots(tmp_path / "new", ["eve"])[0], reason="ill")
    assert play(home, contest(bots, until=UNTIL)).is_complete
    deciding = played_format(home.store, home.store.tournament("t")).deciding
    assert sorted(deciding.look.ranking) == [0, 1, 2, 4] and deciding.reason is not None
    assert verify(home, "t").problems == []


def test_grades_do_not_contradict_the_verdict(home, bots, capsys, monkeypatch):
    play(home, contest(bots, until=UNTIL))
    monkeypatch.setattr("arena.analysis.measures.standings.SURE", 0.6)  # as after many matches: all can be told apart
    assert {line.claim for line in standings_of(home.store, "t").decided.claims} == {"equal"}
    assert run(["--home", str(home.directory), "grades", "t"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert said.count("10.0 played 1 ") == 4 and "or clearly more than 4 points of mu behind its first" in said


def ahead(sign):
    def choose(game, state, clock):
        me = game.seat_to_act(state)

        def lead(action):
            scores = game.scores(game.apply(state, action))
            return sign * (scores[me] - scores[1 - me])

        return max(game.legal_actions(state)[:20], key=lead)

    return choose


@pytest.mark.slow(sample=("1",))
@pytest.mark.parametrize("games", [1, 2])
def test_claims_name_the_bot_that_wins_before_the_one_that_loses(home, games, capsys):
    """Bots of clearly different strength, in both orders of entry: everything that shows them agrees."""
    bots = {"worst": ahead(-1), "random": lambda game, state, clock: random.choice(game.legal_actions(state))}
    entrants = {name: function_bot(choose, name) for name, choose in {**bots, "best": ahead(1)}.items()}
    plaid = {"lines": 4, "width": 12, "height": 12}
    definition = make_definition("t", "plaid", entrants, options=plaid, opening_plies=1, until={"indifference": 1.0})
    if games == 2:
        choice = definition.games[0]
        definition = replace(definition, games=(choice, replace(choice, options={**choice.options, "lines": 6})))
    run_tournament(definition, home.store)
    expected = [("best@1", "random@1"), ("random@1", "worst@1")]
    table = standings_of(home.store, "t")
    assert [line.bot for line in table.lines] == ["best", "random", "worst"]
    assert sorted((one.bot, one.rival) for one in table.decided.claims) == expected
    assert {one.claim for one in table.decided.claims} == {"better"} and table.decided.decided
    assert verdict(table).startswith("best is clearly best; all others can be told apart. All is decided")
    assert run(["--home", str(home.directory), "standings", "t", "--json"]) == 0
    page = model_of(home, "tournament", tournament="t")
    assert sorted((one.bot, one.rival) for one in page.decided.claims) == expected
    assert (page.decided.decided, page.more_encounters) == (True, None)
    text = " ".join(checked(home, "tournament", tournament="t").text.split())
    assert "until the groups of equals are decided" in text and "All is decided, at an error of 5 % over all" in text
    claims = [claim for line in json.loads(capsys.readouterr().out) for claim in line["claims"]]
    assert {(claim["bot"], claim["rival"]) for claim in claims} == set(expected)


@pytest.mark.slow
def test_a_large_field_needs_no_budget_for_a_round_robin(tmp_path):
    head = 'game = "differences"\n[until]\nmin_encounters = 0\nmax_matches = {budget}\n'
    entrants = "".join(f'[[entrants]]\nbot = "arena:greedy"\nname = "b{number}"\n' for number in range(201))
    file = tmp_path / "t.toml"
    file.write_text(head.format(budget=2400) + entrants)
    begun = format_of(load_definition(file))
    assert begun.status() == "every bot meets a few rivals"
    assert len(begun.next_round().pairings) == 1200  # of 20,100
    file.write_text(head.format(budget=2399) + entrants)
    with pytest.raises(DefinitionError, match="the first 2,400 matches are those in which all bots begin"):
        load_definition(file)


@pytest.mark.slow
def test_standings_say_what_is_decided_and_what_is_open(home, bots):
    play(home, contest(bots, until=Until(indifference=0.1, max_matches=60)), max_matches=5)
    table = standings_of(home.store, "t")
    assert verdict(table).endswith("Every pair of bots meets first; then it plays until it is decided.")
    play(home, contest(bots, until=Until(indifference=0.1, max_matches=60)))
    table = standings_of(home.store, "t")
    found = table.decided
    assert (found.decided, found.stopped_because, len(found.open) + len(found.claims)) == (False, "max_matches", 3)
    assert found.matches_needed == sum(one.matches for one in found.open) > 0
    said = verdict(table)
    assert "Not decided, at an error of 5 % over all looks: " in said
    assert said.endswith("It has stopped at max_matches.")
    assert f"which takes about {found.matches_needed:,} matches more" in said
    endless = replace(table, decided=replace(found, matches_needed=21_851_915_832_320))  # every match was drawn
    assert ", which takes more matches than any budget has." in verdict(endless)
    rows = standings_table(table, formatted=False)[1]
    assert {(row["decided"], row["stopped_because"]) for row in rows} == {(False, "max_matches")}
    assert sum(len(row["open"]) for row in rows) == 2 * len(found.open)
    play(home, contest(bots, "decided", until=UNTIL))
    assert "All is decided, at an error of 5 % over all looks." in verdict(standings_of(home.store, "decided"))


def test_a_schedule_says_what_it_may_cost(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    head = 'game = "differences"\noptions = { size = 4 }\n[until]\nindifference = 4\n'
    entrants = '[[entrants]]\nbot = "arena:greedy"\n[[entrants]]\nbot = "arena:random_legal"\n'
    (tmp_path / "t.toml").write_text(head + entrants)
    assert run(["--home", "home", "schedule", "t.toml", "--spread", "0"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert re.search(r"about \d+ matches, and \d+ to \d+ in 5 simulations of fields with a standard dev.* of 0", said)
