"""How every body is written: camelCase outside, snake_case inside, unknown fields ignored, instants in UTC."""

from datetime import datetime
from typing import Annotated

from pydantic import AliasGenerator, BaseModel, ConfigDict, StringConstraints
from pydantic.alias_generators import to_camel

PlainLine = Annotated[str, StringConstraints(strict=True, pattern=r"^[^\x00-\x1f\x7f]*$")]
"""One line without control characters."""

PlainLines = Annotated[str, StringConstraints(strict=True, pattern=r"^[^\x00-\x08\x0b-\x1f\x7f]*$")]
"""Text whose only control characters are line feeds and tabs."""


class Body(BaseModel):
    """The base of request bodies."""

    model_config = ConfigDict(
        alias_generator=AliasGenerator(validation_alias=to_camel), populate_by_name=True, extra="ignore"
    )


def instant(at: datetime | None) -> str | None:
    """ISO 8601 in UTC with milliseconds and `Z`."""
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z") if at else None
