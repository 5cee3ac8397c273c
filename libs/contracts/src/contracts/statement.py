"""The base of everything that travels: one immutable statement with a name, a version and an address."""

from typing import ClassVar

from pydantic import BaseModel, ConfigDict


class Statement(BaseModel):
    """A fact, a command or a question. Consumers ignore fields they do not know.

    `TYPE` is `<subject>.<verb>.v<version>` and goes into the AMQP property `type`.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    TYPE: ClassVar[str]
    EXCHANGE: ClassVar[str]

    def routing_key(self) -> str:
        """The AMQP routing key; by default the type without its version."""
        return self.TYPE.rsplit(".v", 1)[0]

    def body(self) -> bytes:
        """The JSON body exactly as it is stored and sent."""
        return self.model_dump_json(exclude_none=True).encode()
