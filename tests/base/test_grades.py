from arena.base.grades import Scheme, Student, TableLine, grades_of


def line(name, group, rank, *, forfeits=0, version="1"):
    label = f"{name}@{version}"
    return TableLine(name=name, label=label, group=group, rank=rank, matches=4, score_percent=50.0, forfeits=forfeits)


TABLE = [line("greedy", "a", 1), line("ann", "b", 2), line("bob", "b", 3), line("cy", "c", 4), line("dan", "d", 5)]
CLASS = [Student(name, (name,)) for name in ("ann", "bob", "cy", "dan", "eva", "fay", "gus", "hal")]


def grades(scheme, students=CLASS, lines=TABLE):
    known = {"waiting": {"eva"}, "disqualified": {"fay@1", "fay"}, "rejected": {"gus": "no program"}}
    return {one.student: one.grade for one in grades_of(students, lines, scheme, **known)}


def test_bots_of_a_group_share_a_grade_and_everybody_has_a_line():
    found = grades(Scheme(best=9, worst=1, rejected=0.5, absent=0.25, disqualified=-1, decimals=2))
    assert found == {
        **{"ann": 9.0, "bob": 9.0, "cy": 5.0, "dan": 1.0},
        **{"eva": None, "fay": -1.0, "gus": 0.5, "hal": 0.25},
    }


def test_who_is_not_above_the_yardstick_has_the_worst_grade_and_the_best_bot_of_a_student_counts():
    lines = [*TABLE, line("eva", "e", 6)]
    students = [*CLASS, Student("random", ("random",))]
    lines.insert(4, line("random", "c", 5))
    found = grades(Scheme(yardstick="random"), students, lines)
    assert (found["ann"], found["cy"], found["dan"], found["eva"]) == (10.0, 0.0, 0.0, 0.0)
    assert "random" not in found
    lines = [line("x", "a", 1, version="2"), line("y", "a", 1), line("x", "a", 3)]
    found = grades_of([Student("ann", ("x@1", "y"))], lines, Scheme(), rejected={"x": "an earlier file"})
    assert [(one.bot, one.group, one.grade) for one in found] == [("y@1", 1, 10.0)]


def test_a_bot_that_never_forfeits_gets_its_points_and_points_have_names():
    lines = [line("ann", "a", 1), line("bob", "a", 1, forfeits=1), line("cy", "b", 3)]
    found = grades(Scheme(best=5, without_faults=5, names={"A": 9, "C": 5, "F": 1}), CLASS[:4], lines)
    assert found == {"ann": "A", "bob": "C", "cy": "C", "dan": "F"}  # below the last name, too
