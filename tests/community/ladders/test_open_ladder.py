from dataclasses import replace

import pytest

from arena.base.errors import DefinitionError
from arena.community.ladders.open_ladder import OpenLadder
from arena.store.home import ArenaHome
from arena.tournament.definition import load_definition
from arena.tournament.resumption import create_or_resume
from tests.community.ladders.conftest import LADDER
from tests.written_bots import kit_bot


def submit_bot(home, tmp_path, name, version, index=0, games='["differences"]'):
    directory = tmp_path / f"{name}-{version}"
    directory.mkdir()
    (directory / "bot.py").write_text(kit_bot(action=f"game.legal_actions(state)[{index}]"))
    (directory / "bot.toml").write_text(
        f'name = "{name}"\nversion = "{version}"\ncommand = ["python3", "bot.py"]\ngames = {games}\n'
    )
    home.bots.add(home.bots.copy_in(directory))


def labels(definition):
    return [bot.label for bot in definition.entrants]


def test_a_submitted_bot_enters_and_a_new_version_takes_its_place(home, file, tmp_path):
    ladder = OpenLadder(file, home)
    assert [label.split("@")[0] for label in labels(ladder.definition())] == ["random_legal", "minimal"]
    submit_bot(home, tmp_path, "other", "1", games='["plaid"]')
    assert ladder.refresh() is None
    submit_bot(home, tmp_path, "mine", "1")
    assert labels(ladder.refresh())[2:] == ["mine@1"]
    assert ladder.refresh() is None
    submit_bot(home, tmp_path, "mine", "2", index=-1)
    assert labels(ladder.refresh())[2:] == ["mine@2"]
    home.bots.remove("mine@2")
    assert labels(ladder.refresh())[2:] == ["mine@1"]


def test_neither_a_bot_with_the_name_of_one_of_the_file_nor_one_whose_files_have_gone_enters(home, file, tmp_path):
    submit_bot(home, tmp_path, "minimal", "99")
    submit_bot(home, tmp_path, "mine", "1", index=-1)
    assert labels(OpenLadder(file, home).definition())[2:] == ["mine@1"]
    (bot,) = (one for one in home.store.submitted_bots() if one.name == "mine")
    for path in (home.directory / "bots" / bot.digest).iterdir():
        path.unlink()
    assert len(OpenLadder(file, home).definition().entrants) == 2
    file.write_text(LADDER.replace('"ladder"', '"round-robin"').replace("[ladder]\nmatches = 6\n", ""))
    with pytest.raises(DefinitionError, match="expected 'ladder'"):  # nothing else is always open
        OpenLadder(file, home)


DIGESTS = {"random_legal@1": "7540272821baf649", "greedy@1": "a311474e9e584511", "mcts@2": "f47dc76ee0638f0e"}
"""Of the files of each version. A ladder that is played refuses other files under a version that it knows."""


def test_other_files_have_another_version():
    found = {bot.label: bot.digest for bot in load_definition("arena:open_ladder").entrants}
    assert found == DIGESTS, "give the bot that has changed another version in its bot.toml, and add its digest here"


def test_another_version_enters_a_ladder_that_is_played_in_place_of_the_one_before(tmp_path):
    with ArenaHome(tmp_path) as home:
        ladder = OpenLadder("arena:open_ladder", home).definition()
        *others, last = ladder.entrants
        before = replace(last, version="0", digest="0" * 16)
        create_or_resume(replace(ladder, entrants=(*others, before)), home.store)
        resumed, _ = create_or_resume(ladder, home.store)
    assert resumed.entrants == (*others, before, last)
    assert resumed.active == frozenset({0, 1, 3})
