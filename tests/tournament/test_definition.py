import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.base.errors import DefinitionError, StoreError
from arena.tournament.definition import load_definition
from arena.tournament.formats.format import format_of
from arena.tournament.tournament_file import MAX_VARIANTS, has_lists, variants_of
from tests.conftest import BOTS


def test_a_short_file_has_sensible_defaults(write_definition):
    definition = load_definition(write_definition())
    assert definition.name == "t"
    assert [(g.game, g.options["size"], g.players) for g in definition.games] == [("differences", 8, 2)]
    assert [bot.label for bot in definition.entrants] == ["minimal@1", "random_legal@1"]
    assert (definition.format, definition.encounters, definition.opening_plies) == ("round-robin", 1, 2)
    assert (definition.time_control.per_action_seconds, definition.workers) == (1.0, None)


def test_limits_and_time_control_are_those_of_the_file(write_definition):
    limits = '[limits]\nmemory_bytes = "512 MiB"\nprocesses = 7\n'
    control = '[time_control]\nper_action_seconds = 1\nclock = "cpu"\noff_turn = "freeze"\n'
    definition = load_definition(write_definition(limits + control))
    assert (definition.limits.memory_bytes, definition.limits.processes) == (512 * 2**20, 7)
    assert (definition.time_control.clock, definition.time_control.off_turn) == ("cpu", "freeze")


