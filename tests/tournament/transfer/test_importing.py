import io
import json
import random
import re
from dataclasses import replace
from functools import partial
from unittest.mock import Mock

import pytest

import arena.tournament.corrections.entrants
from arena.analysis.measures.verification import verify
from arena.base.errors import StoreError, UnwritableError
from arena.store.home import ArenaHome
from arena.tournament.corrections.corrected_tournament import undo_correction, void_matches
from arena.tournament.corrections.entrants import disqualify, replace_bot, withdraw
from arena.tournament.transfer import export
from arena.tournament.transfer.export import DigestChain, whole_export
from arena.tournament.transfer.merging import import_records, merge_home
from tests.conftest import ROOT
from tests.tournament.transfer.played import begin, bot, definition_of, exported, play, play_rounds, refusal_of

CUP = definition_of(encounters=2)
SWISS = definition_of("swiss", "abcd", format="swiss", settings={"rounds": 3})


@pytest.fixture
def unchecked_bots(monkeypatch):
    monkeypatch.setattr(arena.tournament.corrections.entrants, "check_entrant", lambda bot, definition: None)


def plain(home, name="cup"):
    return [json.dumps(json.loads(text)) for text in exported(home.store, name)]


def whole(home, name="cup"):
    return list(whole_export(home.store.as_source(), home.store.tournament(name)))


def imported(home, lines, **options):
    (result,) = import_records(home, [f"{line}\n".encode() for line in lines], **options)
    return result


refusal = partial(refusal_of, imported)


def stored(home, name="cup"):
    source = home.store.as_source()
    tournament = source.tournament(name)
    identity = tournament.definition.identity()
    tables = (source.lines, source.record_texts, source.voids, source.set_aside, source.skipped)
    names = ("name", "created_at", "finished_at", "scheduled", "recorded")
    return identity, [getattr(tournament, name) for name in names], [list(table(tournament)) for table in tables]


def test_a_plain_export_fills_in_what_is_missing(here, there):
    play(there.store, CUP)
    play(here.store, CUP, lambda match: match <= 5)
    result = imported(here, plain(there))
    assert (result.taken, result.already_here, result.is_finished) == (19, 5, True)
    assert exported(here.store, "cup") == exported(there.store, "cup")
    assert verify(here, here.store.tournament("cup")) == (24, [])
    assert imported(here, plain(there)).has_changed is False


def test_a_plain_export_of_several_tournaments_goes_to_each(here, there):
    for definition in (CUP, replace(CUP, name="plate")):
        play(there.store, definition)
        begin(here.store, definition)
    lines = [f"{line}\n".encode() for line in plain(there) + plain(there, "plate")]
    assert [(result.name, result.taken) for result in import_records(here, lines)] == [("cup", 24), ("plate", 24)]


def test_records_go_to_a_tournament_that_has_another_name_here(here, there):
    play(there.store, CUP)
    begin(here.store, replace(CUP, name="renamed"))
    assert imported(here, plain(there), name="renamed").taken == 24
    play(there.store, replace(CUP, name="plate"))
    with pytest.raises(StoreError, match="line 25: the export has several tournaments; one of them"):
        imported(here, plain(there) + plain(there, "plate"), name="renamed")


def test_a_tournament_that_is_not_here_needs_a_whole_export(here, there):
    play(there.store, CUP)
    with pytest.raises(StoreError, match=r"line 1: tournament 'cup' is not here, .*arena tournament export --whole"):
        imported(here, plain(there))
    assert here.store.tournaments() == []


def test_records_that_were_set_aside_here_do_not_come_back(here, there):
    play(there.store, CUP)
    lines = plain(there)
    imported(here, whole(there))
    void_matches(here.store, "cup", [3, 5], reason="the lights went out")
    disqualify(here.store, "cup", "d@1", reason="a book of openings")
    before = stored(here)
    result = imported(here, lines)
    assert (result.has_changed, result.already_here) == (False, 24)
    assert stored(here) == before


