import base64
import hashlib
import html
import json
import re
import zlib
from itertools import pairwise

import pytest

from arena.analysis.measures.standings_cache import standings_of
from arena.analysis.text import tables as markup
from arena.analysis.text.verdict import verdict
from arena.base.bot_text import OPERATOR
from arena.base.names import is_name
from arena.site.publish.one_file import report_file
from arena.tournament.corrections.corrected_tournament import void_matches
from tests.analysis.text.test_tables import HOSTILE
from tests.analysis.text.tournaments import FOUR, play
from tests.site.parsed import Parsed


class Page(Parsed):
    """A report; what scripts and styles say is none of its texts."""

    def handle_data(self, data):
        if not self.open or self.open[-1] not in ("script", "style"):
            self.texts.append(data)

    @property
    def headings(self):
        return [int(tag[1]) for tag, _ in self.elements if re.fullmatch("h[1-6]", tag)]

    @property
    def views(self):
        packed = re.findall(r'<script type="text/plain" id="chunk-\d+">(.*?)</script>', self.source)
        return [view for chunk in packed for view in json.loads(zlib.decompress(base64.b64decode(chunk)))]


@pytest.fixture(scope="module")
def page(home, league):
    return Page(report_file(home, league))


def test_what_a_class_reads_comes_first_and_a_bot_s_section_has_its_faults(page, home, league):
    anchors = ("standings", "crosstable", "bots", "matches", "numbers", "method", "columns")
    places = ["<h1>", '<p class="verdict"', *(f'id="{anchor}"' for anchor in anchors)]
    order = [page.source.index(place) for place in places]
    assert order == sorted(order) and order[1] < page.source.index("<table")
    sentences = verdict(standings_of(home.store, "league"))
    assert sentences.endswith(".")
    assert " ".join(sentences.split()) in page.text.replace("’", "'")
    faults = [record.match for record in home.store.records(league) if record.faults]
    assert f"Faults: {len(faults)} protocol" in page.text
    for match in faults[-3:]:
        assert f"arena bot repro league/{match}" in page.text
        assert page.all("a", href=f"#match-{match}")


def assert_sound(page):
    assert page.mismatches == []
    assert page.open == []
    ids = [found["id"] for _, found in page.elements if "id" in found]
    assert len(ids) == len(set(ids))
    links = {found["href"][1:] for tag, found in page.elements if tag in ("a", "use") and "href" in found}
    for key in ("aria-describedby", "aria-labelledby"):
        links |= {found[key] for _, found in page.elements if key in found}
    assert links <= set(ids)
    assert page.headings.count(1) == 1 == page.headings[0]
    assert all(lower <= upper + 1 for upper, lower in pairwise(page.headings))


