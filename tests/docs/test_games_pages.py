import ast
import re
import tomllib
from pathlib import Path

import pytest

from arena.botkit import observations
from arena.games import GAMES, make_game
from arena.lab.advice import ADVICE
from arena.lab.solve import Solver
from arena.lab.solving.limits import Limits
from arena.lab.solving.state_graph import explore
from arena.lab.solving.worth import By
from arena.server.operations import contest_changes
from arena.tournament.tournament_file import TournamentFile
from benchmarks.advice import BOARDS
from tests.bots.test_bots import SMALL
from tests.games.reference import REFERENCE
from tests.games.variants import VARIANTS

DOCS = Path(__file__).parents[2] / "docs"
LAB = (DOCS / "lab.md").read_text(encoding="utf-8")
PAGES = {path.stem: path.read_text(encoding="utf-8") for path in (DOCS / "games").glob("*.md")}


def margin(game, **options):
    return Solver(make_game(game, **options), game, Limits()).solve(By.TABLE).worth.margin


def row(game, title):
    line = next(line for line in PAGES[game].splitlines() if line.startswith(f"| {title} |"))
    return [cell.strip().replace("−", "-") for cell in line.removeprefix(f"| {title} |").split("|")[:-1]]


def test_every_game_has_a_page_that_opens_with_its_answer_in_one_sentence_and_answers_three_questions():
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    assert set(PAGES) == set(GAMES)
    for game, page in PAGES.items():
        found = re.findall(r"^\| (Is it fair\?|At which size\?|Which variation\?) \|", page, re.MULTILINE)
        assert found == ["Is it fair?", "At which size?", "Which variation?"]
        for heading in ("## What is proved, computed, measured and not known", "## Recommended"):
            assert heading in page, game
        assert f"<games/{game}>" in index
        title, answer, letter = page.split("\n\n")[:3]
        assert title.startswith("# ")
        assert re.fullmatch(r"\*\*[^.?!]+\.\*\*", " ".join(answer.split()))
        assert letter.startswith("Dear Leroy Quet, ")


def sizes_in(text):
    """Return the sizes that a cell lists, such as "4, 25 to 28"."""
    sizes = set()
    for part in text.split(", "):
        low, _, high = part.partition(" to ")
        sizes |= set(range(int(low), int(high or low) + 1))
    return sizes


def test_coprimality_is_as_its_page_and_that_of_the_lab_say():
    documented = {seat: sizes_in(row("coprimality", f"seat {seat}")[0]) for seat in (0, 1)}
    assert documented[0] | documented[1] == set(range(4, 101))
    assert not documented[0] & documented[1]
    margins = {size: margin("coprimality", size=size) for size in range(3, 13)}
    by_seat = [[size for size, worth in margins.items() if worth == sign] for sign in (1, -1)]
    assert all(set(sizes) <= documented[seat] for seat, sizes in enumerate(by_seat))
    sentence = r"seat 0 wins at sizes ([\d, and]+), seat 1 at ([\d, and]+); size 3 is a draw\."
    [found] = re.findall(sentence, " ".join(LAB.split()))
    assert [list(map(int, re.findall(r"\d+", part))) for part in found] == by_seat
    assert margins[3] == 0


@pytest.mark.parametrize(("size", "winner"), [(11, 0), (30, 1)])
def test_at_two_sizes_of_coprimality_nobody_can_go_wrong(size, winner):
    graph = explore(make_game("coprimality", size=size), "coprimality", Limits())
    assert {end.ranks.index(1) for end in graph.ends.values()} == {winner}
    assert {end.ranks.count(1) for end in graph.ends.values()} == {1}
    assert f"seat {winner} at {size}" in PAGES["coprimality"]


