import json
import os

import pytest

from arena.analysis.text.tables import fitted_table
from arena.base.errors import UsageError
from arena.cli.lab import lab_command as lab_kernels
from arena.cli.lab.lab_puzzles import COLUMNS
from arena.games.kernels.kernel import KERNEL_NAMES
from arena.games.kernels.loading import load
from arena.games.kernels.sameness import Effort
from arena.store.home import ArenaHome, open_visitors
from arena.store.people.answers import Enjoyed
from arena.store.people.unrated_match import Choices
from arena.tournament.definition import make_definition
from arena.tournament.director import run_tournament
from tests import needs
from tests.analysis.text.tournaments import ScriptedExecutor, play
from tests.cli.calls import calling, ended, printed, printed_alone, refusal, shown, told
from tests.conftest import BOTS

QUALITY = ("quality", "differences", "-o", "size=2", "--encounters", "10", "--doublings", "0")
"""The command at its quickest."""


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    directory = tmp_path_factory.mktemp("lab")
    with ArenaHome(directory / "home") as home:
        play(home, "small", ["alpha", "beta"], [("plusminus", {"size": 3})], encounters=6)
        play(home, "cup", ["alpha", "beta"], [("plusminus", {"size": 4})], encounters=20)
        play(home, "three", ["alpha", "beta", "gamma"], [("coprimality", {"size": 4, "players": 3})])
    return directory


@pytest.fixture
def lab(directory, capsys, shared_kernels):
    call = calling(directory / "home", capsys)
    return lambda *arguments: call("lab", *arguments)


def test_a_tree_is_shown_within_80_columns(lab):
    out = printed_alone(lab, "repair", "differences", "-o", "size=4", "--plies", "2", "--top", "3")
    lines = out.splitlines()
    assert lines[0].split() == ["line", "worth", "best"]
    shown = [len(line) - len(line.lstrip()) for line in lines[2:-2]]  # three first actions, three after each, the rest
    assert shown == [*[0, 2, 2, 2, 2] * 3, 0]
    assert lines[2].split() == ["a1", "draw", "best"]
    assert [line.strip() for line in lines if "more" in line] == ["… 6 more"] * 3 + ["… 1 more"]
    assert lines[-1] == "40 of 40 lines solved. Worth is for seat 0, with best play."
    assert max(map(len, lines)) <= 80


def test_the_earlier_spelling_is_not_listed_and_shows_first_actions_by_default(lab):
    assert "explore" not in printed(lab, "--help")
    assert printed(lab, "explore", "plusminus", "-o", "size=3") == printed(
        lab, "repair", "plusminus", "-o", "size=3", "--plies", "2"
    )


def test_what_was_played_is_counted(lab):
    code, out, _ = lab("explore", "plusminus", "small", "--plies", "1", "--json")
    found = json.loads(out)
    assert (code, found["matches"], sum(line["played"] for line in found["lines"])) == (0, 12, 12)
    out = printed(lab, "repair", "plusminus", "small")
    assert out.splitlines()[0].split() == ["line", "worth", "best", "played", "won", "drawn", "lost"]


@pytest.mark.slow
def test_a_tournament_takes_the_book(lab, tmp_path):
    book = tmp_path / "even.toml"
    chosen = ("--plies", 4, "--outcome", "draw", "--book", book, "--quiet")
    code, _, err = lab("repair", "plusminus", "-o", "size=4", *chosen)
    bots = {"a": lambda *_: None, "b": lambda *_: None}
    made = make_definition("t", "plusminus", bots, options={"size": 4}, openings=str(book))
    assert (code, err) == (0, f"{len(made.openings[0].lines)} openings written: {book}\n")
    assert made.opening_plies == 4
    assert "# draw" in book.read_text()


def test_a_book_of_all_lines_of_a_board_beyond_reach_is_written_at_once(lab, tmp_path):
    book = tmp_path / "all.toml"
    err = told(lab, 0, "repair", "plaid", "--plies", "1", "--book", book, "--within", "1h", "--quiet")
    assert err.startswith("arena: nothing is solved: plaid with players = 2, width = 60, height = 60, lines = 12: ")
    assert err.endswith(f"118 openings written: {book}\n")


