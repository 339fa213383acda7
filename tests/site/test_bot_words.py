import contextlib
import copy
import io
import json
import logging
import pickle
import re
import traceback
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from unittest.mock import patch

import msgpack
import pytest
from markupsafe import escape
from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticSerializationError, to_json

import arena
from arena.base.bot_text import EVERYBODY, OPERATOR, BotText, author_of
from arena.base.enums import FaultKind
from arena.base.records import Fault, MatchRecord, SeatReport
from arena.site.page_table import PAGE_BY_NAME
from arena.site.publish.one_file import report_file
from arena.site.publish.publishing import publish
from arena.site.publish.verification import verify_folder
from arena.site.render import environment
from arena.store.home import ArenaHome
from arena.store.results.rows import row_of
from arena.tournament.transfer.merging import import_records
from tests.analysis.text.tournaments import play
from tests.site.folders import content
from tests.site.matches import FULL, record

SECRET = "s3cretw0rd"
KEY = b"of the home"
BOT_TEXTS = record(
    FULL,
    faults=(Fault(seat=1, kind=FaultKind.EXIT, ply=2, detail=f"exit {SECRET}"),),
    seats=(SeatReport(stderr=f"a {SECRET}"), SeatReport(stderr=f"b {SECRET}", exit=f"signal {SECRET}")),
    notes=[[0, f"mine {SECRET}"], [1, {"his": SECRET}]],
)


class Anything(BaseModel):
    said: object


class Numbered(BaseModel):
    number: int


WAYS_OUT = {
    "str": str,
    "json": json.dumps,
    "msgpack": msgpack.packb,
    "pydantic": lambda said: Anything(said=said).model_dump_json(),
    "pydantic_core": to_json,
    "markup": escape,
    "template": lambda said: environment().from_string("{{ said }}").render(said=said),
    "added": lambda said: "x" + said,
    "added to": lambda said: said + "x",
    "f-string": lambda said: f"x{said}",
    "unpacked": lambda said: [*said],
    "sliced": lambda said: said[:5],
}


@pytest.mark.parametrize("way", WAYS_OUT)
def test_what_a_bot_said_can_not_be_shown_without_an_audience(way):
    with pytest.raises((TypeError, PydanticSerializationError)):
        WAYS_OUT[way](BotText(SECRET))


def logged(said):
    """Return what a program logs that forgets to ask, and what logging says of its failure."""
    stream, logger = io.StringIO(), logging.Logger("x")
    logger.addHandler(logging.StreamHandler(stream))
    shows_errors = patch.object(logging, "raiseExceptions", True)  # which the command line turns off for its process
    with contextlib.redirect_stderr(stream), shows_errors:
        logger.error("it said %s", said)
        logger.error(said)
    return stream.getvalue()


def raised(said):
    try:
        raise ValueError(said)
    except ValueError as error:
        return "".join(traceback.format_exception(error)) + repr(error)


def refused(said):
    with pytest.raises(ValidationError) as refusal:
        Numbered(number=said)
    return f"{refusal.value}{refusal.value.errors()}"


SILENT = {
    "repr": repr,
    "percent r": "%r".__mod__,
    "in a list": lambda said: str([said, {"said": said}]),
    "log": logged,
    "exception": raised,
    "refused field": refused,
}


@pytest.mark.parametrize("way", SILENT)
def test_what_tells_developers_of_it_does_not_have_it(way):
    told = SILENT[way](BotText(SECRET))
    assert SECRET not in told
    assert "BotText: 10 long" in told


def test_it_can_be_compared_and_sent_to_another_process_and_each_reads_what_is_for_them():
    said = BotText(SECRET)
    assert (said == SECRET, said != "x", SECRET[2:5] in said, bool(said), len(said)) == (True, True, True, True, 10)
    assert not BotText("")
    assert pickle.loads(pickle.dumps(said)) == copy.deepcopy(said) == said
    assert SECRET not in repr(said) + repr(BOT_TEXTS)
    with pytest.raises(AttributeError):
        said._text = ""
    said = BotText(SECRET)
    assert [said.shown_to(who, "a@1") for who in (OPERATOR, author_of(["a@1"]), author_of(["a@2"]), EVERYBODY)] == [
        *([SECRET] * 2), *([None] * 2),
    ]  # fmt: skip
    text = json.dumps(BOT_TEXTS.to_json(author_of(["beta@2"])))
    assert (f"a {SECRET}" in text, f"mine {SECRET}" in text) == (False, False)
    assert (text.count(SECRET), f"b {SECRET}" in text, f"exit {SECRET}" in text) == (4, True, True)


