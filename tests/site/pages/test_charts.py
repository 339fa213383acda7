"""Charts: where strokes and bars are, computed by hand."""

import re

from arena.site.pages.charts import Point, bar, heat_step, history, interval


def rectangles(svg, kind):
    return [
        {name: float(value) for name, value in re.findall(r'(x|width)="([\d.]+)%?"', rectangle)}
        for rectangle in re.findall(rf'<rect class="{kind}"[^>]*>', svg)
    ]


def test_an_interval_is_drawn_between_the_margins_of_its_chart():
    svg = interval(25.0, 5.0, 0.0, 50.0)  # 97 % of the width are for 50 points
    (mean,), (bar_of_it,) = rectangles(svg, "mean"), rectangles(svg, "range")
    assert mean["x"] == 50
    assert abs(bar_of_it["x"] - (1.5 + 0.97 * 40)) < 0.1
    assert abs(bar_of_it["width"] - 0.97 * 20) < 0.11


def test_a_rating_without_an_interval_is_a_stroke_alone():
    svg = interval(3.0, None, 3.0, 3.0)
    assert not rectangles(svg, "range")
    assert rectangles(svg, "mean")[0]["x"] == 1.5


def test_a_bar_is_never_longer_than_its_chart():
    assert rectangles(bar(0.25), "mean") == [{"width": 25}]
    assert rectangles(bar(7.0), "mean") == [{"width": 100}]
    assert rectangles(bar(-1.0), "mean") == [{"width": 0}]


def test_heat_has_eleven_steps():
    assert [heat_step(share / 20) for share in (0, 1, 2, 10, 19, 20)] == ["h0", "h0", "h1", "h5", "h10", "h10"]


def test_a_history_says_where_it_begins_and_ends():
    svg = history([Point(10, 25.0, 4.0), Point(40, 30.0, 2.0)], [[Point(10, 20.0), Point(40, 20.0)]])
    assert "Rating (mu): 25.0 after 10, 30.0 after 40 matches" in svg
    assert svg.count("<polyline") == 2
    assert svg.count('class="band"') == 1
    assert ">40</text>" in svg


def test_one_point_is_no_history():
    assert history([Point(1, 25.0)]) == ""


def test_a_unit_is_escaped():
    assert "<b>" not in history([Point(1, 25.0), Point(2, 25.0)], unit="<b>")
