"""How every request body reads its fields: camelCase outside, snake_case inside, unknown fields ignored."""

from pydantic import AliasGenerator, BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Body(BaseModel):
    """The base of request bodies."""

    model_config = ConfigDict(
        alias_generator=AliasGenerator(validation_alias=to_camel), populate_by_name=True, extra="ignore"
    )
