import json
import re
import shutil
import subprocess
import sys

import pytest

from arena.store.people.people_store import PeopleStore
from tests.cli.calls import as_json, calling, played_in, printed, refusal, shown
from tests.conftest import BOTS

ENTRANTS = "".join(f'[[entrants]]\nbot = "{BOTS / name}"\n' for name in ("minimal", "random_legal", "greedy"))
GAMES_FILE = f"""
encounters = 6
[[games]]
game = "differences"
options = {{ size = 5 }}
[[games]]
game = "multiplication"
options = {{ size = 7 }}
{ENTRANTS}"""
SWISS_FILE = f'game = "differences"\noptions = {{ size = 5 }}\nformat = "swiss"\n[swiss]\nrounds = 3\n{ENTRANTS}'


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return played_in(tmp_path_factory.mktemp("directors"), small_swiss=SWISS_FILE, two_games=GAMES_FILE)


@pytest.fixture
def arena(directory, capsys):
    return calling(directory / "home", capsys)


@pytest.mark.slow(sample=True)
def test_a_schedule_is_shown_with_counts_time_and_fairness(arena, directory):
    out = printed(arena, "schedule", directory / "two_games.toml", "--workers", "2")
    assert "two_games: round-robin, 3 entrants, differences for 2, multiplication for 2" in out
    assert "72 matches in 36 encounters and 36 rounds" in out
    assert re.search(r"expected time: [\d.]+ seconds with 2 at a time \(measured for a match: differences [\d.]+", out)
    rows = as_json(arena, "schedule", directory / "two_games.toml")
    assert {row["kind"] for row in rows} == {"matches", "in a seat", "meets", "acts right after"}
    assert all(row["imbalance"] == 0 for row in rows)
    matches = as_json(arena, "schedule", directory / "two_games.toml", "--matches")
    assert [row["match"] for row in matches] == list(range(1, 73))
    assert all(len(row["opening"]) == 2 for row in matches)
    played = [json.loads(line) for line in arena("export", "two_games")[1].splitlines()]
    assert [[bot.partition("@")[0] for bot in one["bots"]] for one in played] == [row["bots"] for row in matches]


def test_nothing_is_played_and_nothing_stored_by_looking(arena, directory, tmp_path):
    path = tmp_path / "unseen.toml"
    path.write_text(SWISS_FILE.replace("size = 5", "size = 6"))
    assert "expected time: unknown" in printed(arena, "schedule", path)
    assert arena("standings", "unseen")[0] == 2


def test_a_swiss_is_shown_by_score_and_tie_breaks(arena):
    sentence, first, _, second = printed(arena, "standings", "small_swiss").split("\n\n")[:4]
    assert sentence == "minimal, random_legal and greedy share the first rank."
    assert first.splitlines()[0].split() == ["place", "bot", "score", "BH-C1", "BH", "SB", "DE", "WON"]
    assert second.splitlines()[0].split()[:3] == ["rank", "bot", "exposure"]
    places = as_json(arena, "standings", "small_swiss", "--places")
    assert list(places[0]) == ["place", "bot", "score", "bh_c1", "bh", "sb", "de", "won"]
    assert sum(row["score"] for row in places) == 3 + 3  # a meeting and a bye in each of three rounds
    assert "round-robin has no table of its own" in refusal(arena, "standings", "two_games", "--places")


