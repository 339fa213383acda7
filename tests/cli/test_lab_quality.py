"""``arena lab quality``: its text, its files, and what it refuses."""

import json

import pytest

from tests.cli.calls import calling


@pytest.fixture
def quality(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    call = calling(tmp_path / "home", capsys)
    return lambda *arguments: call("lab", "quality", *arguments)


SMALL = ("differences", "-o", "size=2", "--encounters", "10", "--doublings", "0")


def test_the_text_has_eleven_measures_and_is_80_columns_wide(quality):
    code, out, err = quality(*SMALL)
    assert code == 0
    assert [line[:2] for line in out.splitlines() if line[:2].strip()][1:12] == [
        f"{number:>2}" for number in range(1, 12)
    ]
    assert "margin of seat 0, size 2                          0  exact (proved)" in out
    assert max(map(len, out.splitlines())) <= 80
    assert err.count("differences: ") == 7


def test_the_file_of_the_same_seed_has_the_same_bytes(quality, tmp_path):
    for name in ("one", "two"):
        files = ("--json", str(tmp_path / name), "--html", str(tmp_path / f"{name}.html"))
        assert quality(*SMALL, "-q", *files) == (0, "", "")
    one, two = ((tmp_path / name).read_bytes() for name in ("one", "two"))
    assert one == two
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()
    shown = json.loads(one)
    assert (shown["game"], shown["options"]["size"], shown["rng_seed"], len(shown["measures"])) == (
        "differences",
        2,
        0,
        11,
    )


def test_two_values_of_an_option_are_put_side_by_side(quality, tmp_path):
    code, out, _ = quality(*SMALL, "--compare", "scoring=distinct,once", "--json", str(tmp_path / "file"))
    assert code == 0
    assert " distinct      once  larger by" in out
    assert "Which is more fun: not known without votes (194" in " ".join(out.split())
    assert max(map(len, out.splitlines())) <= 80
    shown = json.loads((tmp_path / "file").read_text())
    assert [one["options"]["scoring"] for one in shown["profiles"]] == ["distinct", "once"]
    assert len(shown["differences"]) > 30


@pytest.mark.slow(sample=True)
def test_a_game_from_outside_is_measured_by_its_rules(quality):
    code, out, _ = quality("tests.lab.games:OfATable", "--encounters", "10", "--doublings", "0")
    assert code == 2
    code, out, _ = quality("tests.amazons:Amazons", "--encounters", "10", "--doublings", "0", "--within", "1s")
    assert (code, "11 Length and branching" in out) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("chess",), "chess"),
        (("differences", "-o", "size=1"), "size = 1"),
        (("differences", "--within", "soon"), "'soon': expected a duration such as 60s, 5m or 2h"),
        (("differences", "--encounters", "1"), "1 is not in the range 10<=x<=100000"),
        (("differences", "--doublings", "40"), "40 is not in the range 0<=x<=12"),
        (("differences", "--compare", "scoring"), "--compare 'scoring': expected an option and two values"),
        (("differences", "--compare", "scoring=once"), "expected an option and two values"),
        (("differences", "--compare", "scoring=once,once"), "expected an option and two values"),
        (("differences", "--compare", "scoring=once,twice"), "twice"),
        (("differences", "--compare", "colour=red,blue"), "colour"),
        (("differences", "-o", "size=4", "--compare", "size=4,5"), "size is given by --option as well"),
        (("differences", "--json", "/nowhere/at/all"), "'/nowhere/at/all' can't be written"),
        (("differences", "--json", "/"), "'/' can't be written"),
        (("differences", "--html", "/nowhere/at/all"), "'/nowhere/at/all' can't be written"),
    ],
)
def test_bad_input_is_a_sentence(quality, arguments, expected):
    code, out, err = quality(*arguments)
    assert (code, out) == (2, "")
    assert expected in err
    assert "Traceback" not in err
