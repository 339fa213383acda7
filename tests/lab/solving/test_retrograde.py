"""Tables against hand-solved boards, published results, and plain recursion; games that contradict themselves."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.base.errors import GameError
from arena.games import make_game
from arena.games.checked_game import checked_game
from arena.lab.solving import tables
from arena.lab.solving.limits import Limits, TimeIsUpError, TooLargeError, bytes_per_state, count_states
from arena.lab.solving.search import Search
from arena.lab.solving.state_graph import Retrograde, explore, paranoid_of, shares_of
from arena.lab.solving.tables import TableError, TableFile, rules_version, save_table, table_path
from arena.lab.solving.worth import Known, ranks_follow_scores, worth_between
from tests.games.variants import PIES, VARIANTS
from tests.lab import games

OUTCOMES = {"win": 1, "draw": 0, "loss": -1}


def solved(game, path=games.PATH):
    """Return (outcome, margin) of the first state by a table and by a search, which are equal."""
    table = Retrograde(explore(game, path, Limits()))
    found = Search(game, Limits()).bounds(game.initial_state())
    assert found.low == found.high == table.values[0]
    worth = worth_between(found.low, found.high, Known.TABLE)
    return OUTCOMES[worth.outcome], worth.margin


PUBLISHED = [
    ("hex:Hex", {"size": 2, "swap": "no"}, 1),  # the first player wins Hex (J. Nash, by strategy stealing)
    ("hex:Hex", {"size": 2, "swap": "yes"}, -1),  # so the second one wins when it may swap
    ("domineering:Domineering", {"width": 2, "height": 2}, 1),  # Breuker, Uiterwijk, van den Herik, "Solving 8 × 8
    ("domineering:Domineering", {"width": 3, "height": 3}, 1),  # Domineering", Theoretical Computer Science 230 (2000):
    ("domineering:Domineering", {"width": 2, "height": 3}, 1),  # whoever begins wins on these boards
]


@pytest.mark.parametrize(("path", "options", "expected"), PUBLISHED)
def test_games_from_outside_have_their_published_values(path, options, expected):
    assert solved(checked_game(make_game(path, **options), path), path)[0] == expected


SMALL = {
    **{
        name: (game, options)
        for name, (game, options) in (VARIANTS | PIES).items()
        if options.get("players", 2) == 2 and game != "multiplication"  # its smallest board has ten million states
    },
    **games.SMALL,
}


@pytest.mark.parametrize(("name", "options"), SMALL.values(), ids=SMALL)
def test_table_and_search_agree_with_plain_recursion_and_states_are_counted_before_they_are_found(name, options):
    game = make_game(name, **options)
    assert solved(game, name) == games.plain_value(game, game.initial_state())
    game = make_game(name, **options)
    assert count_states(game, name) in (len(explore(game, name, Limits())), None)


@pytest.mark.parametrize("players", [2, 3])
def test_sheets_are_counted_whatever_their_sides_and_lines(players):
    sheets = [(width, height) for width in range(1, 5) for height in range(1, 5) if width * height % players == 0]
    for width, height in sheets:
        for lines in range(1, width + height - 1):
            game = make_game("plaid", players=players, width=width, height=height, lines=lines)
            assert count_states(game, "plaid") == len(explore(game, "plaid", Limits())), (width, height, lines)


def test_the_states_of_the_numbering_are_counted_one_by_one():
    game = make_game("multiplication", size=7)
    state = games.after(game, enumerate((2, 4, 6, 1, 3, 5, 7), 1))
    orders = len(explore(game, "multiplication", Limits(), state))
    partial = sum((1, 7 * 7, 42 * 42 // 2, 210 * 210 // 6, 840 * 840 // 24, 2520 * 2520 // 120, 5040 * 5040 // 720))
    assert count_states(game, "multiplication") == partial + 5040 * orders


def trees(players):
    """Return a strategy for tables: positions lead to later ones, and the last ones end the match."""
    scores = st.tuples(*[st.integers(-2, 2)] * players)

    @st.composite
    def table(draw):
        size = draw(st.integers(1, 14))
        positions = [(None, draw(scores))]
        for at in reversed(range(size)):
            if at > 0 and draw(st.integers(0, 3)) == 0:
                positions.append((None, draw(scores)))
            else:
                after = draw(st.lists(st.integers(at + 1, size), min_size=1, max_size=3))
                positions.append((draw(st.integers(0, players - 1)), after))
        return tuple(reversed(positions))

    return table()


@pytest.mark.parametrize("kind", [games.OfATable, games.RanksByThemselves])  # a rank comes before the score
@given(positions=trees(2))
def test_random_games_have_the_value_of_plain_recursion(kind, positions):
    game = games.game_of(positions, kind)
    assert solved(game) == games.plain_value(game, 0)


@settings(max_examples=60)
@given(trees(3))
def test_shares_of_three_seats_are_those_of_plain_recursion(positions):
    game = games.game_of(positions, players=3)
    graph = explore(game, games.PATH, Limits())
    assert shares_of(graph, 3)[0] == games.plain_shares(game, 0)
    assert paranoid_of(graph, 3) == [tuple(games.plain_held(game, 0, seat) for seat in range(3))]


def test_the_rank_of_one_seat_may_not_follow_its_score():
    assert solved(games.game_of(games.ENDS, games.RanksByThemselves)) == (1, -3)
    assert not ranks_follow_scores(games.RanksByThemselves())
    assert ranks_follow_scores(make_game("plaid"))


CONTRADICTIONS = [
    (games.OfATable, ((0, (1,)), (1, (2,)), (0, (1, 3)), (None, (0, 0))), "apply leads back to an earlier state after 2"
     " actions: take0 take0"),
    (games.OfATable, ((0, (0,)),), "apply leads back to an earlier state after 1 action: take0"),
    (games.Endless, (), "apply leads to matches of more than 10,000 actions"),
    (games.Forgetful, (), "initial_state returned a state that is no value: those of two calls are not equal"),
    (games.OfLists, (), "apply returned a state that is no value: list can't be hashed"),
    (games.InPlace, games.ENDS, "apply returned a state that is no value: take0 changed the state that it was applied"
     " to"),
    (games.Random, games.ENDS, "apply returned a state that is no value: take0 led to two states that are not equal"),
    (games.LateScores, games.ENDS, "scores changed after the end of a match: (0, 0), (1, 0)"),
    (games.ActsOn, games.ENDS, "legal_actions returned actions after the end of a match: [0, 1]"),
    (games.Remembers, ((0, (1, 1)), (None, (0, 0))), "scores changed after the end of a match: (0, 0), (1, 0) in an"
     " equal state"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "positions", "problem"), CONTRADICTIONS)
def test_rules_that_contradict_themselves_have_a_sentence_and_no_value(kind, positions, problem):
    with pytest.raises(GameError) as caught:
        solved(games.game_of(positions, kind))
    assert str(caught.value) == f"the game {games.PATH!r} is at fault: {problem}"


def test_exploring_stops_at_the_deadline_and_when_the_memory_is_full():
    with pytest.raises(TimeIsUpError):
        explore(make_game("plusminus", size=4), "plusminus", Limits(deadline=1.0, clock=iter((0.0, 1.0)).__next__))
    game = make_game("plusminus", size=4)
    limits = Limits(memory_bytes=3000 * bytes_per_state(game))
    with pytest.raises(TooLargeError, match=r"a table of the states found so far takes about .* may be used"):
        explore(game, "plusminus", limits)


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