MINIMAL = f'[[entrants]]\nbot = "{BOTS / "minimal"}"\n'
REFUSED = {
    "unknown key": ({"encounter": 3}, "", "encounter: unknown key; did you mean 'encounters'?"),
    "unknown game": ({"game": '"plaids"'}, "", "game: unknown game 'plaids': did you mean 'plaid'?"),
    "size": ({"options": "{size = 1}"}, "", "options.size = 1: expected a whole number from 2 to 100"),
    "no game": ({"game": None}, "", "either game"),
    "wrong type": ({"encounters": '"3"'}, "", "encounters = '3': expected a whole number from 1 to 1,000,000"),
    "format": ({"format": '"swis"'}, "", "format = 'swis': expected 'round-robin', 'gauntlet', 'swiss', 'knockout'"),
    "a NUL": ({}, '[[entrants]]\nbot = "\\u0000"', 'entrants[2].bot = "\\u0000": expected a text without the char'),
    "isolation": ({"isolation": '"jail"'}, "", "isolation = 'jail': expected 'auto', 'none', 'limits'"),
    "name": ({"name": '"a/b"'}, "", "name = 'a/b': expected 1 to 64 letters"),
    "a name of a NUL": ({"name": '"\\u0000"'}, "", 'name = "\\u0000": expected 1 to 64 letters'),
    "same name twice": ({}, MINIMAL, "entrants[2].name = 'minimal': another entrant has this name"),
    "Cyrillic": ({}, f'{MINIMAL}name = "minim\\u0430l"', r"(minim\u0430l): it looks like the name of another entrant"),
    "no such bot": ({}, '[[entrants]]\nbot = "./nobody"', "entrants[2]: bot '"),
    "unknown entrant key": ({}, '[[entrants]]\nbot = "x"\npath = "y"', "entrants[2].path: unknown key"),
    "missing bot": ({}, "[[entrants]]\nname = 'x'", "entrants[2].bot: missing"),
    "time": ({}, "[time_control]\nper_action_seconds = -1", "time_control.per_action_seconds = -1"),
    "nan": ({}, "[time_control]\nper_action_seconds = nan", "per_action_seconds = nan"),
    "no limit": ({}, "[time_control]\nmargin_seconds = 1", "needs per_action_seconds or bank_seconds"),
    "odds": ({}, f'{MINIMAL}time_control = {{ clock = "cpu" }}', "entrants[2].time_control.clock: unknown"),
    "misspelt time": ({}, "[time_control]\nper_action = 1", "did you mean 'per_action_seconds'?"),
    "too few": ({"game": '"coprimality"', "options": "{players = 3}"}, "", "at least 3, one for each player of copr"),
    "an empty folder name": ({"entrants_from": '""'}, "", "entrants_from = '': expected a folder, a pattern such as"),
    "a folder that is not there": ({"entrants_from": '"x"'}, "", "'x': No such file or directory; expected a folder"),
    "nothing to be broken": ({"skip_broken": "true"}, "", "skip_broken: expected together with entrants_from"),
    "a pattern of another type": ({"entrants_from": "5"}, "", "entrants_from = 5: expected a text"),
    "a pattern that matches nothing": ({"entrants_from": '"no/*"'}, "", "'no/*': no file matches it"),
    "a pattern with a NUL": ({"entrants_from": '"*\\u0000"'}, "", "expected a text without the character NUL"),
    "not TOML": ({}, "]", "not valid TOML"),
    "another format's table": ({"format": '"swiss"'}, "[ladder]\nmatches = 3", "belongs to format = 'ladder', but for"),
    "no matches": ({"format": '"ladder"'}, "[ladder]\nmatches = 0", "ladder.matches = 0"),
    "seeding": ({"format": '"knockout"'}, '[knockout]\nseeding = "alphabet"', "knockout.seeding = 'alphabet'"),
    "until": ({}, '[until]\ndecided = "top 2"', "until.decided = 'top 2': expected fewer than the 2 bots"),
    "until's error": ({}, "[until]\nerror = 0.7", "until.error = 0.7"),
    "a misspelt key of until": ({}, "[until]\nerorr = 0.1", "until.erorr"),
    "until's budget": ({}, "[until]\nmax_matches = 2", "until.max_matches = 2: the first 4 matches"),
    "encounters until": ({"encounters": 3}, "[until]", "encounters and until: expected one of them"),
    "rounds until": ({"format": '"swiss"'}, "[until]\n[swiss]\nrounds = 1", 'expected format = "round-robin" or "ga'),
    "no plies": ({"ply_limit": 0}, "", "ply_limit = 0: expected a whole number from 1 to 1,000,000"),
    "many plies": ({"ply_limit": 1_000_001}, "", "ply_limit = 1000001: expected a whole number from 1 to 1,000,000"),
    "half a ply": ({"ply_limit": 2.5}, "", "ply_limit = 2.5"),
    "plies in words": ({"ply_limit": '"many"'}, "", "ply_limit = 'many'"),
    "plies of the opening": ({"ply_limit": 2}, "", "ply_limit = 2: the 2 plies of the opening count; expected at lea"),
    "a longer opening": (
        {"ply_limit": 9, "opening_plies": 9},
        "",
        "the 9 plies of the opening count; expected at least 10",
    ),
    "no number of bytes": ({}, '[limits]\nmemory_bytes = "lots"', "limits.memory_bytes = 'lots': expected a number of"),
    "few bytes": (
        {},
        "[limits]\nmemory_bytes = 5",
        "memory_bytes = 5: expected a whole number of bytes from 16,777,216",
    ),
    "no processes": ({}, "[limits]\nprocesses = 0", "limits.processes = 0: expected a whole number from 1 to 100,000"),
    "no CPU time": ({}, "[limits]\ncpu_seconds = -1", "limits.cpu_seconds = -1: expected a number greater than 0"),
    "a misspelt limit": ({}, "[limits]\nmemory = 5", "limits.memory: unknown key; did you mean 'memory_bytes'?"),
    "a truth": ({}, "[limits]\nmessage_depth = true", "message_depth = true: expected a whole number from 3 to 64"),
    "another unit": (
        {},
        '[limits]\nstderr_bytes = "1 parsec"',
        "stderr_bytes = '1 parsec': expected a number of bytes",
    ),
    "rounds": ({"format": '"swiss"'}, "[swiss]\nrounds = 2", "swiss.rounds = 2: with 2 entrants at most 1"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_fault_is_named_with_its_place_value_and_what_is_accepted(write_definition, what):
    keys, text, message = REFUSED[what]
    path = write_definition(text, **keys)
    with pytest.raises(DefinitionError) as raised:
        load_definition(path)
    assert message in str(raised.value)
    assert str(raised.value).startswith(f"{path}: ")
    assert "\n" not in str(raised.value) or what == "not TOML"


def test_all_faults_are_told_at_once(write_definition):
    path = write_definition('[[entrants]]\nbot = "./nobody"', options="{size = 1}", format='"x"')
    with pytest.raises(DefinitionError) as raised:
        load_definition(path)
    assert all(message in str(raised.value) for message in ("options.size = 1", "entrants[2]", "format = 'x'"))


@pytest.fixture
def write_submissions(tmp_path):
    def write(*names, text="", pattern="submissions/*"):
        directory = tmp_path / "submissions"
        for name in names:
            file = directory / name if name.endswith((".py", ".txt")) else directory / name / "bot.toml"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text('name = "champion"\nversion = "2"\ncommand = ["python3", "bot.py"]\n')
        path = tmp_path / "contest.toml"
        path.write_text(f'game = "differences"\nentrants_from = "{pattern}"\n{text}')
        return path

    return write


def test_a_pattern_enters_what_it_matches_after_the_tables(write_submissions):
    table = f'[[entrants]]\nbot = "{BOTS / "greedy"}"\n'
    path = write_submissions("ada.py", "ben.py", "ben", "notes.txt", text=table, pattern="submissions/*.py")
    assert [bot.label for bot in load_definition(path).entrants] == ["greedy@1", "ada@1", "ben@1"]


def test_every_fault_of_a_directory_of_submissions_is_named_at_once(write_submissions):
    path = write_submissions("ada.py", "ben", "ben@home.py", "notes.txt")
    (path.parent / "submissions" / "empty").mkdir()
    with pytest.raises(DefinitionError) as raised:
        load_definition(path)
    faults = str(raised.value).removeprefix(f"{path}: ").split("; entrants_from: ")
    named = [fault.partition("submissions/")[2].partition("'")[0] for fault in faults]
    assert named == ["ben@home.py", "empty", "notes.txt"]
    assert [expected in fault for expected, fault in zip(["'@'", "no bot.toml", "chmod +x"], faults, strict=True)]
    lines = [faults[0], *(f"entrants_from: {fault}" for fault in faults[1:])]
    assert raised.value.lines == tuple(f"{path}: {line}" for line in lines)


@pytest.mark.parametrize("entrants", ["", '[[entrants]]\nbot = "x.py"'])
def test_a_file_needs_two_entrants_or_a_pattern(entrants, tmp_path):
    (tmp_path / "t.toml").write_text(f'game = "plaid"\n{entrants}')
    with pytest.raises(
        DefinitionError, match=r"t.toml: entrants: expected at least two \[\[entrants\]\] tables, each w"
    ):
        load_definition(tmp_path / "t.toml")


BAD_MANIFESTS = {
    "missing command": ('name = "x"', "command: missing"),
    "unknown key": ('name = "x"\ncommand = ["y"]\ngame = ["plaid"]', "game: unknown key; did you mean 'games'?"),
    "empty command": ('name = "x"\ncommand = []', "command"),
    "bad name": ('name = "a@b"\ncommand = ["y"]', "name = 'a@b': expected 1 to 64"),
    "control characters": ('name = "a\\u001bb"\ncommand = ["y"]', "expected 1 to 64"),
    "no such program": ('name = "x"\ncommand = ["./run"]', "there is no such file in the bot's directory"),
    "no built program": (
        'name = "x"\ncommand = ["./run"]\nbuild = ["make"]',
        "; a file that its build makes is in b",
    ),
    "not executable": ('name = "x"\ncommand = ["./bot.toml"]', "the file is not executable"),
    "other games": ('name = "shy"\ncommand = ["python3"]\ngames = ["plaid"]', "'shy' does not play differences; it cl"),
}


@pytest.mark.parametrize("what", BAD_MANIFESTS)
def test_a_bad_bot_toml_is_rejected_with_the_fault(write_definition, tmp_path, what):
    text, message = BAD_MANIFESTS[what]
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "bot.toml").write_text(text)
    with pytest.raises(DefinitionError, match=re.escape(message)):
        load_definition(write_definition('[[entrants]]\nbot = "./odd"'))


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({"rounds": "4"}, "rounds = '4'; expected a whole number"),
        ({"tie_breaks": ["BHX"]}, "tie_breaks = .\"BHX\".; expected a list, each 'BH', 'BH-C1', 'SB', 'DE' or"),
        ({"colours": 1}, "has a field 'colours' that this arena does not know"),
    ],
)
def test_stored_settings_that_do_not_fit_the_format_are_refused_in_a_sentence(write_definition, settings_, message):
    definition = replace(load_definition(write_definition()), format="swiss", settings=settings_)
    with pytest.raises(StoreError, match=f"tournament 't': its table of format 'swiss' .*{message}"):
        format_of(definition)