def test_a_record_for_everybody_has_the_kind_the_ply_and_a_digest_and_no_bot_runs_that_was_ended():
    shown = json.loads(json.dumps(BOT_TEXTS.to_json(EVERYBODY, KEY)))
    whole = json.loads(json.dumps(BOT_TEXTS.to_json(OPERATOR)))
    assert SECRET not in json.dumps(shown)
    assert json.dumps(whole).count(SECRET) == 6
    (fault,) = shown["faults"]
    assert (fault["kind"], fault["ply"], fault["detail"]) == ("exit", 2, "the bot ended before the match did")
    again = MatchRecord.from_json(shown)
    assert again.to_json(EVERYBODY, b"other") == again.to_json(OPERATOR)  # what was left out stays so, with its digest
    assert "left_out_digest" not in {**whole, **BOT_TEXTS.to_json(EVERYBODY)}
    with pytest.raises(Exception, match="left_out_digest is no digest"):
        MatchRecord.from_json({**whole, "left_out_digest": "../../etc"})
    running, exited = SeatReport(), SeatReport(exit=BotText("exit status 1"))
    for who in (OPERATOR, author_of(["a@1"])):
        assert running.exit_shown_to(who, "a@1", has_fault=False) == "running"
        assert running.exit_shown_to(who, "a@1", has_fault=True) == "ended by the arena"
        assert exited.exit_shown_to(who, "a@1", has_fault=True) == "exit status 1"
    assert running.exit_shown_to(EVERYBODY, "a@1", has_fault=True) == ""


def test_whoever_has_the_key_proves_what_a_record_leaves_out_and_nobody_else_confirms_a_guess():
    """Docs/reference/data.md says how a digest is computed."""
    shown = BOT_TEXTS.to_json(EVERYBODY, KEY)
    (fault,), (one, other) = BOT_TEXTS.faults, BOT_TEXTS.seats
    texts = [fault.detail, one.exit, one.stderr, [[0, f"mine {SECRET}"]], other.exit, other.stderr]
    texts = [*(getattr(text, "for_operator", lambda text=text: text)() for text in texts), [[1, {"his": SECRET}]]]
    said = [json.dumps(text, separators=(",", ":")).encode() for text in texts]

    def digest(salts):
        parts = (blake2b(text, key=salt, digest_size=32).digest() for text, salt in zip(said, salts, strict=True))
        return blake2b(b"".join(parts), digest_size=32).hexdigest()

    opened = BOT_TEXTS.left_out(KEY)
    assert [one.text for one in opened] == said
    assert digest([one.salt for one in opened]) == shown["left_out_digest"]
    assert len({one.salt for one in opened}) == len(opened)
    assert SECRET not in repr(opened)
    whole = json.dumps([*texts[:3], *texts[4:6], BOT_TEXTS.notes.for_operator()], separators=(",", ":")).encode()
    guesses = [blake2b(one, digest_size=32).hexdigest() for one in (whole, b"".join(said))]  # as by earlier versions
    guesses += [digest([b""] * len(said)), BOT_TEXTS.to_json(EVERYBODY, b"other")["left_out_digest"]]
    again = replace(BOT_TEXTS, wall_seconds=tuple(2.0 for _ in BOT_TEXTS.wall_seconds))  # of the same bots
    guesses.append(again.to_json(EVERYBODY, KEY)["left_out_digest"])
    assert shown["left_out_digest"] not in guesses


@pytest.mark.slow(sample=True)
def test_the_program_of_the_page_proves_what_a_published_record_leaves_out(told, tmp_path, capsys):
    publish(told, ["said"], tmp_path / "out", max_matches=0)
    lines = map(json.loads, (tmp_path / "out" / "records" / "said.jsonl").read_text().splitlines())
    (shown,) = (line["left_out_digest"] for line in lines if line.get("match") == 3)
    page = (Path(arena.__file__).parents[1] / "docs/reference/data.md").read_text(encoding="utf-8")
    code = next(block for block in page.split("```python\n") if "left_out_key_of" in block).partition("```")[0]
    exec(code.replace('".arena"', repr(str(told.directory))).replace("quickstart", "said"))
    commitments = bytes.fromhex("".join(line.rsplit(" ", 1)[1] for line in capsys.readouterr().out.splitlines()))
    assert blake2b(commitments, digest_size=32).hexdigest() == shown


@pytest.mark.parametrize(("length", "shown"), [(0, 1024), (700, 1024), (1100, 2048), (1900, 2048), (60_000, 65_536)])
def test_how_much_a_bot_wrote_is_said_roughly(length, shown):
    quiet = record(FULL, seats=(SeatReport(stderr="x" * length), SeatReport()))
    assert quiet.to_json(EVERYBODY, KEY)["left_out_bytes"] == shown


