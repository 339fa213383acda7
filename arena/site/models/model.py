"""The base of what pages show, and of what their addresses say."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Len
from pydantic import BaseModel, ConfigDict

Name = Annotated[str, Len(1, 200)]
"""A name in an address: longer than any that can be given, so that none is refused that is stored."""


class Model(BaseModel):
    """What a page shows, or a part of it. Frozen; its JSON is what programs get."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Parameters(BaseModel):
    """What the address of a page says: the fields in its path, then those of its query.

    A field that is not in the path needs a default.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
