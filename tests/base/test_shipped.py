import os
from importlib.util import find_spec
from pathlib import Path

import pytest

import arena
from arena.base import shipped
from arena.base.errors import BotDefinitionError, UnknownNameError
from arena.base.shipped import bot_path, code_digest, package_directory, path_of, protocol_text, tournament_path
from arena.community.submissions.submission import submit
from arena.match.players.manifest import load_bot
from arena.store.home import ArenaHome
from arena.tournament.definition import find_entrant, load_definition

TOURNAMENT = """
game = "differences"
[[entrants]]
bot = "{0}greedy"
[[entrants]]
bot = "{0}mcts"
args = ["--rollouts", "5"]
"""


def test_an_example_bot_or_tournament_is_the_same_by_its_name_and_by_its_path(tmp_path):
    named, found = load_bot("arena:greedy"), load_bot(bot_path("arena:greedy"))
    assert named == found
    assert named.label == "greedy@1"
    assert load_definition("arena:quickstart").name == "quickstart"
    bots = bot_path("arena:greedy").parent
    by_name, by_path = tmp_path / "by_name.toml", tmp_path / "by_path.toml"
    by_name.write_text(TOURNAMENT.format("arena:"))
    by_path.write_text(TOURNAMENT.format(f"{bots}/"))
    assert load_definition(by_name).identity() == load_definition(by_path).identity()
    assert load_definition(by_name).to_json()["places"] == load_definition(by_path).to_json()["places"]


def test_the_prefix_is_suggested_where_it_was_forgotten_and_an_earlier_bot_of_that_name_is_found(tmp_path):
    with pytest.raises(BotDefinitionError, match="no such file or directory; did you mean 'arena:greedy'"):
        load_bot("greedy")
    with ArenaHome(tmp_path) as home, pytest.raises(BotDefinitionError) as error:
        find_entrant("greedy", (), tmp_path, home.bots)
    assert str(error.value).endswith(f"file or directory {str(tmp_path / 'greedy')!r}; did you mean 'arena:greedy'?")
    with pytest.raises(BotDefinitionError, match=r"no such file or directory$"):
        load_bot("greediest")
    # Names that begin with ``arena:`` were allowed before they meant anything.
    asked = []

    class Bots:
        def find(self, text, args=()):
            asked.append(text)
            return load_bot("arena:minimal")

    assert find_entrant("arena:mine", (), tmp_path, Bots()).name == "minimal"
    assert asked == ["arena:mine"]


@pytest.mark.parametrize(
    ("find", "text", "sentence"),
    [
        (bot_path, "arena:gredy", "unknown bot 'arena:gredy': did you mean 'arena:greedy'?"),
        (tournament_path, "arena:swis", "unknown tournament 'arena:swis': did you mean 'arena:swiss'?"),
    ],
)
def test_an_unknown_name_is_told_with_the_nearest(find, text, sentence):
    with pytest.raises(UnknownNameError) as error:
        find(text)
    assert str(error.value) == sentence


def test_a_name_is_no_path_and_other_texts_are():
    for name in ("", "../bots/greedy", "greedy/", "/etc", ".", "*"):
        with pytest.raises(UnknownNameError):
            bot_path(f"arena:{name}")
    assert str(bot_path("bots/greedy")) == "bots/greedy"
    assert str(tournament_path("./arena:quickstart")) == "arena:quickstart"


@pytest.mark.slow(sample=True)
def test_an_example_bot_can_be_submitted(home):
    assert submit(home, "arena:minimal").refusal is None
    assert home.bots.find("minimal").digest == load_bot("arena:minimal").digest


def test_in_an_installed_package_the_files_are_inside_it(tmp_path, monkeypatch):
    package = tmp_path / "site-packages" / "arena"
    files = package / "shipped_files"
    (files / "bots" / "one").mkdir(parents=True)
    (files / "bots" / "one" / "bot.toml").touch()
    (files / "protocol.md").write_text("# The protocol")
    (tmp_path / "site-packages" / "bots" / "other").mkdir(parents=True)  # somebody else's package
    (tmp_path / "site-packages" / "bots" / "other" / "bot.toml").touch()
    monkeypatch.setattr(shipped, "package_directory", lambda: package)
    assert bot_path("arena:one") == files / "bots" / "one"
    assert protocol_text() == "# The protocol"
    with pytest.raises(UnknownNameError, match="did you mean 'arena:one'"):
        bot_path("arena:no")


def test_the_package_is_found_from_any_room():
    assert package_directory() == Path(arena.__file__).parent
    for name in ("arena.games", "arena.base.shipped", "arena.sandbox.isolation.fork_server"):
        spec = find_spec(name)
        found = spec.submodule_search_locations[0] if spec.submodule_search_locations else spec.origin
        assert path_of(name) == Path(found)


def change(package, name, text):
    """Give a file a text, and a time that no other file has had."""
    (package / name).parent.mkdir(parents=True, exist_ok=True)
    (package / name).write_text(text)
    os.utime(package / name, ns=(0, change.time_ns))
    change.time_ns += 1


change.time_ns = 1


def test_the_digest_of_the_code_follows_every_python_file(tmp_path, monkeypatch):
    monkeypatch.setattr(shipped, "package_directory", lambda: tmp_path)
    digests = []

    def note():
        code_digest.cache_clear()
        digests.append(code_digest())

    try:
        note()
        change(tmp_path, "a.py", "1")
        note()
        change(tmp_path, "room/inner/b.py", "1")
        note()
        change(tmp_path, "room/inner/b.py", "2")  # the same size
        note()
        (tmp_path / "room").rename(tmp_path / "other")  # the same times
        note()
        monkeypatch.setattr(shipped, "__version__", "next")
        note()
        assert len(set(digests)) == 6
        change(tmp_path, "other/__pycache__/b.py", "1")
        change(tmp_path, "other/b.txt", "1")
        (tmp_path / ".#a.py").symlink_to("nothing")
        (tmp_path / "other" / "round").symlink_to(tmp_path)
        note()
        assert digests[-1] == digests[-2]
    finally:
        code_digest.cache_clear()
