"""A checker that knows only the rules takes a certificate if it is true, and refuses it if one byte is another."""

import functools
import os
import subprocess
import zlib

import pytest

from arena.base.errors import KernelError, UsageError
from arena.base.shipped import package_directory
from arena.games import make_game
from arena.lab.certificate import MAX_STATES, prove
from arena.lab.solving.limits import Limits, TimeIsUpError
from tests import needs
from tests.cli.calls import calling
from tests.lab.brute_force import coprimality, margin_after
from tests.lab.test_advice import least

pytestmark = needs.program("cc", "gcc", "clang")


@pytest.fixture(scope="module")
def checker(tmp_path_factory):
    built = tmp_path_factory.mktemp("verify") / "verify"
    source = package_directory() / "lab" / "verify" / "verify.c"
    compiler = ["cc", "-O2", "-Wall", "-Wextra", "-Wconversion", "-Werror"]
    subprocess.run([*compiler, "-o", built, source, "-lm"], check=True)
    return built


@pytest.fixture
def check(checker, tmp_path):
    def call(text, *arguments):
        file = tmp_path / "certificate.txt"
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        done = subprocess.run([checker, file, *arguments], capture_output=True, text=True)
        return done.returncode, done.stdout if done.returncode == 0 else done.stderr

    return call


@functools.cache
def text_of(name, by_advice=False, **options):
    return prove(make_game(name, **options), name, Limits(), by_advice).text()


def sealed(text):
    """Return a changed certificate with its own checksum: what a forger writes."""
    body = text[: text.rindex("end ")]
    return f"{body}end {zlib.crc32(body.encode()):08x}\n"


CASES = {
    "differences, once": ("differences", {"size": 3, "scoring": "once"}, None),
    "plusminus, seat 1 first": ("plusminus", {"size": 3, "grid_first": 2}, None),
    "plaid, in a loss": ("plaid", {"width": 9, "height": 2, "lines": 6}, -1),  # found by strangers
    "coprimality": ("coprimality", {"size": 4, "max_grids": 2}, coprimality(4, 2)),
    "coprimality, a draw": ("coprimality", {"size": 3, "max_grids": 2}, coprimality(3, 2)),
    "multiplication": ("multiplication", {"size": 7}, 12),  # found by strangers
    "multiplication, seat 1 first": ("multiplication", {"size": 7, "second_starts": 1}, 5),
}


@pytest.mark.slow(only=("coprimality", "multiplication"), sample=("coprimality",))
@pytest.mark.parametrize(("name", "options", "value"), CASES.values(), ids=CASES)
def test_the_checker_proves_the_value_and_no_more(check, name, options, value):
    if value is None:
        margin = margin_after(name, options)
        value = (margin > 0) - (margin < 0) if name == "plaid" else margin
    text = text_of(name, **options)
    code, said = check(text, name)
    assert (code, said.splitlines()[-1]) == (0, f"proved: the value for seat 0 is exactly {value}")
    assert_no_more(check, text, value)


def assert_no_more(check, text, value):
    for seat, holds in ((0, value), (1, -value)):
        more = text.replace(f"seat {seat} holds {holds} by", f"seat {seat} holds {holds + 1} by")
        assert more != text
        code, said = check(sealed(more))
        assert (code, "is said to hold" in said or "lacks a legal action" in said) == (1, True)


SMALL = {
    "tables": ("plusminus", {"size": 3, "grid_first": 2}),
    "a list": ("coprimality", {"by_advice": True, "size": 4, "max_grids": 1}),
}


@pytest.mark.parametrize(("name", "options"), SMALL.values(), ids=SMALL)
def test_every_byte_counts(check, name, options):
    text = text_of(name, **options).encode()
    for place, byte in enumerate(text):
        other = ord("0") + (byte - ord("0") + 1) % 10 if byte in b"0123456789" else byte ^ 1
        code, said = check(text[:place] + bytes([other]) + text[place + 1 :])
        assert (code, said.startswith("refused: ")) == (2, True), (place, other)
    for length in (0, 1, 12, 13, len(text) - 14, len(text) - 1):
        assert check(text[:length])[0] == 2


