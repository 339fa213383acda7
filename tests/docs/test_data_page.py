"""docs/reference/data.md names every field that the commands print as JSON, with its type, and no other."""

import csv
import io
import json
import re

import click
import pytest

from arena import crosstable_of, standings_of
from arena.cli.command_table import COMMANDS, NOUNS
from arena.cli.group import arena as arena_group
from arena.cli.group import run
from arena.cli.remote.credentials import Credentials, site_address
from arena.store.home import ArenaHome
from arena.store.people.secret import new_token
from arena.tournament.definition import load_definition
from arena.tournament.director import run_tournament
from arena.tournament.transfer.export import whole_export
from benchmarks import zoo_bots as zoo
from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "reference" / "data.md").read_text(encoding="utf-8")
BOTS = {name: ROOT / "bots" / name for name in ("minimal", "random_legal", "greedy")}
SMALL = 'game = "differences"\noptions = { size = 4 }\nencounters = 2\n'


def file_of(text, bots=tuple(BOTS), of_the_last=""):
    return text + "".join(f'[[entrants]]\nbot = "{BOTS.get(bot, bot)}"\n' for bot in bots) + of_the_last


ODDS = "time_control = { per_action_seconds = 2 }\n"
FILES = {
    "faulty": (SMALL, ("minimal", "greedy", zoo.bad_bot("exits_when_asked")), ODDS),
    "noted": (SMALL, ("minimal", zoo.bad_bot("good_with_note"))),
    "extended": (SMALL, ("greedy", "random_legal")),
    "three": ('game = "multiplication"\noptions = { players = 3, size = 10 }\nencounters = 1\n',),
    "swiss": (f'{SMALL}format = "swiss"\n[swiss]\nrounds = 2\n',),
    "knockout": (f'{SMALL}format = "knockout"\n[knockout]\nseeding = "entrants"\n',),
}
"""Tournaments that together have every field: of two and of three players, with faults, with a ranking of their own."""

COPIES = ("corrected", "exported", "renamed", "doomed", "removed")
PREPARATIONS = (
    "void corrected 1 --reason test",
    "disqualify exported minimal --reason test",
    "submit BOTS/minimal --game differences",
    "season 2026 --add noted",
    "delete removed --yes",
    "lab annotate faulty -q",
    "lab annotate noted -q",
    "publish faulty PLACE/checked",
)

JSON_LINES = {
    "arena tournament export",
    "arena tournament export --set-aside",
    "arena tournament export --whole",
    "arena check",
    "arena check --rules",
}

CALLS = {
    "arena standings": ["standings faulty", "standings three"],
    "arena run": ["run faulty.toml -q"],
    "arena extend": [
        "extend extended --until-decided --until max_matches=4 -q",
        "extend extended --until-decided --until max_matches=400 --until indifference=10 -q",
    ],
    "arena quickstart": ["quickstart -q"],
    "arena leaderboard": ["leaderboard"],
    "arena standings --places": ["standings swiss --places", "standings knockout --places"],
    "arena tournament crosstable": ["crosstable faulty"],
    "arena leaderboard --over-time": ["leaderboard --over-time"],
    "arena bot show": ["show exits_when_asked"],
    "arena stats": ["stats faulty", "stats three"],
    "arena stats --notes": ["stats noted --notes"],
    "arena stats --notes --by-ply": ["stats noted --notes --by-ply"],
    "arena grades": ["grades faulty"],
    "arena compare": ["compare BOTS/greedy BOTS/minimal --game differences -o size=5 --limit 9 -q"],
    "arena tune": [
        "tune BOTS/random_legal --game differences -o size=4 --param a=1..9@1 --encounters 2 --rounds 1"
        " --test-encounters 9 -q"
    ],
    "arena tournament schedule": ["schedule faulty.toml"],
    "arena tournament schedule --matches": ["schedule faulty.toml --matches"],
    "arena tournament rounds": ["rounds faulty", "rounds swiss", "rounds knockout"],
    "arena matches": ["matches faulty"],
    "arena matches --times": ["matches faulty --times"],
    "arena tournament export": ["export faulty", "export noted"],
    "arena tournament export --set-aside": ["export corrected --set-aside"],
    "arena tournament export --whole": ["export corrected --whole", "export exported --whole"],
    "arena play": ["play differences BOTS/greedy BOTS/minimal -o size=4"],
    "arena replay": ["replay faulty/3", "replay noted/1"],
    "arena report": ["report faulty -o r.html"],
    "arena publish": ["publish faulty swiss published"],
    "arena tournament plot": ["plot swiss -o plots"],
    "arena correct list": ["corrections corrected"],
    "arena correct void": ["void corrected 2 --reason test"],
    "arena correct replace": ["replace corrected minimal BOTS/stepper --reason test"],
    "arena correct enter": ["enter corrected BOTS/random_legal --reason test"],
    "arena correct withdraw": ["withdraw corrected minimal --reason test"],
    "arena correct disqualify": ["disqualify corrected good_with_note --reason test"],
    "arena correct undo": ["undo corrected --reason test"],
    "arena tournament verify": ["verify faulty"],
    "arena tournament verify OUT": ["verify checked"],
    "arena tournament merge": ["merge other"],
    "arena tournament import": ["import whole.jsonl --name faulty"],
    "arena tournament list": ["tournaments"],
    "arena tournament season NAME": ["season 2026"],
    "arena tournament list --deleted": ["tournaments --deleted"],
    "arena tournament season NAME --add": ["season 2026 --add swiss"],
    "arena tournament seasons": ["seasons"],
    "arena tournament rename": ["rename renamed named"],
    "arena tournament delete": ["delete doomed --yes"],
    "arena tournament restore": ["restore removed"],
    "arena games": ["games"],
    "arena games NAME": ["games plaid", "games differences"],
    "arena bot list": ["bots"],
    "arena bot list --remove": ["bots --remove minimal@1 --yes"],
    "arena submit": ["submit BOTS/minimal --game differences"],
    "arena check": ["check BOTS/minimal --game differences"],
    "arena check --rules": ["check --rules tests.games.planted:ApplyRaises"],
    "arena bot repro": [
        "repro faulty/2",
        "repro three/1 --seat 0 --bot-path BOTS/greedy",
        "repro three/1 --seat 1 --bot-path BOTS/greedy",
    ],
    "arena new": ["new mine"],
    "arena home doctor": ["doctor"],
    "arena home doctor --clock": ["doctor --clock --turns 100"],
    "arena site login": ["login"],
    "arena site logout": ["logout"],
}
"""For each command on the page, calls whose output together has all its fields."""