def test_a_correction_while_an_export_is_read_refuses_none_of_its_records(here, there):
    play(there.store, CUP)
    play(here.store, CUP, lambda match: match <= 5)

    def lines():
        yield from (f"{line}\n".encode() for line in plain(there))
        void_matches(here.store, "cup", [3], reason="the power failed")

    (result,) = import_records(here, lines())
    assert (result.refusal, result.taken, result.already_here) == (None, 19, 5)
    assert len(here.store.tournament("cup").corrections) == 1


def test_a_full_temporary_directory_is_no_mistake_of_a_line(here, there, monkeypatch):
    play(there.store, CUP)
    monkeypatch.setattr("arena.tournament.transfer.export.StagedTournament", Mock(side_effect=UnwritableError("full")))
    with pytest.raises(StoreError, match="there is no room for a temporary database; set"):
        imported(here, whole(there))


def test_a_whole_export_brings_its_tournament(here, there):
    play(there.store, CUP, lambda match: match % 3)
    there.store.note_void(there.store.tournament("cup"), 3, "the worker was killed")
    result = imported(here, whole(there))
    assert (result.is_new, result.taken, result.left) == (True, 16, 8)
    assert stored(here) == stored(there)
    assert exported(here.store, "cup") == exported(there.store, "cup")
    assert whole(here) == whole(there)
    assert imported(here, whole(there)).has_changed is False


def test_a_whole_export_brings_later_rounds(here, there):
    play_rounds(here.store, SWISS, 1)
    play_rounds(there.store, SWISS, 3)
    with pytest.raises(StoreError, match=r"line 5: match = 5: the schedule has matches 1 to 4; .*--whole"):
        imported(here, plain(there, "swiss"))
    assert imported(here, whole(there, "swiss")).taken == 8
    assert exported(here.store, "swiss") == exported(there.store, "swiss")


def test_a_whole_export_is_imported_under_another_name(here, there):
    play(there.store, CUP)
    assert imported(here, whole(there), name="plate").name == "plate"
    assert verify(here, here.store.tournament("plate")) == (24, [])


@pytest.mark.usefixtures("unchecked_bots")
def test_corrections_come_along(here, there):
    play(there.store, CUP, lambda match: match <= 12)
    void_matches(there.store, "cup", [3, 5], reason="the lights went out")
    play(there.store, CUP, lambda match: match <= 12, by="again")
    disqualify(there.store, "cup", "d@1", reason="a book of openings")
    undo_correction(there.store, "cup", 2, reason="it was allowed")
    withdraw(there.store, "cup", "c@1", reason="broken")
    replace_bot(there.store, "cup", "b@1", replace(bot("b"), digest="new"), reason="new files")
    assert imported(here, whole(there)).refusal is None
    assert stored(here) == stored(there)
    assert merge_home(here, there.directory)[0].has_changed is False
    assert imported(there, whole(here)).has_changed is False
    undo_correction(here.store, "cup", reason="the old ones were better")
    message = "it has 6 corrections here, 5 there, and they are not the same"
    assert message in merge_home(here, there.directory)[0].refusal


@pytest.mark.usefixtures("unchecked_bots")
def test_nothing_of_the_machine_is_exported(there):
    play(there.store, CUP)
    replace_bot(there.store, "cup", "b@1", replace(bot("b"), digest="new"), reason="new files")
    assert "/bots/" not in "\n".join(whole(there))


def test_exports_may_follow_each_other(here, there):
    play(there.store, CUP)
    play(there.store, replace(CUP, name="plate"))
    both = [f"{line}\n".encode() for line in whole(there) + whole(there, "plate")]
    assert [result.taken for result in import_records(here, both)] == [24, 24]
    with pytest.raises(StoreError, match="tournament 'cup' appears twice"):
        imported(here, whole(there) * 2)


def test_long_exports_have_digests_in_between(here, there, monkeypatch):
    monkeypatch.setattr(export, "LINES_PER_DIGESTS", 20)
    play(there.store, CUP)
    lines = whole(there)
    assert sum('"digests"' in line for line in lines) == 3  # 1 + 24 + 24 lines
    assert imported(here, lines).taken == 24