VALUE = st.from_regex(r"[A-Za-z0-9_.+-]{1,4}", fullmatch=True)


def names_and_args(args):
    return {variant.named("mcts"): variant.args for variant in variants_of(args)}


def test_several_lists_multiply_and_the_last_changes_fastest():
    found = names_and_args(["--c={0.5, 1.5}", "x", "{a,b}-{+1,-1}"])
    assert list(found) == [f"mcts {c} {x} {sign}1" for c in (0.5, 1.5) for x in "ab" for sign in "+-"]
    assert found["mcts 0.5 b -1"] == ("--c=0.5", "x", "b--1")


LEFT = ["", "{}", "{10}", "a,b", '{"a":1,"b":2}', "{a:1,b:2}", "{a,{b", "}a,b{", "{ä,ö}", f"{{{'1,' * 200_000}!}}"]


@pytest.mark.parametrize("arg", LEFT, ids=lambda arg: arg[:9])
def test_other_braces_are_left_as_they_are(arg):
    assert not has_lists([arg])
    assert names_and_args([arg]) == {"mcts": (arg,)}


def test_doubled_braces_stand_for_the_text_itself():
    assert names_and_args(["{{1,2}}", '{{"x":1}}']) == {"mcts": ("{1,2}", '{{"x":1}}')}


