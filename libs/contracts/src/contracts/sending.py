"""How the messages of a number look while they leave: typing shown before them, choices as taps or words, their ids."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict


class ChoiceStyle(StrEnum):
    """How buttons and lists reach the recipient. AUTO follows what the gateway's version is known to show."""

    AUTO = "AUTO"
    NATIVE = "NATIVE"
    PLAIN = "PLAIN"


class SendingPolicy(BaseModel):
    """The manner of one number's sends; whatever is not given is as the platform does it.

    `typing`: "typing…" is shown first, in proportion to the text and within the pause that follows a send anyway.
    `choices`: PLAIN writes buttons and lists out as numbered lines of text.
    `reserve_ids`: the WhatsApp id of a message is chosen by us; None where the gateway's version is known to honour it.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    typing: bool = True
    choices: ChoiceStyle = ChoiceStyle.AUTO
    reserve_ids: bool | None = None
