"""docs/class_contest.md is executed, from a folder of submissions to grades."""

import csv
import io
from pathlib import Path

import pytest

PAGE = (Path(__file__).parents[2] / "docs" / "class_contest.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_teacher_gets_from_submissions_to_grades(reader, tmp_path):
    assert reader.follow(PAGE, tmp_path) > 20
    grades = csv.DictReader(io.StringIO((tmp_path / "grades.csv").read_text(encoding="utf-8")))
    points = {row["student"]: int(row["points"]) for row in grades}
    assert points == {"ada": 10, "ben": 5, "dan": 10, "eva": 5, "fay": 5, "random_legal": 5}
    for page in ("contest.html", "table.html"):
        text = (tmp_path / page).read_text(encoding="utf-8")
        assert "ada" in text and "cleo" not in text