def test_a_book_without_a_line_is_not_written(lab):
    for chosen, lines in (("plusminus -o size=3 --outcome win", "4 lines"), ("differences -o size=2", "1 line")):
        error = told(lab, 2, "repair", *chosen.split(), "--book", "x.toml")
        assert error == f"arena: --book 'x.toml': none of {lines} fits; nothing is written\n"


@pytest.fixture
def anew(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CC", raising=False)
    load.cache_clear()
    yield calling(tmp_path / "home", capsys)
    load.cache_clear()


def test_kernels_are_shown_and_nothing_is_built(anew, tmp_path):
    out = printed(anew, "lab", "kernels")
    assert out.count("not built yet") == len(KERNEL_NAMES)
    assert "arena lab kernels --build" in out
    assert not (tmp_path / "cache").exists()


@pytest.mark.slow
@needs.program("cc", "gcc", "clang")
def test_kernels_are_built_and_compared(anew, monkeypatch):
    """One of them: tests/lab/test_kernels.py compares all."""
    name = KERNEL_NAMES[3]
    monkeypatch.setattr(lab_kernels, "KERNEL_NAMES", (name,))
    monkeypatch.setattr(lab_kernels, "USUAL", Effort(playouts=1_200, large_playouts=1, lines=0))
    code, out, _ = anew("lab", "kernels", "--check")
    assert (code, out.count("1,20")) == (0, 1)
    code, out, _ = anew("lab", "kernels", "--json")
    (row,) = json.loads(out)
    assert (row["game"], bool(row["path"]), row["problem"]) == (name, True, "")
    assert f"1 of {len(KERNEL_NAMES)} built" in anew("doctor")[1]


def test_without_a_compiler_a_sentence_says_so(anew, monkeypatch):
    monkeypatch.setenv("CC", "nocc")
    out = shown(anew, 1, "lab", "kernels", "--check")
    assert out.count("There is no C compiler: CC = 'nocc' is not found.") == 1
    assert "the same answers, slower" in out
    assert anew("lab", "kernels")[0] == 0


@pytest.mark.slow
def test_puzzles_are_listed_without_their_solutions_and_kept(lab, directory):
    lines = printed_alone(lab, "puzzles", "cup", "--count", "2").splitlines()
    assert lines[0].startswith("cup: ")
    assert "of which 2 are kept" in lines[0]
    heads = "puzzle game match/ply seat goal plies theme choices lines, log2 missed by"
    assert " ".join(lines[2].split()) == heads
    assert len(lines) == 8
    kept = json.loads((directory / "home" / "puzzles" / "2.json").read_text())
    assert len(kept["puzzles"]) == 2
    _, solved, _ = lab("puzzles", "cup", "--count", "2", "--solutions")
    assert all(one["choices"][one["solution"]]["text"] in solved for one in kept["puzzles"])


def test_a_list_of_puzzles_in_80_columns_shortens_no_word():
    row = {
        "puzzle": 50, "game": "multiplication", "position": "250/12", "seat": 1, "goal": "draw", "plies": 7,
        "theme": "greed fails", "choices": 24, "lines_log2": 10.2, "missed": "1 of 1", "by": "random_legal@1",
    }  # fmt: skip
    text, left_out = fitted_table(COLUMNS, [row], 80)
    assert "greed fails" in text and "random_legal@1" in text
    assert left_out == ["game", "choices", "lines, log2"]


def test_puzzles_are_written_as_json_and_into_a_file(lab, tmp_path):
    code, out, _ = lab("puzzles", "cup", "--json")
    found = json.loads(out)
    assert (code, found["tournament"]) == (0, "cup")
    assert found["found"] == len(found["puzzles"]) > 2
    assert {one["choices"][one["solution"]]["outcome"] == one["goal"] for one in found["puzzles"]} == {True}
    assert lab("puzzles", "cup", "--count", "2", "--html", tmp_path / "p.html")[0] == 0
    assert (tmp_path / "p.html").read_text().count("<details>") == 2


def test_the_text_has_eleven_measures_and_is_80_columns_wide(lab):
    out, err = ended(lab, 0, *QUALITY)
    numbers = [line[:2] for line in out.splitlines() if line[:2].strip()]
    assert numbers[1:12] == [f"{number:>2}" for number in range(1, 12)]
    assert "margin of seat 0, size 2                          0  exact (proved)" in out
    assert max(map(len, out.splitlines())) <= 80
    assert err.count("differences: ") == 8


def test_two_values_of_an_option_are_put_side_by_side(lab, tmp_path):
    files = ("--json", tmp_path / "file", "--html", tmp_path / "file.html")
    out = printed(lab, *QUALITY, "--compare", "scoring=distinct,once", *files)
    assert " distinct      once  larger by" in out
    assert "Which is more fun: not known without votes (194" in " ".join(out.split())
    assert max(map(len, out.splitlines())) <= 80
    shown = json.loads((tmp_path / "file").read_text())
    assert [one["options"]["scoring"] for one in shown["profiles"]] == ["distinct", "once"]
    assert len(shown["differences"]) > 30
    assert shown["votes"] is None
    assert "</html>" in (tmp_path / "file.html").read_text()


def test_votes_of_who_played_both_are_counted_from_the_home(lab, directory, tmp_path):
    """Wilson's interval of 1 of 3 is 6.1 to 79.2 % (Newcombe 1998, method 3)."""
    once, distinct = ({"size": 3, "scoring": scoring, "pie": 0} for scoring in ("once", "distinct"))
    both = [(once, distinct, "second"), (distinct, once, "first"), (once, distinct, "first"), (once, distinct, "alike")]
    others = [(once | {"size": 4}, distinct | {"size": 4}, "first"), (once, once | {"pie": 1}, "first")]
    usual = {"game": "differences", "seat": 0, "bot": "arena:greedy", "per_action_milliseconds": 500}
    with open_visitors(directory / "home") as store:
        store.unrated_matches.set_menu("{}", 99)
        for number, (first, second, choice) in enumerate(both + others):
            choices = Choices(**usual, options=json.dumps(second), compared=json.dumps(first))
            match = store.unrated_matches.begin(choices, None, f"192.0.2.{number}").number
            store.votes.cast(match, Enjoyed(choice))
    wider = [one.replace("size=2", "size=3") for one in QUALITY]
    code, out, _ = lab(*wider, "--compare", "scoring=distinct,once", "--json", tmp_path / "file")
    text = " ".join(out.split())
    assert (code, "192.0.2" in text) == (0, False)
    assert (
        "Which is more fun: 1 of 3 who played both preferred scoring = once: 33.3 % [6.1, 79.2], no more than" in text
    )
    assert "2 of the 3 preferred what they had played first; 1 enjoyed both alike. 194 votes would show" in text
    found = json.loads((tmp_path / "file").read_text())["votes"]
    assert (found["preferred"], found["alike"], found["preferred_the_earlier"], found["needed"]) == ([2, 1], 1, 2, 194)


@pytest.mark.slow(sample=True)
def test_a_game_from_outside_is_measured_by_its_rules(lab):
    quick = ("--encounters", "10", "--doublings", "0")
    assert lab("quality", "tests.lab.games:OfATable", *quick)[0] == 2
    assert "11 Length and branching" in printed(lab, "quality", "tests.amazons:Amazons", *quick, "--within", "1s")


REFUSED = [
    ("kernel", "did you mean 'kernels'"),
    ("explore plaids", "unknown game 'plaids'"),
    ("explore coprimality -o players=3", "players = 3: only a game for two has one value"),
    ("repair plusminus nowhere", "nowhere"),
    ("repair plaid small", "tournament 'small' plays plusminus, not plaid"),
    ("repair plusminus small -o size=4", "plays plusminus with { size = 3, grid_first = 1 }, not { size = 4 }"),
    ("repair plusminus --outcome draw", "it chooses lines for a book; expected --book FILE"),
    ("repair differences -o size=3 --book .", "'.' can't be written: expected a file in a directory that exists"),
    (f"repair differences -o size=3 --book {'x' * 300}", "x' can't be written: File name too long"),
    ("repair multiplication -o size=13 --plies 2", "size = 13: 983,921,632,882 states follow 2 actions, a table of"),
    ("repair differences --plies 0", "--plies"),
    ("puzzles cups", "unknown tournament 'cups'"),
    ("puzzles three", "only a game for two has one value"),
    ("puzzles cup --game plaid", "unknown game 'plaid'"),
    ("puzzles cup --html /nowhere/p.html", "'/nowhere/p.html' can't be written: expected a file in a directory that"),
    ("puzzles cup --count 501", "501 is not in the range"),
    ("quality differences --encounters 1", "1 is not in the range 10<=x<=100000"),
    ("quality differences --doublings 40", "40 is not in the range 0<=x<=12"),
    ("quality differences --compare scoring", "--compare 'scoring': expected an option and two values"),
    ("quality differences --compare scoring=once,once", "expected an option and two values"),
    ("quality differences --compare scoring=once,twice", "twice"),
    ("quality differences --compare colour=red,blue", "colour"),
    ("quality differences -o size=4 --compare size=4,5", "size is given by --option as well"),
    ("quality differences --json /nowhere/at/all", "'/nowhere/at/all' can't be written"),
    ("quality differences --json fifo", "'fifo' can't be written: nobody reads this pipe yet; start its reader first"),
    ("repair multiplication --store BAD", "store 'BAD': expected a URL such as postgresql://user@host/database"),
]


@pytest.mark.parametrize(("line", "message"), REFUSED)
def test_what_the_lab_can_not_do_is_refused_in_a_sentence(lab, line, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("fifo")  # which nobody reads
    assert message in refusal(lab, *line.split())


MCTS = str(BOTS / "mcts")
QUICK = ["--game", "differences", "-o", "size=4", "--param", "rollouts=1..3@1", "--encounters", "4", "--rounds", "1"]


@pytest.fixture
def tune(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("arena.tournament.director.run_tournament", played_at_once)
    call = calling(tmp_path / "home", capsys)
    return lambda *arguments: call("tune", *arguments)


def played_at_once(definition, store, **options):
    return run_tournament(definition, store, executor=ScriptedExecutor((), ""), listener=options["listener"])


@pytest.mark.slow(sample=True)
@needs.package("matplotlib")
def test_a_tuning_is_played_drawn_and_found_again(tune, tmp_path):
    plot = tmp_path / "plot.svg"
    arguments = [MCTS, *QUICK, "--test-encounters", "8", "-q"]
    code, out, _ = tune(*arguments, "--plot", plot)
    assert code in (0, 1, 3)
    assert out.startswith("start   rollouts = 1\nresult  rollouts = ")
    assert plot.read_text().count("<svg") == 1
    with ArenaHome(tmp_path / "home") as home:
        names = [one.name for one in home.store.tournaments()]
        records = [record.started_at for record in home.store.records()]
        with pytest.raises(UsageError, match="there are only comparisons"):
            home.store.latest_tournament()
    assert names[0] == "tune mcts in differences 1"
    assert tune(*arguments)[:2] == (code, out)
    again, text, _ = tune(*arguments, "--json")
    found = json.loads(text)
    assert (again, found["start"], found["name"]) == (code, {"rollouts": "1"}, "tune mcts in differences")
    assert {one["values"]["rollouts"] for one in found["trials"]} <= {"2", "3"}
    with ArenaHome(tmp_path / "home") as home:
        assert [record.started_at for record in home.store.records()] == records


def test_what_is_known_is_said_before_each_round(tune):
    """Every variant that can be drawn, 2 and 3, wins all against the start: the estimate lies between these."""
    _, out, err = tune(MCTS, *QUICK[:-1], "2", "--test-encounters", "8", "--rng-seed", "3")
    lines = err.splitlines()
    shown = [line.partition(":")[0] for line in lines]
    assert list(dict.fromkeys(shown)) == ["round 1 of 2", "round 2 of 2", "test"]
    assert lines[0].startswith("round 1 of 2: ") and " of the start with " in lines[0]
    assert lines[0].endswith(", after 0 encounters in earlier rounds")
    assert lines[1] == "round 1 of 2: no estimate yet"
    notes = [line for line in lines if line.startswith("round 2 of 2: estimate from earlier rounds: rollouts = ")]
    assert len(notes) == 1 and notes[0][-1] in "123"
    result = out.splitlines()[1].removeprefix("result  ")
    assert f"test: 8 fresh encounters of the start with the result, {result}" in lines


@pytest.mark.parametrize(
    ("parameter", "more", "is_said"),
    [("rolouts", [], True), ("score_weight", [], False), ("x", ["--args", "{x}"], False)],
)
def test_a_parameter_that_the_program_does_not_mention_is_named_before_anything_is_played(
    tune, parameter, more, is_said
):
    few = [
        "--game",
        "differences",
        "-o",
        "size=4",
        "--encounters",
        "1",
        "--rounds",
        "1",
        "--test-encounters",
        "8",
        "-q",
    ]
    err = tune(MCTS, *few, "--param", f"{parameter}=1..3", *more)[2]
    assert ("the program of mcts does not mention 'rolouts'; a bot may ignore" in err) == is_said
    assert ("does not mention" in err) == is_said


@pytest.mark.slow
def test_a_bot_that_has_changed_is_rejected_in_a_short_sentence(tune, tmp_path):
    bot = tmp_path / "mine.py"
    bot.write_text("print('one')\n")
    quick = ["--game", "differences", "--param", "a=0.0..1.0", "--encounters", "40", "--rounds", "1", "-q"]
    tune(bot, *quick)
    bot.write_text("print('another')\n")
    err = told(tune, 2, bot, *quick)
    assert err.count("the bot 'mine") == 5
    assert "and 36 more; give this one another name" in err  # the start and 40 variants


def test_it_asks_whether_the_bot_takes_its_arguments_if_nothing_has_an_effect(tune, monkeypatch):
    monkeypatch.setattr("arena.tournament.experiments.scores_of", lambda _, variants: [[0.5] * 4 for _ in variants])
    _, out, _ = tune(MCTS, *QUICK, "--test-encounters", "8", "-q")
    assert "does the bot take these arguments?" in " ".join(out.split())
    monkeypatch.undo()


NOT_TUNED = {
    "no range": (["--param", "rollouts=5"], "--param 'rollouts=5': expected NAME=LOW..HIGH"),
    "not in the arguments": (["--args", "--rollouts 5"], "--args: {rollouts} is missing"),
    "no game": (["--game", "chess"], "unknown game 'chess'"),
    "no plot": (["--plot", "x.pdf"], "--plot 'x.pdf': expected a name that ends in .png or .svg"),
    "no directory": (["--plot", "nowhere/x.svg"], "'nowhere/x.svg' can't be written"),
    "a long name": (["--name", "x" * 60], "expected at most 58 characters"),
    "few": (["--test-encounters", "7"], "7 is not in the range"),
    "quotes": (["--args", "'{rollouts}"], "expected arguments as in a shell"),
    "plies": (["--ply-limit", "2"], "ply_limit = 2"),
}


@pytest.mark.parametrize("what", NOT_TUNED)
def test_what_cannot_be_tuned_is_said_in_a_sentence(tune, what):
    more, message = NOT_TUNED[what]
    arguments = [MCTS, *QUICK]
    if more[0] in ("--param", "--game"):
        arguments[arguments.index(more[0]) + 1] = more[1]
        more = []
    assert message in refusal(tune, *arguments, *more)


@pytest.mark.parametrize("bot", ["human", "nobody"])
def test_only_programs_are_tuned(tune, bot):
    assert bot in refusal(tune, bot, *QUICK)