@given(st.lists(st.lists(VALUE, min_size=2, max_size=4, unique=True), max_size=3))
def test_names_and_arguments_of_variants_are_unique(lists):
    variants = names_and_args(["{" + ",".join(values) + "}" for values in lists])
    count = 1
    for values in lists:
        count *= len(values)
    assert len(variants) == len(set(variants.values())) == count
    assert all(" ".join(("mcts", *args)) == name for name, args in variants.items())


@given(st.text(alphabet="{},a1 \n", max_size=30))
def test_any_text_has_variants_or_one_sentence(text):
    try:
        assert variants_of([text])
    except DefinitionError as error:
        assert str(error).startswith("args[0] = ") and "\n" not in str(error)


NO_LISTS = {
    "no last value": ("{10,}", "args[1] = '{10,}': a value is missing between the commas"),
    "no value": ("{,}", "args[1] = '{,}': a value is missing"),
    "one twice": ("{10,30,10}", "args[1] = '{10,30,10}': the value '10' appears twice"),
    "many lists": ("{0,1}" * 40, "args: the lists in braces make 1,099,511,627,776 variants; expected at most 100"),
    "a long list": (f"{{{','.join(map(str, range(100_000)))}}}", "the list has 100,000 values; expected at most 100"),
    "a number of many digits": ("{1,2,3,4,5,6,7,8,9}" * 5000, "the lists in braces make too many variants; expected"),
}


@pytest.mark.parametrize("what", NO_LISTS)
def test_what_is_no_list_of_values_is_refused_at_once(what):
    arg, message = NO_LISTS[what]
    with pytest.raises(DefinitionError, match=re.escape(message)):
        variants_of(["--rollouts", arg])


def test_as_many_variants_as_may_be_are_accepted():
    tens = "{0,1,2,3,4,5,6,7,8,9}"
    assert len(variants_of([tens, tens])) == MAX_VARIANTS == 100


def table(args, bot="mcts", more=""):
    return f'[[entrants]]\nbot = "{BOTS / bot}"\nargs = ["--rollouts", "{args}"]\n{more}'


@pytest.fixture
def labels(tmp_path):
    def read(text):
        path = tmp_path / "t.toml"
        path.write_text(f'game = "differences"\n{text}')
        return {bot.label: bot.command[-1] for bot in load_definition(path).entrants}

    return read


def test_variants_enter_a_tournament_in_their_order(labels):
    text = table("{10,30}") + table("{7,8}", more='name = "m"\n')
    assert list(labels(text).items()) == [("mcts 10@2", "10"), ("mcts 30@2", "30"), ("m 7@2", "7"), ("m 8@2", "8")]
    assert list(labels(table("{10,30}"))) == ["mcts 10@2", "mcts 30@2"], "one table is enough"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (table("10"), "entrants: expected at least two [[entrants]] tables, each with a bot such as bot = 'arena"),
        (table("{10,}"), "entrants[0].args[1] = '{10,}': a value is missing"),
        (table("{10,30}") + table("30", more='name = "mcts 30"\n'), "[1].name = 'mcts 30': another entrant has"),
        (table("{1,2}", more=f'name = "{"x" * 64}"\n'), f"entrants[0]: name = '{'x' * 64} 1': expected 1 to 64"),
        (table("{1,2}", bot="nobody"), "entrants[0]: bot '"),
    ],
)
def test_what_is_wrong_with_variants_is_said(labels, text, message):
    with pytest.raises(DefinitionError, match=re.escape(message)):
        labels(text)