def with_line(lines, number, **changes):
    value = json.loads(lines[number - 1])
    return [*lines[: number - 1], json.dumps({**value, **changes}), *lines[number:]]


def with_space(lines, number):
    return [*lines[: number - 1], lines[number - 1].replace(":", ": ", 1), *lines[number:]]


def forged(lines, rng):
    lines, number = list(lines), rng.randrange(len(lines) - 2)
    value = json.loads(lines[number])
    part, key = value, rng.choice(list(value))
    while isinstance(part[key], dict | list) and part[key] and rng.random() < 0.8:
        part = part[key]
        key = rng.choice(list(part)) if isinstance(part, dict) else rng.randrange(len(part))
    part[key] = rng.choice([None, True, -1, 0, 1, 2**63, 10**400, 1.5, "", "\0", "\ud800", [], [[]], {}, [1, 2]])
    lines[number] = json.dumps(value)
    return resealed(lines)


def resealed(lines):
    chain = DigestChain()
    for line in lines[:-2]:
        chain.add(line.encode())
    return [*lines[:-2], json.dumps({"digests": chain.digests}), json.dumps({"end": chain.lines})]


@pytest.mark.parametrize("seed", range(20))
def test_a_forged_export_is_refused_in_one_sentence_or_still_verified(seed, here, there):
    play(there.store, definition_of())
    sentence = refusal(here, forged(whole(there), random.Random(seed)))
    for tournament in here.store.tournaments():
        assert sentence is None
        assert verify(here, tournament) == (tournament.recorded, [])


def changed(lines, kind, number, field=None, value=None):
    """Return an export with another value in a line of a kind, or without it, with the digests of that."""
    edited = []
    for line in map(json.loads, lines):
        part = line.get(kind, line if kind == "record" and "actions" in line else {})
        part = line["record"] if kind == "set_aside" and kind in line else part
        if isinstance(part, dict) and number in (part.get("match"), part.get("number")):
            part[field] = value
            if field is None:
                continue
        edited.append(json.dumps(line))
    assert edited != [json.dumps(json.loads(line)) for line in lines]
    return resealed(edited)


FORGERIES = [
    (("record", 4, "started_at", "noon"), "match 4: started_at = 'noon': expected a time such as"),
    (("record", 4, "isolation", "steel"), "match 4: isolation = 'steel': expected none, limits"),
    (("record", 4, "opening_plies", 1), "match 4: opening_plies = 1, but the schedule has 2"),
    (("skipped", 20), "match 20: d@1 does not take part any more, but no correction leaves it out"),
    (("skipped", 20, "match", 21), "match 20: d@1 does not take part any more"),
    (("skipped", 20, "correction", 1), "match 20: it is left out by correction 1, which is not about it"),
    (
        ("schedule", 16, "seats", [0, 1]),
        "match 16 of its schedule is not what follows from its encounter: its seats",
    ),
    (
        ("schedule", 15, "seats", [0, 1]),
        "match 16 of its schedule is not what follows from its encounter: its seats",
    ),
    (("schedule", 16, "rng_seed", 1), "match 16 of its schedule is not what follows from its encounter: its rng_seed"),
    (("schedule", 16, "opening_actions", [[1, 1]]), "match 16 of its schedule is not what follows from its encounter"),
    (("schedule", 15, "opening", 10**9), "match 15 of its schedule is malformed: its numbers"),
    (("schedule", 15, "round", 10**9), "its round is 4, not 1000000000"),
    (("correction", 2, "reason", ""), "the reason of correction 2, '': expected"),
    (("correction", 2, "made_at", "noon"), "the time of correction 2 = 'noon': expected a time"),
    (("correction", 2, "kind", "withdraw"), "correction 2 (withdrawal): its disqualified_matches is 'annul', not None"),
    (("set_aside", 7, "bots", ["a@1", "d@1"]), "the record of match 7 that correction 2 has set aside: bots = "),
    (("set_aside", 3), "correction 1 voids the matches 3, 5, but set aside are 5"),
]