LISTS = {
    "plaid, a draw": ("plaid", {"width": 6, "height": 6, "lines": 6}, ["reflection", "reflection,lead"], 0),
    "plaid, a win": ("plaid", {"width": 8, "height": 6, "lines": 6}, ["table", "reflection,lead"], 1),
    "coprimality": ("coprimality", {"size": 5}, ["safe,way,choice,inside"] * 2, 1),
    "coprimality, where the list fails": ("coprimality", {"size": 6}, ["table", "safe,way,choice,inside"], 1),
    "plusminus": ("plusminus", {"size": 3}, ["table", "copied-signs"], 0),
    "differences": ("differences", {"size": 3}, ["transposition"] * 2, 0),
}


@pytest.mark.slow(sample=("coprimality",))
@pytest.mark.parametrize(("name", "options", "rules", "value"), LISTS.values(), ids=LISTS)
def test_rules_for_people_are_checked_against_all_replies(check, name, options, rules, value):
    text = text_of(name, by_advice=True, **options)
    assert [claim[5] for claim in [line.split() for line in text.splitlines() if " holds " in line]] == rules
    code, said = check(text, name)
    assert (code, said.splitlines()[-1]) == (0, f"proved: the value for seat 0 is exactly {value}")
    assert_no_more(check, text, value)


@pytest.mark.parametrize(("width", "height", "lines"), [(4, 3, 3), (5, 4, 2), (3, 4, 4), (6, 2, 3)])
def test_a_list_that_does_not_keep_the_value_holds_what_a_stranger_finds(check, width, height, lines):
    options = {"width": width, "height": height, "lines": lines}
    head = "".join(f"option {name} {value}\n" for name, value in options.items())
    for seat in (0, 1):
        holds = least("plaid", options, seat, ["lead"])
        for more in (0, 1):
            claim = f"seat {seat} holds {holds + more} by lead\n"
            code, _ = check(sealed(f"arena certificate 1\ngame plaid\n{head}search 0\n{claim}end "))
            assert code == more


@pytest.mark.parametrize("lines", ["safe,way", "way"])
def test_a_shorter_list_that_loses_somewhere_is_refused(check, lines):
    text = text_of("coprimality", by_advice=True, size=9)  # which seat 1 wins by all four lines
    code, said = check(sealed(text.replace("seat 1 holds 1 by safe,way,choice,inside", f"seat 1 holds 1 by {lines}")))
    assert (code, said) == (1, "refused: seat 1 is said to hold 1, and does not\n")


FORGED = {
    "another version": ("certificate 1", "certificate 2", "version 2 is not known", 2),
    "another game": ("game plusminus", "game differences", 'it lacks " option once %d"', 2),
    "no game": ("game plusminus", "game chess", "it is for chess", 2),
    "too large": ("size 4", "size 13", "out of bounds", 2),
    "the rule of another game": ("copied-signs", "reflection", "seat 1 plays by reflection", 1),
    "a list with an unknown line": ("copied-signs", "copied-signs,magic", "seat 1 plays by copied-signs,magic", 1),
    "no line": ("copied-signs", ",", "refused", 1),
    "five lines": ("copied-signs", ",".join(["copied-signs"] * 5), "seat 1 plays by copied-signs", 1),
    "a third seat": ("seat 1 holds", "seat 2 holds", "seat 2 plays by copied-signs", 1),
    "an unknown rule": ("copied-signs", "magic", "seat 1 plays by magic", 1),
    "other options": ("grid_first 1", "grid_first 2", "refused", 1),
    "a longer table": ("by table 7", "by table 8", "too long", 1),
    "a shorter table": ("by table 7", "by table 6", "lacks a legal action", 1),
    "no claim": (None, None, "it claims nothing", 1),
}


@pytest.mark.parametrize(("old", "new", "reason", "expected"), FORGED.values(), ids=FORGED)
def test_a_forged_certificate_is_refused_though_its_checksum_is_right(check, old, new, reason, expected):
    text = text_of("plusminus", size=4)
    assert check(text, "plaid") == (2, "refused: it is for plusminus\n")
    changed = text[: text.index("seat 0")] + "end " if old is None else text.replace(old, new)
    assert changed != text
    code, said = check(sealed(changed))
    assert (code, said.startswith("refused: "), reason in said) == (expected, True, True), said