AT_A_SITE = {"arena challenge"}
"""Commands whose output is compared with the page where the tests have a site that answers."""


ITEM = {"texts": "text", "integers": "integer", "numbers": "number", "objects": "object", "lists": "list"}
NUMBERED = re.compile(r"^(against|place|seat|than)_\d+")


def sections():
    found = {}
    for heading, text in re.findall(r"^### (`arena [^\n]*)\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL):
        rows = re.findall(r"^\| (`.*?`) \| (.*?) \| .* \|$", text, re.MULTILINE)
        commands = tuple(re.findall(r"`(.*?)`", heading))
        found[commands] = {field: kind for names, kind in rows for field in re.findall(r"`(.*?)`", names)}
    return found


def is_of(value, kind):
    if kind.endswith(" or null"):
        return value is None or is_of(value, kind.removesuffix(" or null"))
    container, _, items = kind.partition(" of ")
    if items and items != "anything":
        values = value.values() if isinstance(value, dict) else value
        item = ITEM[items.removesuffix(" or nulls")]
        has_nulls = items.endswith(" or nulls")
        return is_of(value, container) and all(is_of(one, item) or (one is None and has_nulls) for one in values)
    if kind == "anything":
        return True
    return {
        "text": isinstance(value, str),
        "boolean": isinstance(value, bool),
        "integer": type(value) is int,
        "number": type(value) in (int, float),
        "object": isinstance(value, dict),
        "map": isinstance(value, dict),
        "list": isinstance(value, list),
    }[container]


def fields_of(value, promised, path=""):
    if isinstance(value, list):
        nested = f"{path}[]" if path else ""
        for item in value:
            if isinstance(item, dict) or any(field.startswith(f"{nested}[]") for field in promised):
                yield from fields_of(item, promised, nested)
    elif isinstance(value, dict):
        for key, inner in value.items():
            name = "NAME@VERSION" if "@" in key else NUMBERED.sub(r"\1_N", key)
            field = f"{path}.{name}" if path else name
            yield field, inner
            if promised.get(field, "").partition(" ")[0] not in ("map", "anything"):
                yield from fields_of(inner, promised, field)


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    directory = tmp_path_factory.mktemp("data")
    for home_name, names in (("home", [*FILES, *COPIES]), ("other", ["elsewhere"])):
        with ArenaHome(directory / home_name) as home:
            for name in names:
                (directory / f"{name}.toml").write_text(file_of(*FILES.get(name, FILES["noted"])))
                run_tournament(load_definition(directory / f"{name}.toml"), home.store, executor="in-process")
    with ArenaHome(directory / "home") as home:
        home.store.note_void(home.store.tournament("corrected"), 1, "a test")
        lines = list(whole_export(home.store.as_source(), home.store.tournament("faulty")))
        (directory / "whole.jsonl").write_text("\n".join(lines) + "\n")
    for text in PREPARATIONS:
        text = text.replace("BOTS", str(ROOT / "bots")).replace("PLACE", str(directory))
        assert run(["--home", str(directory / "home"), *text.split()]) == 0
    return directory


@pytest.fixture
def printed(directory, capsys, monkeypatch):
    monkeypatch.chdir(directory)
    monkeypatch.setenv("ARENA_CREDENTIALS", str(directory / "credentials.json"))
    Credentials().put(site_address("http://127.0.0.1:1"), new_token())  # where nothing answers

    def call(text, *options):
        capsys.readouterr()
        code = run(["--home", "home", *text.replace("BOTS", str(ROOT / "bots")).split(), *options])
        out, err = capsys.readouterr()
        assert out, f"{text}: exit code {code}: {err}"
        return out

    return call


@pytest.mark.slow
@pytest.mark.parametrize(
    "commands", [one for one in sections() if not AT_A_SITE.intersection(one)], ids=lambda commands: commands[0]
)
def test_a_section_has_the_fields_that_its_commands_print(printed, commands):
    if commands == ("arena tournament plot",):
        pytest.importorskip("matplotlib", reason="needs matplotlib")
    promised = sections()[commands]
    found = set()
    for command in commands:
        for text in CALLS[command]:
            out = printed(text, "--json")
            value = [json.loads(line) for line in out.splitlines()] if command in JSON_LINES else json.loads(out)
            assert value, text
            if command == "arena tournament export --whole":
                value = [line for line in value if "match" not in line]
            for field, inner in fields_of(value, promised):
                assert field in promised, f"arena {text} prints {field}, which is not on the page"
                assert is_of(inner, promised[field]), f"arena {text}: {field} is {inner!r}"
                found.add(field)
    assert set(promised) - found == set()


def test_every_command_that_prints_json_has_a_section():
    with click.Context(arena_group) as context:
        loaded = {name: arena_group.get_command(context, name) for name in COMMANDS}
    printing = {name for name, command in loaded.items() if any("--json" in option.opts for option in command.params)}
    described = {command for commands in sections() for command in commands}
    plain = {f"{noun} {spelling}": name for noun, one in NOUNS.items() for spelling, name in one.commands.items()}
    named = {command.removeprefix("arena ") for command in described}
    assert {plain.get(" ".join(name.split()[:2]), name.split()[0]) for name in named} == printing
    assert described == CALLS.keys() | AT_A_SITE


KINDS = {"i": "integer", "f": "number", "b": "boolean"}
"""What numpy calls types, and what the page calls them; everything else is a text, a list or an object."""


def frame_types(table):
    frame = table.to_pandas()
    kinds = {column: KINDS.get(frame[column].dtype.kind, str(frame[column].dtype)) for column in frame.columns}
    return {column: {"str": "text"}.get(kind, kind) for column, kind in kinds.items()}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["faulty", "three"])