def tell(home):
    stored = play(home, "cup", ["a", "b"], failing=["a"], encounters=2)
    rows = []
    for one in home.store.records(stored):
        said = [Fault(seat=f.seat, kind=f.kind, ply=f.ply, detail=f"{f.kind} {SECRET}") for f in one.faults]
        seats = tuple(replace(seat, exit=f"signal {SECRET}", stderr=f"{SECRET}\n") for seat in one.seats)
        rows.append(replace(one, faults=tuple(said), seats=seats, notes=BotText(([0, SECRET],))))
    stored = home.store.create_tournament(replace(stored.definition, name="said"), list(home.store.schedule(stored)))
    home.store.record(stored, [row_of(replace(one, tournament="said")) for one in rows])
    home.store.set_finished(stored, True)
    return home.store.tournament("said")


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    with ArenaHome(tmp_path_factory.mktemp("told")) as home:
        tell(home)
        yield home


@pytest.mark.slow
@pytest.mark.parametrize("audience", [EVERYBODY, OPERATOR])
def test_a_published_folder_has_what_its_readers_may_read_and_verifies(told, tmp_path, audience):
    publish(told, ["said"], tmp_path / "out", audience=audience)
    with_secret = {path for path, data in content(tmp_path / "out").items() if SECRET.encode() in data}
    if audience is EVERYBODY:
        assert with_secret == set()
    else:
        assert {"records/said.jsonl", "tournaments/said/matches/0/1.html"} <= with_secret
    assert verify_folder(tmp_path / "out").problems == []


@pytest.mark.slow(sample=True)
def test_records_of_a_published_folder_are_the_records_of_the_home_they_came_from(told, tmp_path):
    publish(told, ["said"], tmp_path / "out", max_matches=0)
    lines = (tmp_path / "out" / "records" / "said.jsonl").read_bytes().splitlines(keepends=True)
    shown = {line["match"]: line for line in map(json.loads, lines) if "left_out_digest" in line}
    earlier = []
    for one in told.store.records("said"):  # a guess of every word, as earlier versions hashed it
        said = one.to_json(OPERATOR)
        texts = [fault["detail"] for fault in said["faults"]]
        texts += [text for seat in said["seats"] for text in (seat["exit"], seat["stderr"])]
        data = json.dumps([*texts, said["notes"]], separators=(",", ":")).encode()
        guess = blake2b(data, digest_size=32).hexdigest()
        assert shown[one.match]["left_out_digest"] != guess
        old = {**shown[one.match], "left_out_digest": guess, "left_out_bytes": len(data)}
        earlier.append(f"{json.dumps(old)}\n".encode())
    for export in (lines, earlier):
        (taken,) = import_records(told, export)
        assert (taken.taken, taken.already_here, taken.differing) == (0, 4, 0)


@pytest.mark.parametrize(("audience", "is_there"), [(EVERYBODY, False), (OPERATOR, True)])
def test_a_report_has_what_its_readers_may_read(told, audience, is_there):
    assert (SECRET in report_file(told, told.store.tournament("said"), audience=audience)) == is_there


@pytest.mark.parametrize("has_people", [False, True])
def test_pages_of_a_home_with_people_have_no_words_of_bots(told, has_people):
    if has_people:
        (told.directory / "people.sqlite3").touch()
    for name, parameters in (("match", {"tournament": "said", "match": 1}), ("bot", {"bot": "a"})):
        page = PAGE_BY_NAME[name]
        assert (SECRET in page.build(told, page.parameters(**parameters)).model_dump_json()) is not has_people


DOORS = re.compile(r"\.for_operator\(|\.record_(?:texts|rows)\(|\.as_source\(|[^_]OPERATOR\b(?! =)")
"""How code gets what bots said without asking who reads it."""

OPEN = {
    "analysis/measures/noted_numbers.py": "counts notes of bots that a page has chosen by their audience, or a command",
    "analysis/measures/verification.py": "reads records to compare them",
    "community/contests/stages.py": "moves tournaments between homes of this arena",
    "community/play/slot.py": "stores an unrated match, from which server/operations shows notes to the bot's author",
    "analysis/text/standings_table.py": "is called by whoever has the home",
    "analysis/text/duration_text.py": "is printed by a command",
    "site/publish/publishing.py": "writes records of a home that has none of bots' words",
    "community/submissions/submission.py": "answers whoever submits a bot at a terminal",
    "server/operating/serve_checks.py": "is an operator's role",
    "server/operations/bot_logs.py": "answers directors",
    "server/operations/submissions.py": "asks whether a check took too long, and shows no word of it",
}


def test_no_other_module_behind_the_site_reads_words_of_bots_without_an_audience():
    package = Path(arena.__file__).parent
    rooms = ("site", "server", "community", "analysis", "tournament/directors", "lab")
    found = {
        str(path.relative_to(package))
        for room in rooms
        for path in (package / room).rglob("*.py")
        if any(DOORS.search(line) for line in path.read_text(encoding="utf-8").splitlines() if "import" not in line)
    }
    assert found == set(OPEN)
