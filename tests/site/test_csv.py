from types import SimpleNamespace

import pytest
from pydantic import ValidationError

from arena.analysis.text.tables import Column
from arena.base.errors import UnknownNameError
from arena.site.frame.model import Model, Table

BOT = Column("bot", "bot", is_number=False)


class Page(Model):
    bots: tuple[str, ...] = ()

    def tables(self):
        return {"bots": Table([BOT], [{"bot": bot} for bot in self.bots]), "none": Table([BOT], [])}


def test_the_first_table_is_meant_where_none_is_named_and_one_that_is_not_there_is_refused():
    assert Page(bots=("a", "b")).csv() == Page(bots=("a", "b")).csv("bots") == "bot\na\nb\n"
    assert Page().csv("none") == "bot\n"
    with pytest.raises(UnknownNameError, match="bots"):
        Page().csv("bot")
    with pytest.raises(UnknownNameError, match="table"):
        Model().csv()


class Line(Model):
    bot: str
    note: str = ""


def test_a_model_takes_its_own_fields_by_name_and_no_others():
    value = SimpleNamespace(bot="a", note="n", secret="s")
    assert Line.of(value, note="").model_dump() == {"bot": "a", "note": ""}
    assert Line.of(SimpleNamespace(bot="b"), value).model_dump() == {"bot": "b", "note": "n"}
    with pytest.raises(ValidationError, match="bot"):
        Line.of(SimpleNamespace(note="n"))
