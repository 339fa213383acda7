"""What a service notes of its problems, and how it is read."""

import pytest

from arena.base.programs.service_program import MAX_CHARACTERS, MAX_NOTES, HealthProblem, ProblemNote, noted_problems


def noted(home):
    return list(noted_problems(home))


def test_a_note_is_there_until_it_is_cleared(tmp_path):
    note = ProblemNote(tmp_path, "checker")
    assert noted(tmp_path) == []
    note.report("the database is away")
    note.report("the database is away")
    assert noted(tmp_path) == [HealthProblem("checker", "the database is away")]
    note.report("the disk is full")
    assert noted(tmp_path) == [HealthProblem("checker", "the disk is full")]
    note.clear()
    note.clear()
    assert noted(tmp_path) == []
    note.report("the disk is full")
    assert len(noted(tmp_path)) == 1


def test_a_program_clears_what_the_one_before_it_has_left(tmp_path):
    ProblemNote(tmp_path, "checker").report("killed meanwhile")
    ProblemNote(tmp_path, "checker").clear()
    assert noted(tmp_path) == []


def test_each_ladder_has_its_own(tmp_path):
    places = ("arena:open_ladder", "/etc/arena/spring.toml", "../../up", "a" * 1000, "\n", "Ада")
    for place in places:
        ProblemNote(tmp_path, "ladder", place).report(f"{place} can't be played")
    ProblemNote(tmp_path, "ladder", "/etc/arena/spring.toml").clear()
    assert {one.sentence[:20] for one in noted(tmp_path)} == {
        f"{place} can't be played"[:20] for place in places if "spring" not in place
    }
    assert {one.service for one in noted(tmp_path)} == {"ladder"}
    assert {path.parent.name for path in tmp_path.rglob("*.trouble")} == {"parts"}


def test_what_is_read_is_bounded(tmp_path):
    ProblemNote(tmp_path, "play").report("x" * 10_000)
    assert [len(one.sentence) for one in noted(tmp_path)] == [MAX_CHARACTERS]
    for number in range(2 * MAX_NOTES):
        ProblemNote(tmp_path, "ladder", f"{number}").report("\ud800")
    assert len(noted(tmp_path)) == MAX_NOTES


@pytest.mark.parametrize("what", ["file", "directory"])
def test_where_nothing_can_be_written_the_program_goes_on(tmp_path, what):
    if what == "file":
        (tmp_path / "parts").write_text("in the way")
    else:
        (tmp_path / "parts" / "checker.trouble").mkdir(parents=True)
    note = ProblemNote(tmp_path, "checker")
    for seconds in range(10):
        note.report(f"the database is away for {seconds} s")
    note.clear()
    assert noted(tmp_path) == []
    assert len(list(tmp_path.rglob("*"))) <= 3
