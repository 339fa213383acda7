from arena.analysis.measures.noted_numbers import MAX_KEYS, noted_numbers
from tests.site.matches import record


def played(notes):
    """Return a record of eight plies, two of them the opening, in which a@1 and b@1 act in turn."""
    actions = [[ply % 2, "+"] for ply in range(8)]
    return record(actions, opening_plies=2, notes=list(notes.items()), bots=("a@1", "b@1"))


def test_means_are_by_bot_ply_and_phase_and_what_is_no_number_does_not_count():
    first = played({2: {"depth": 1, "nodes": 10}, 4: {"depth": 3}, 6: {"depth": 5}, 7: {"depth": -2.5}})
    second = played({2: {"depth": 2}, 3: {"depth": 0}})
    depth, nodes, rivals = noted_numbers([first, second])
    assert (depth.bot, depth.key, nodes.key, rivals.bot) == ("a@1", "depth", "nodes", "b@1")
    assert (depth.all.count, depth.all.value, depth.least, depth.most) == (4, 11 / 4, 1, 5)
    assert [mean.value for mean in depth.phases] == [1.5, 3.0, 5.0]  # plies 2–3, 4–5 and 6–7 of those after the opening
    assert {ply: mean.value for ply, mean in depth.plies.items()} == {3: 1.5, 5: 3.0, 7: 5.0}
    assert [mean.value for mean in rivals.phases] == [0.0, None, -2.5]
    assert [one.bot for one in noted_numbers([first, second], ["b@1"])] == ["b@1"]
    strange = {2: "depth 9", 3: ["x", 1], 4: {"on": True, "name": "x", "in": {"a": 1}, "none": None, "x" * 500: 1}}
    (line,) = noted_numbers([played(strange)])
    assert len(line.key) <= 80
    assert list(noted_numbers([played({2: {"nan": float("nan"), "whole": 10**400, "inf": float("inf")}})])) == []
    (large,) = noted_numbers([played({2: {"k": 1e300}, 4: {"k": 1e300}, 6: {"k": 1.7e308}})])
    assert (large.all.value, large.most) == (1e300, 1e300)
    many = played({ply: {f"k{ply} {k}": k for k in range(MAX_KEYS)} for ply in (2, 4, 6)})
    assert len(noted_numbers([many])) == MAX_KEYS