@pytest.mark.parametrize(("edit", "message"), FORGERIES)
def test_an_export_is_what_its_definition_and_corrections_make(edit, message, here, there):
    play(there.store, CUP, lambda match: match <= 12)
    void_matches(there.store, "cup", [3, 5], reason="the lights went out")
    disqualify(there.store, "cup", "d@1", reason="a book of openings")
    assert message in refusal(here, changed(whole(there), *edit))
    assert here.store.tournaments() == []
    assert imported(here, whole(there)).refusal is None


def test_rounds_are_what_the_results_before_them_make(here, there):
    play_rounds(there.store, SWISS, 3)
    there.store.set_finished(there.store.tournament("swiss"), True)
    lines = whole(there, "swiss")
    assert imported(here, lines, name="honest").is_finished
    cut = resealed([line for line in lines if json.loads(line).get("schedule", json.loads(line)).get("match", 0) <= 8])
    assert "match 9 of its schedule is not what follows from its definition and results" in refusal(here, cut)
    for match, seats in {9: [0, 1], 10: [1, 0], 11: [2, 3], 12: [3, 2]}.items():
        lines = changed(changed(lines, "schedule", match, "seats", seats), "record", match)
    assert "match 9 of its schedule is not what follows from its definition and results" in refusal(here, lines)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda lines: with_line(lines, 41, notes=[[2, "I resign"]]), "line 41: match 16 was changed after it was"),
        (lambda lines: with_line(lines, 41, wall_seconds=None), "line 41: match 16 was changed after it was exported"),
        (lambda lines: with_space(lines, 1), "line 1: it was changed after it was exported"),
        (lambda lines: with_space(lines, 2), "line 2: it was changed after it was exported"),
        (lambda lines: with_space(lines, 49), "line 49: match 24 was changed after it was exported"),
        (lambda lines: lines[:29] + lines[30:], "line 30: a line was removed or added here after it was exported"),
        (lambda lines: [*lines[:49], *lines[50:]], "lines before it were removed or added"),
        (lambda lines: lines[:30], "line 30: the export ends here, before its last line; copy it again"),
        (lambda lines: lines[:-1], "line 50: the export ends here, before its last line"),
        (lambda lines: [*lines[:26], lines[25], *lines[26:]], "line 27: match 1 appears twice, first in line 26"),
        (lambda lines: [*lines[:2], *lines[3:]], "line 3: expected match 2 of the schedule"),
        (lambda lines: [*lines[:5], lines[0], *lines[5:]], "line 6: another tournament begins here"),
        (lambda lines: with_line(lines, 1, arena_export=2), "line 1: arena_export = 2: this arena reads version 1"),
        (lambda lines: with_line(lines, 1, tournament=7), "line 1: expected the name of a tournament"),
        (lambda lines: with_line(lines, 1, definition=7), "expected an object, got a number"),
        (lambda lines: with_line(lines, 2, schedule={"match": 1}), "line 2: a match of the schedule has no field"),
        (lambda lines: with_line(lines, 50, digests=7), "line 50: expected a list of digests"),
        (lambda lines: with_line(lines, 50, digests=[]), "line 50: lines before it were removed or added"),
        (lambda lines: with_line(lines, 51, end=7), "line 51: lines before it were removed or added"),
        (lambda lines: [lines[0], '{"void": {"match": 9}}'], "line 2: expected the reason and the time of a void try"),
        (lambda lines: [lines[0], '{"skipped": {"match": 1, "correction": 1}}'], "line 2: match = 1: the schedule has"),
        (lambda lines: [lines[0], '{"correction": {"number": 1, "kind": "bribe"}}'], "2: a correction is malformed"),
    ],
)
def test_an_edited_or_cut_export_changes_nothing(edit, message, here, there):
    play(there.store, CUP)
    assert message in refusal(here, edit(whole(there)))
    assert here.store.tournaments() == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ranks": [1, 1]}, "ranks are recorded as [1, 1], but by the rules they are"),
        ({"tournament": "plate"}, "line 16: tournament 'plate' is not here"),
        ({"match": 15}, "line 16: match 15 appears twice, first in line 15"),
        ({"match": 99}, "line 16: match = 99: the schedule has matches 1 to 24"),
        ({"match": -1}, "line 16: match = -1: the schedule has"),
        ({"match": True}, "line 16: match = true: the schedule has"),
        ({"tournament": ["cup"]}, "line 16: expected a record as `arena tournament export` prints it"),
    ],
)
def test_an_edited_record_is_named_by_its_line(changes, message, here, there):
    play(there.store, CUP)
    begin(here.store, CUP)
    sentence = refusal(here, with_line(plain(there), 16, **changes))
    assert message in sentence
    assert "line 16: " in sentence
    assert exported(here.store, "cup") == []


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\xff\xfe\n", "line 1: it is not UTF-8 (byte 1)"),
        (b"\x1f\x8b\x08\0\0", "line 1: the export is compressed; unpack it first"),
        (b'{"match": 1\n', "line 1: it is not JSON"),
        (b'{"match": 1', "the file ends in the middle of it"),
        (b"[1, 2]\n", "line 1: expected a JSON object, got [1, 2]"),
        (b"\n\n7\n", "line 3: expected a JSON object, got 7"),
        (b'{"match": 1, "match": 2}\n', "line 1: the key 'match' appears twice in it"),
        (b"[" * 200_000, "line 1: it is nested too deeply"),
        (b'{"a":' * 200_000, "line 1: it is nested too deeply"),
        (b'{"match": ' + b"9" * 5000 + b"}\n", "line 1: it is not JSON"),
        (b"{}\n", "line 1: expected a record as `arena tournament export` prints it"),
        (b'{"tournament": "\\ud800"}\n', "line 1: expected a record"),
        (b'{"arena_export": {}}\n', "line 1: arena_export = {}"),
    ],
)
def test_what_is_no_export_is_refused_in_one_sentence(data, message, here):
    with pytest.raises(StoreError) as refused:
        import_records(here, io.BytesIO(data))
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_line_without_end_is_read_no_further_than_the_bound(here):
    class Endless(io.RawIOBase):
        given = 0

        def readline(self, size=-1):
            assert 0 < size < 2**25
            self.given += size
            return b"x" * size

    endless = Endless()
    with pytest.raises(StoreError, match="line 1: it is longer than 16 MiB"):
        import_records(here, endless)
    assert endless.given < 2**25


