from enum import StrEnum

import pytest
import sqlalchemy as sa

from arena.base.errors import StoreError
from arena.store.results.schema import Integer, Member, OptionalInteger


class Light(StrEnum):
    RED = "red"
    GREEN = "green"


class Switch(StrEnum):
    ON = "on"
    OFF = "off"


TABLE = sa.Table(
    "lamps",
    sa.MetaData(),
    sa.Column("number", Integer, primary_key=True),
    sa.Column("light", Member(Light, "light", 16), nullable=False),
    sa.Column("switch", Member(Switch, "position", 16), nullable=False),
    sa.Column("level", OptionalInteger),
)


@pytest.fixture
def connection():
    engine = sa.create_engine("sqlite://")
    with engine.connect() as connection:
        TABLE.metadata.create_all(connection)
        connection.exec_driver_sql("INSERT INTO lamps VALUES (1, 'red', 'on', NULL), (2, 'on', 'red', 'high')")
        yield connection
    engine.dispose()


def value(connection, column, number):
    return connection.execute(sa.select(TABLE.c[column].label("value")).where(TABLE.c.number == number)).scalar_one()


def test_a_member_is_read_as_the_member_of_its_own_enumeration(connection):
    assert value(connection, "light", 1) is Light.RED
    assert value(connection, "switch", 1) is Switch.ON
    assert value(connection, "level", 1) is None


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("light", "the database holds 'on' where a light belongs; expected 'red' or 'green'"),
        ("switch", "the database holds 'red' where a position belongs; expected 'on' or 'off'"),
        ("level", "the database holds 'high' where a number belongs"),
    ],
)
def test_what_belongs_elsewhere_is_refused(connection, column, message):
    value(connection, column, 1)
    with pytest.raises(StoreError) as caught:
        value(connection, column, 2)
    assert str(caught.value) == message