@pytest.mark.slow
def test_a_file_of_ten_gigabytes_is_refused_unread_and_one_that_is_not_there_named(checker, tmp_path):
    huge = tmp_path / "huge"
    with huge.open("wb") as file:
        os.truncate(file.fileno(), 10 * 2**30)
    done = subprocess.run([checker, huge], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (2, "refused: it is larger than 256 MiB\n")
    assert subprocess.run([checker, tmp_path / "none"], capture_output=True).returncode == 2


REFUSED = {
    "no game": (["chess", "--out", "c.txt"], "chess"),
    "a game from outside": (["hex:Hex", "--out", "c.txt"], "hex:Hex"),
    "three seats": (["plaid", "-o", "players=3", "--out", "c.txt"], "players = 3: certificates are for games for two"),
    "a board too large": (["coprimality", "-o", "size=41", "--out", "c.txt"], "size = 41: the checker"),
    "no rules for people": (["multiplication", "--advice", "--out", "c.txt"], "no checker knows its rules for people"),
    "a sheet of odd width": (["plaid", "-o", "width=9", "--advice", "--out", "c.txt"], "no checker knows its rules"),
    "no directory": (["differences", "--out", "none/c.txt"], "expected a file in a directory that exists"),
    "no time": (["multiplication", "--within", "0s", "--out", "c.txt"], "--within"),
}


@pytest.mark.parametrize(("arguments", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_can_not_be_proved_is_refused_and_writes_nothing(tmp_path, monkeypatch, capsys, arguments, reason):
    monkeypatch.chdir(tmp_path)
    code, out, err = calling(tmp_path / "home", capsys)("lab", "prove", *arguments)
    assert (code, out, reason in err, (tmp_path / "c.txt").exists()) == (2, "", True, False), err


def test_when_the_time_is_up_what_rules_prove_is_written_all_the_same():
    late = Limits(deadline=0.0)
    found = prove(make_game("plaid", width=8, height=8, lines=8), "plaid", late)
    assert ([(one.seat, one.holds, one.rule) for one in found.claims], bool(found.problem)) == (
        [(0, 0, "reflection")],
        True,
    )
    with pytest.raises(TimeIsUpError):
        prove(make_game("multiplication", size=7), "multiplication", late)


def test_a_board_that_no_table_holds_is_refused_at_once_with_what_a_rule_proves(monkeypatch):
    found = prove(make_game("plaid"), "plaid", Limits(memory_bytes=2**33))
    assert [(one.seat, one.holds, one.rule) for one in found.claims] == [(0, 0, "reflection")]
    assert "a table of plaid of about 10^16 states takes" in found.problem
    with pytest.raises(UsageError, match="a table of multiplication of about"):
        prove(make_game("multiplication", size=13), "multiplication", Limits(memory_bytes=2**33))
    monkeypatch.setattr("arena.lab.certificate.has_all_values", lambda game, limits: False)
    monkeypatch.setattr("arena.lab.certificate.kernel_of", lambda game: KernelError("no C compiler"))
    with pytest.raises(UsageError, match="no C compiler, and without its kernel a table of multiplication"):
        prove(make_game("multiplication", size=9), "multiplication", Limits(memory_bytes=2**33))


def test_a_walk_has_an_end(monkeypatch):
    assert MAX_STATES < 10**7
    monkeypatch.setattr("arena.lab.certificate.MAX_STATES", 3)
    with pytest.raises(UsageError, match="more than 3 states"):
        prove(make_game("coprimality", size=4), "coprimality", Limits())


def test_the_checker_has_the_size_that_was_promised():
    source = (package_directory() / "lab" / "verify" / "verify.c").read_text()
    assert len(source.splitlines()) <= 300
    assert {line.split()[1][1:-1] for line in source.splitlines() if line.startswith("#include")} == {
        "math.h", "search.h", "stdint.h", "stdio.h", "stdlib.h", "string.h"
    }  # fmt: skip
