import json

import pytest

from arena.games import make_game
from arena.lab.solving import tables
from arena.lab.solving.tables import TableError, TableFile, rules_version, save_table, table_path
from tests.lab import games

SAVED = [("plusminus", {"size": 3}), ("plaid", {"width": 4, "height": 3, "lines": 3}), ("coprimality", {"size": 4})]


@pytest.mark.parametrize(("name", "options"), SAVED, ids=str)
def test_every_value_is_read_back(name, options, tmp_path):
    game = make_game(name, **options)
    values = games.values_by_table(game, name)
    file = table_path(game, name, tmp_path)
    save_table(game, name, values.items(), file)
    with TableFile(game, name, file) as table:
        assert len(table) == len(values)
        assert {state: table.value(state) for state in values} == values
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


@pytest.fixture
def game():
    return make_game("plusminus", size=3)


@pytest.fixture
def file(game, tmp_path):
    file = tmp_path / "plusminus.table"
    save_table(game, "plusminus", games.values_by_table(game, "plusminus").items(), file)
    return file


def test_each_set_of_options_has_a_file_and_each_source_of_rules_a_version_of_its_own(tmp_path, monkeypatch):
    kinds = [make_game("plusminus", size=size, grid_first=first) for size in (3, 4) for first in (1, 2)]
    assert len({table_path(one, "plusminus", tmp_path) for one in kinds}) == 4
    assert rules_version(make_game("plusminus")) == rules_version(make_game("plusminus", size=3))
    monkeypatch.syspath_prepend(tmp_path)
    versions = []
    for name, text in (("first_rules", "1"), ("same_rules", "1"), ("other_rules", "2")):
        (tmp_path / f"{name}.py").write_text(
            f"from tests.lab.games import OfATable\nclass G(OfATable):\n    x = {text}\n"
        )
        versions.append(rules_version(getattr(__import__(name), "G")()))  # noqa: B009
    assert versions[0] != versions[2]
    assert rules_version(games.OfATable()) not in versions


def test_a_table_of_other_options_or_rules_or_with_a_changed_byte_is_refused(game, file, monkeypatch):
    whole = file.read_bytes()
    begin = whole.index(b"\n", len(tables.KIND)) + 1
    for place in [*range(0, begin, 7), *range(begin, len(whole), 1009), len(whole) - 1]:
        damaged = bytearray(whole)
        damaged[place] ^= 1
        file.write_bytes(damaged)
        with pytest.raises(TableError, match=r"^table .*: "):
            TableFile(game, "plusminus", file)
    with pytest.raises(TableError, match="its checksum is wrong, so it is damaged; solve the game again with --save"):
        TableFile(game, "plusminus", file)  # the last byte is another one
    file.write_bytes(whole)
    TableFile(game, "plusminus", file).close()
    other = make_game("plusminus", size=4)
    with TableFile(game, "plusminus", file) as table:
        assert table.value(other.initial_state()) is None
    with pytest.raises(TableError, match=r"it is of plusminus \{'grid_first': 1, 'size': 3\}; solve the game again"):
        TableFile(other, "plusminus", file)
    monkeypatch.setattr(tables, "rules_version", lambda _game: "0123456789abcdef")
    with pytest.raises(TableError, match="it was made by other rules of plusminus; solve the game again with --save"):
        TableFile(game, "plusminus", file)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "can't be read: cannot mmap an empty file"),
        (b"hello", "this is no table of values; expected one that --save has written"),
        (tables.KIND, "its header is torn; solve the game again with --save"),
        (tables.KIND + b" " * 70000 + b"\n", "its header is torn"),
        (tables.KIND + b"{]\n", "its header is damaged"),
        (tables.KIND + b"[" * 60000 + b"\n", "its header is damaged"),
        (tables.KIND + b"\xff\n", "its header is damaged"),
        (tables.KIND + b'{"game": "plusminus"}\n', r"its header is damaged \(.* has no field 'options'\)"),
    ],
)
def test_what_is_no_table_is_refused(game, file, content, problem):
    file.write_bytes(content)
    with pytest.raises(TableError, match=problem):
        TableFile(game, "plusminus", file)


@pytest.mark.parametrize("states", [-1, 10**18, 2**63])
def test_a_header_of_another_length_is_refused(game, file, states):
    head, _, body = file.read_bytes()[len(tables.KIND) :].partition(b"\n")
    header = json.dumps({**json.loads(head), "states": states}).encode()
    for torn in (tables.KIND + header + b"\n" + body, file.read_bytes()[:-1]):
        file.write_bytes(torn)
        with pytest.raises(TableError, match=r"it has [\d,]+ bytes, expected [\d,]+; solve the game again with --save"):
            TableFile(game, "plusminus", file)


def test_what_can_t_be_saved_has_a_sentence(game, tmp_path):
    state = game.initial_state()
    with pytest.raises(TableError, match="two states have the same observation"):
        save_table(game, "plusminus", [(state, 0), (state, 0)], tmp_path / "t")
    assert not (tmp_path / "t").exists()
    (tmp_path / "file").write_text("")
    with pytest.raises(TableError, match=r"can't be written: .+"):
        save_table(game, "plusminus", [(state, 0)], tmp_path / "file" / "t")