def test_stats_tell_what_the_numbers_rest_on(arena):
    out = printed(arena, "stats", "two_games")
    for title in ("Games.", "Groups.", "Who is better.", "Time used."):
        assert title in out
    assert "Bradley-Terry, fitted independently, agrees" in out
    found = as_json(arena, "stats", "two_games")
    games = {row["game"]: row for row in found["games"]}
    assert games.keys() == {"differences", "multiplication"}
    for row in games.values():
        assert (row["matches"], row["encounters"]) == (36, 18)
        assert row["seat_0"]["value"] + row["seat_1"]["value"] == pytest.approx(1.0)
        assert row["decisive_percent"] == pytest.approx(100 * (1 - row["draws"]["value"]))
    assert sum(row["weight_percent"] for row in found["nash"]) == pytest.approx(100)
    assert [row["bot"] for row in found["seats"]] == [row["bot"] for row in found["better"]]
    means = [sum(row[f"seat_{seat}_percent"] for row in found["seats"]) / 3 for seat in (0, 1)]
    assert sum(means) == pytest.approx(100)
    records = [json.loads(line) for line in arena("export", "two_games")[1].splitlines()]
    seconds = [s for one in records for (seat, _), s in zip(one["actions"], one["wall_seconds"], strict=True)
               if s is not None and one["bots"][seat] == "greedy@1"]  # fmt: skip
    times = {row["bot"]: row for row in found["times"]}["greedy"]
    assert times["actions"] == len(seconds)
    assert times["mean_ms"] == pytest.approx(1000 * sum(seconds) / len(seconds))
    assert times["p99_ms"] == pytest.approx(1000 * sorted(seconds)[-(-99 * len(seconds) // 100) - 1], rel=0.021)


@pytest.mark.slow
def test_a_better_bot_is_accepted_a_worse_one_rejected_and_equals_stay_open(arena, tmp_path):
    game = ["--game", "differences", "--option", "size=8", "-q"]
    out = printed(arena, "compare", BOTS / "greedy", BOTS / "random_legal", *game, "--elo1", "60")
    assert "accepted: greedy is better than random_legal (Elo 60 rather than 0)" in out
    out = shown(arena, 1, "compare", BOTS / "random_legal", BOTS / "greedy", *game, "--elo1", "60")
    assert "rejected: random_legal is not better than greedy" in out
    rl = BOTS / "random_legal"
    code, out, _ = arena("compare", rl, rl, *game, "--elo1", "2", "--max-encounters", "20", "--json")
    found = json.loads(out)
    assert code == 3
    assert (found["new"], found["old"], found["decision"]) == ("random_legal new", "random_legal old", "undecided")
    assert found["encounters"] + found["repeats"] == 20
    assert sum(line["encounters"] for line in found["scores"]) == found["encounters"]
    assert found["bounds"][0] < found["llr"] < found["bounds"][1]


@pytest.mark.slow
def test_the_same_comparison_goes_on_where_it_stopped(arena):
    command = ["compare", BOTS / "greedy", BOTS / "random_legal", "--game", "plusminus", "--option", "size=5", "-q"]
    command += ["--elo0", "-5", "--elo1", "5", "--opening-plies", "4", "--name", "again"]
    first = arena(*command, "--max-encounters", "16", "--json")
    assert first[0] == 3
    assert arena(*command, "--max-encounters", "32")[0] == 2  # the limit is part of it
    assert "differs in elo1;" in refusal(arena, *command, "--max-encounters", "16", "--elo1", "6")
    assert arena(*command, "--max-encounters", "16", "--json")[:2] == first[:2]


@pytest.mark.slow
def test_bots_that_always_play_the_same_are_not_counted_again_and_again(arena, tmp_path):
    """minimal always takes the first action: of plusminus' four openings, each encounter tells something once."""
    for name in ("one", "two"):
        shutil.copytree(BOTS / "minimal", tmp_path / name)
        text = (tmp_path / name / "bot.toml").read_text()
        (tmp_path / name / "bot.toml").write_text(re.sub('name = "minimal"', f'name = "{name}"', text))
    chosen = "--game plusminus --option size=5 --limit 32 -q"
    out = shown(arena, 3, "compare", tmp_path / "one", tmp_path / "two", *chosen.split())
    assert "4 encounters of 2 matches" in out
    assert "28 more encounters only repeated earlier ones" in out


@pytest.mark.slow
def test_a_comparison_says_how_many_faults_each_side_had(arena, tmp_path):
    """It dies before it says hello in every match; the other one does nothing wrong."""
    dies = tmp_path / "dies.py"
    dies.write_text("raise SystemExit(1)\n")
    command = ["compare", dies, BOTS / "minimal", "--game", "differences", "-o", "size=4", "--limit", "2", "-q"]
    out = shown(arena, 3, *command)
    assert "\nfaults  dies: 4 (start 4); minimal: none\n" in out
    assert "undecided: the limit of encounters was reached first; a verdict takes 8 encounters that differ" in out
    assert json.loads(arena(*command, "--json")[1])["faults"] == {"new": {"start": 4}, "old": {}}


@pytest.mark.slow
def test_a_comparison_of_three_lets_the_old_one_sit_twice(arena):
    chosen = "--game multiplication --option players=3 --option size=10 --max-encounters 16 --elo1 400 --json -q"
    code, out, _ = arena("compare", BOTS / "greedy", BOTS / "random_legal", *chosen.split())
    found = json.loads(out)
    assert code in (0, 1, 3)
    assert all(line["score"] * 12 == pytest.approx(round(line["score"] * 12), abs=1e-6) for line in found["scores"])
    name = "greedy against random_legal in multiplication"
    records = [json.loads(line) for line in arena("export", name)[1].splitlines()]
    assert len(records) == 48
    assert all(sorted(one["bots"]) == ["greedy@1", "random_legal@1", "random_legal@1"] for one in records)
    assert [one["bots"].index("greedy@1") for one in records[:3]] == [0, 2, 1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--elo1", "0"], "elo1 = 0: expected a number greater than elo0 = 0"),
        (["--option", "sise=4"], "did you mean 'size'"),
        (["--name", "a/b"], "name = 'a/b': expected 1 to 64"),
    ],
)
def test_a_comparison_that_makes_no_sense_is_refused(arena, arguments, message):
    words = ("compare", BOTS / "greedy", BOTS / "minimal", "--game", "differences", *arguments)
    assert message in refusal(arena, *words)


@pytest.mark.slow
def test_plots_are_pictures_of_the_tournament(arena, tmp_path):
    pytest.importorskip("matplotlib", reason="needs matplotlib")
    assert arena("plot", "two_games", "-o", tmp_path / "plots")[0] == 0
    kinds = ("course", "crosstable", "ratings", "seats", "times")
    assert sorted(path.name for path in (tmp_path / "plots").iterdir()) == [f"{kind}.svg" for kind in kinds]
    err = refusal(arena, "plot", "two_games", "-o", tmp_path / "all.png")
    assert "all.png': one file takes one plot: name it by --kind 'ratings', 'course'," in err
    assert not (tmp_path / "all.png").exists()
    assert all("greedy" in path.read_text() for path in (tmp_path / "plots").iterdir())
    assert "--kind notes: no bot has reported a number" in refusal(arena, "plot", "two_games", "--kind", "notes")
    ratings = ("plot", "two_games", "--kind", "ratings", "-o")
    assert arena(*ratings, tmp_path / "r.png")[0] == 0
    assert (tmp_path / "r.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert "expected names that end in .png or .svg" in refusal(arena, *ratings, tmp_path / "r.jpg")
    (tmp_path / "file").write_text("")
    assert "can't be written" in refusal(arena, *ratings, tmp_path / "file" / "r.svg")


@pytest.mark.slow
def test_a_report_is_written_with_as_many_matches_as_are_asked_for(arena, tmp_path):
    assert arena("report", "two_games", "-o", tmp_path / "few.html", "--matches", "5")[0] == 0
    assert "5 of 72 matches can be replayed here" in (tmp_path / "few.html").read_text()
    assert "can't be written" in refusal(arena, "report", "two_games", "-o", tmp_path / "no" / "few.html")


def without(packages, *arguments):
    """Run a command where packages can't be imported; their names are separated by spaces."""
    absent = dict.fromkeys(packages.split())
    code = f"import sys; sys.modules.update({absent}); from arena.cli.group import run; sys.exit(run(sys.argv[1:]))"
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.slow
def test_what_needs_an_extra_says_which(directory, tmp_path):
    done = without("matplotlib", "plot", "small_swiss", "--home", directory / "home")
    assert (done.returncode, "plots need the package matplotlib; try: pip" in done.stderr) == (2, True)
    home = ["--home", tmp_path / "h"]
    done = without("distributed", "run", directory / "two_games.toml", "--local-cluster", "2", *home)
    assert (done.returncode, "try: pip install 'grid-arena[dask]'" in done.stderr) == (2, True)
    done = without("psycopg", "--store", "postgresql://x@127.0.0.1:1/y", "run", directory / "two_games.toml", *home)
    assert (done.returncode, "try: pip install 'grid-arena[postgres]'" in done.stderr) == (2, True)


OF_SERVING = "starlette uvicorn anyio httptools argon2 python_multipart cryptography"


@pytest.mark.slow
def test_a_home_with_people_is_published_without_what_serves_it(directory, tmp_path):
    with PeopleStore(tmp_path / "home" / "people.sqlite3"):
        pass
    shutil.copytree(directory / "home", tmp_path / "home", dirs_exist_ok=True)
    home = ["--home", tmp_path / "home"]
    done = without(OF_SERVING, "publish", "small_swiss", tmp_path / "out", "--max-matches", "1", *home)
    assert (done.returncode, done.stderr) == (0, "")
    done = without(OF_SERVING, "units", tmp_path / "units", *home)
    sentence = "arena: arena serve needs the package starlette; try: pip install 'grid-arena[web]'\n"
    assert (done.returncode, done.stderr) == (2, sentence)
    assert not (tmp_path / "units").exists()