def test_columns_of_data_frames_have_the_types_on_the_page(directory, name):
    pytest.importorskip("pandas", reason="needs pandas")
    with ArenaHome(directory / "home") as home:
        found = [standings_of(home.store, name), home.store.records(name), crosstable_of(home.store, name)]
        standings, records, crosstable = map(frame_types, found)
    for column, kind in standings.items():
        field = NUMBERED.sub(r"\1_N", column)
        flat = column.startswith(("rank_", "faults_"))
        promised = "integer" if flat else next(f[field] for f in sections().values() if "better_than_next" in f)
        assert promised.removesuffix(" or null") == kind, column
    (export,) = (fields for commands, fields in sections().items() if "arena tournament export" in commands)
    for column, kind in records.items():
        promised = export[column].removesuffix(" or null")
        assert kind == ("object" if promised.startswith(("list", "map")) else promised), column
    rows = re.findall(r"^\| (`.*?`) \| (\w+) \|", PAGE[PAGE.index("## Data frames") :], re.MULTILINE)
    assert {column: kind for columns, kind in rows for column in re.findall(r"`(\w+)`", columns)} == crosstable


@pytest.mark.slow
@pytest.mark.parametrize("command", ["standings faulty", "leaderboard"])
def test_csv_of_standings_has_the_columns_on_the_page(printed, command):
    text = PAGE[PAGE.index("### CSV of") :]
    flat = [re.findall(r"`(.*?)`", row) for row in re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)]
    in_json = [key for key in json.loads(printed(command, "--json"))[0] if key != "time_control"]  # of odds
    rank, faults = in_json.index("rank_95"), in_json.index("faults")
    expected = [*in_json[:rank], *flat[0], *in_json[rank + 1 : faults], *flat[1], *in_json[faults + 1 :]]
    assert next(csv.reader(io.StringIO(printed(command, "--format", "csv")))) == expected