def test_an_empty_export_brings_nothing_and_line_breaks_of_another_system_are_no_edit(here, there):
    assert import_records(here, io.BytesIO(b"\n")) == ()
    play(there.store, CUP)
    assert imported(here, [f"{line}\r" for line in whole(there)]).taken == 24


@pytest.mark.slow
def test_an_export_is_imported_into_a_database_on_a_server(postgres_url, there, tmp_path):
    play(there.store, CUP)
    there.store.note_void(there.store.tournament("cup"), 3, "the worker\0was killed")
    void_matches(there.store, "cup", [3, 5], reason="the lights went out")
    with ArenaHome(tmp_path / "here", store=postgres_url) as here:
        assert imported(here, whole(there)).refusal is None
        assert stored(here) == stored(there)
        (void,) = here.store.as_source().voids(here.store.tournament("cup"))
        assert (void.match, void.reason) == (3, "the worker\\0was killed")
        assert whole(here) == whole(there)


@pytest.mark.usefixtures("unchecked_bots")
def test_the_form_of_a_whole_export_is_on_the_page_for_directors(there):
    play(there.store, CUP)
    void_matches(there.store, "cup", [3], reason="the lights went out")
    disqualify(there.store, "cup", "d@1", reason="a book of openings")
    there.store.note_void(there.store.tournament("cup"), 3, "the worker was killed")
    page = (ROOT / "docs" / "moving.md").read_text(encoding="utf-8")
    table = page[page.index("| first key |") : page.index("A digest is the first")]
    documented = re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)
    assert list(dict.fromkeys(next(iter(json.loads(line))) for line in whole(there))) == documented