@pytest.mark.slow
def test_the_examples_of_the_lab_run(capsys):
    oracle, shares, kernels = re.findall(r"```python\n(.*?)```", LAB, re.DOTALL)
    names = {}
    exec(kernels, names)
    assert names["totals"].played == 1000
    exec(oracle, names)
    assert capsys.readouterr().out.startswith("Worth(margin=0, outcome=<Outcome.DRAW: 'draw'>, ")
    assert (2, 1) in names["best"]
    exec(shares, names)
    assert capsys.readouterr().out == "(1.0, 0.0, 0.5) (0.5, 0.0, 0.0) ((2, 12),)\n"


def test_the_tournament_file_on_the_page_is_accepted_and_every_package_on_the_pages_lists_its_names():
    (block,) = re.findall(r"```toml\n(.*?)```", (DOCS / "reference" / "tournament_file.md").read_text(), re.DOTALL)
    TournamentFile.model_validate(tomllib.loads(block))
    texts = [page.read_text() for page in (DOCS / "reference").glob("*.md")]
    packages = [name for text in texts for name in re.findall(r"<!-- names: (\S+) -->", text)]
    assert sorted(packages) == ["arena", "arena.botkit", "arena.games", "arena.games.conformance", "arena.ratings"]


PACKAGE = Path(__file__).parents[2] / "arena"
DESIGN = (PACKAGE / "DESIGN.md").read_text(encoding="utf-8")

OF_THEIR_OWN = {"match/check/test_check.py", "analysis/text/test_notebook.py", "lab/test_random_play.py"}
"""Tables that a sixth game need not be in."""


def tables_of_games():
    """Yield the modules with a table or classes of all games, as the page names them."""
    for root in (PACKAGE, PACKAGE.parent / "tests"):
        for path in root.rglob("*.py"):
            nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
            tables = [{getattr(key, "value", None) for key in node.keys} for node in nodes if type(node) is ast.Dict]
            classes = " ".join(node.name.lower() for node in nodes if type(node) is ast.ClassDef)
            if any(keys >= set(GAMES) for keys in tables) or all(name in classes for name in GAMES):
                yield str(path.relative_to(root))


def places_of(game):
    """Return the places that a built-in game must be in, in the order of DESIGN, and whether it is in each."""
    return {
        "its file": GAMES[game].__module__ == f"arena.games.{game}",
        "GAMES": True,
        "lab/advice.py": game in ADVICE,
        "botkit/observations.py": hasattr(observations, f"{game.title()}Observation"),
        "server/operations/contest_changes.py": game in contest_changes.GAMES,
        "tournaments/NAME.toml": (PACKAGE.parent / "tournaments" / f"{game}.toml").exists(),
        "protocol.md": f"### {game}" in (PACKAGE.parent / "protocol.md").read_text(encoding="utf-8"),
        "docs/games/NAME.md": game in PAGES,
        "games/variants.py": game in {name for name, _ in VARIANTS.values()},
        "games/reference.py": game in REFERENCE,
        "bots/test_bots.py": game in SMALL,
        "benchmarks/advice.py": game in BOARDS,
    }


def test_every_game_is_in_the_places_that_the_design_names():
    (count, places, others) = re.search(
        r"^\| a sixth built-in game \| (\d+): (.*?)\. (.*) \|$", DESIGN, re.MULTILINE
    ).groups()
    code, rest = ([one or other for one, other in re.findall(r"`(.+?)`|(its file)", part)] for part in (places, others))
    known = list(places_of("plaid"))
    assert (len(code), [*code, *rest[: len(known) - len(code)]]) == (int(count), known)
    missing = [f"{game} is not in {place}" for game in GAMES for place, is_in in places_of(game).items() if not is_in]
    assert not missing, "\n".join(missing)


@pytest.mark.slow
def test_every_table_of_all_games_is_named_in_the_design():
    (row,) = re.findall(r"^\| a sixth built-in game \| (.*) \|$", DESIGN, re.MULTILINE)
    named = {name.replace("GAMES", "games/__init__.py") for name in re.findall(r"`(.+?)`", row)}
    expected = set(tables_of_games()) - OF_THEIR_OWN
    assert named >= expected
    assert len(expected) >= 7