def test_nothing_is_loaded_and_only_the_page_s_own_script_runs(page):
    assert_sound(page)
    assert page.all("html", lang="en")
    assert not [found for _, found in page.elements if "src" in found]
    assert all(found["href"].startswith("#") for _, found in page.elements if "href" in found)
    assert not [found for _, found in page.elements if "style" in found or any(key.startswith("on") for key in found)]
    (policy,) = (found["content"] for found in page.all("meta", **{"http-equiv": "Content-Security-Policy"}))
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    for kind, tag in (("script-src", "script"), ("style-src", "style")):
        (inline,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page.source, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
        assert rules[kind] == f"'sha256-{digest}'"


def test_every_name_leads_to_its_bot_and_back_and_every_heading_of_a_table_is_explained(page, home):
    table = standings_of(home.store, "league")
    for number, line in enumerate(table.lines, 1):
        (section,) = page.all("article", id=f"bot-{number}")
        assert len(page.all("a", href=f"#bot-{number}")) > 8, "verdict, standings, seats, rivals, numbers"
        assert re.search(rf'id="{section["id"]}".*?<bdi>{line.bot}</bdi>', page.source, re.DOTALL)
    assert len(page.all("a", href="#standings")) == len(table.lines)
    # The list at the end tells readers without a pointer what the titles show.
    headings = [found for found in page.all("th", scope="col") if "title" in found]
    assert len(headings) > 30
    listed = html.unescape(page.source[page.source.index('id="columns"') :])
    assert {found["title"] for found in headings if found["title"] not in listed} == set()
    numbers = [found for found in page.all("th", scope="col") if "number" in found.get("class", "")]
    assert len([found for found in numbers if "title" not in found]) <= 5


def test_every_match_ends_as_recorded_and_the_viewer_is_open_without_a_script(page, home, league):
    records = list(home.store.records(league))
    assert len(page.views) == len(records) == 36
    for view, record in zip(page.views, records, strict=True):
        assert view["match"] == record.match
        assert view["positions"][-1]["scores"] == pytest.approx(record.scores, rel=1e-5)
        board = view["board"]
        assert len(board["frames"]) == len(view["positions"]) == len(record.actions) + 1
        shown = set()
        for come, gone in board["frames"]:
            shown = (shown - set(gone)) | set(come)
        marks = {(x, y): (seat, order) for kind, x, y, _, seat, order in (
            board["shapes"][k] for k in shown if board["shapes"][k][0] == "mark"
        )}  # fmt: skip
        assert marks == {(x - 0.5, y - 0.5): (seat, str(ply)) for ply, (seat, (x, y)) in enumerate(record.actions, 1)}
    top = {line.label for line in standings_of(home.store, "league").lines[:2]}
    last = [record for record in home.store.records(league) if set(record.bots) == top][-1]
    assert f"Match {last.match}: " in page.text
    board = re.search(r'<svg id="board".*?</svg>', page.source, re.DOTALL)[0]
    assert board.count("<use") == len(last.actions)


@pytest.mark.slow
def test_fewer_matches_say_how_many_and_how_to_see_the_rest_as_where_a_report_is_too_large(home, monkeypatch, league):
    few = Page(report_file(home, league, 6))
    assert len(few.views) == 6
    assert "6 of 36 matches can be replayed here" in few.text
    assert "arena replay league/NUMBER shows any" in few.text
    assert len({frozenset(view["bots"]) for view in few.views}) == 6, "the last match of each pairing"
    assert Page(report_file(home, league, 0)).views == []
    monkeypatch.setattr("arena.site.publish.one_file.MAX_BYTES", 1)
    monkeypatch.setattr("arena.site.publish.one_file.CHUNK", 10)
    page = Page(report_file(home, league))
    assert len(page.views) == 10
    assert "10 of 36 matches" in page.text


def test_a_tournament_that_has_not_begun_has_a_page(home):
    page = Page(report_file(home, play(home, "empty", FOUR[:2], encounters=0)))
    assert "No match has been recorded yet." in page.text
    assert_sound(page)


def test_corrections_are_named_above_and_listed_below(home):
    play(home, "corrected", FOUR[:3], encounters=2)
    void_matches(home.store, "corrected", [2, 5], reason="the <b>fan</b> failed")
    page = Page(report_file(home, home.store.tournament("corrected")))
    assert "Corrected: 2 voided matches" in page.text
    assert "Not finished: 10 of 12 matches so far" in page.text
    assert page.all("h2", id="corrections-title")
    assert "the <b>fan</b> failed" in page.text
    assert_sound(page)


@pytest.mark.slow(only=("game0-fields0", "game1-fields1"))
@pytest.mark.parametrize(
    ("game", "fields"),
    [
        ([("multiplication", {"size": 10, "players": 3})], {}),
        ([("plusminus", {"size": 5})], {"format": "swiss", "settings": {"rounds": 2}}),
        ([("plaid", {})], {"format": "knockout"}),
    ],
)
def test_every_game_and_format_has_a_page(home, game, fields):
    page = Page(report_file(home, play(home, f"t {game[0][0]}", FOUR, game, **fields)))
    assert_sound(page)
    for view in page.views:
        owned = [shape for shape in view["board"]["shapes"] if shape[0] == "mark"]
        assert {seat for *_, seat, _ in owned} <= set(range(len(view["bots"])))
        assert len(owned) >= 2


NAMES = [name for name in HOSTILE if is_name(name)]


@pytest.mark.slow(sample=True)
def test_nothing_that_a_bot_says_is_more_than_text(home):
    """The same tournament with plain names has the same elements with the same attributes."""
    assert len(NAMES) > 30
    note = "</script><script>alert(1)</script><!--"
    hostile = play(home, "<b>&\"' ]]>", NAMES[:8], failing=NAMES[:4], note=note)
    plain = play(home, "plain", [f"bot{k}" for k in range(8)], failing=[f"bot{k}" for k in range(4)], note="x")

    def kinds(tournament):
        page = Page(report_file(home, tournament, 6))
        assert page.mismatches == []
        return sorted((tag, *sorted(attributes)) for tag, attributes in page.elements)

    assert kinds(hostile) == kinds(plain)


def test_commands_can_be_pasted_into_a_shell_and_control_and_direction_characters_are_printable(home):
    told = play(home, "may; ls", FOUR[:2], failing=["alpha"], note="\x1b[31m\u202eevil\u2028", encounters=6)
    page = Page(report_file(home, told, audience=OPERATOR))
    assert re.search(r"arena bot repro 'may; ls/\d+'", page.text)
    assert "arena tournament verify 'may; ls'" in page.text
    for letter in "\x1b\u202e\u2028":
        assert letter not in page.source
    assert r"\x1b[31m\u202eevil\u2028" in page.text


def test_long_names_break_between_their_words():
    assert markup.name("a_student_with-a_long_name") == "<bdi>a_<wbr>student_<wbr>with-<wbr>a_<wbr>long_<wbr>name</bdi>"
    assert markup.name("random_legal") == "<bdi>random_legal</bdi>"
