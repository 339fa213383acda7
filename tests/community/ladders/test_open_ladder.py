import pytest

from arena.base.errors import DefinitionError
from arena.community.ladders.open_ladder import OpenLadder
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
