"""The parts of a send body: header, buttons and list."""

from typing import Literal

from pydantic import Field, StrictStr

from api.content.domain.draft import ButtonDraft, HeaderDraft, ListDraft, RowDraft, SectionDraft
from api.schemas import Body


class HeaderBody(Body):
    """What stands above buttons: a line of text, or the address of a file."""

    type: Literal["text", "image", "video", "document"]
    content: StrictStr = Field(max_length=800_000)

    def draft(self) -> HeaderDraft:
        """The same as a value."""
        return HeaderDraft(type=self.type, content=self.content)


class ButtonBody(Body):
    """A button: reply sends its label back, url opens, call dials, copy copies."""

    type: Literal["reply", "url", "call", "copy"]
    label: StrictStr = Field(max_length=1_000)
    url: StrictStr | None = Field(default=None, max_length=2_048)
    phone_number: StrictStr | None = Field(default=None, max_length=100)
    copy_code: StrictStr | None = Field(default=None, max_length=1_000)
    id: StrictStr | None = Field(default=None, max_length=1_000)

    def draft(self) -> ButtonDraft:
        """The same as a value."""
        return ButtonDraft(
            type=self.type,
            label=self.label,
            url=self.url,
            phone_number=self.phone_number,
            copy_code=self.copy_code,
            id=self.id,
        )


class RowBody(Body):
    """One choice; the answer carries its `rowId`."""

    title: StrictStr = Field(max_length=1_000)
    description: StrictStr | None = Field(default=None, max_length=1_000)
    row_id: StrictStr = Field(max_length=1_000)


class SectionBody(Body):
    """Choices under a title."""

    title: StrictStr = Field(max_length=1_000)
    rows: list[RowBody] = Field(max_length=100)


class ListBody(Body):
    """A button that opens a list with a single choice."""

    button_text: StrictStr = Field(max_length=1_000)
    sections: list[SectionBody] = Field(max_length=100)

    def draft(self) -> ListDraft:
        """The same as a value."""
        return ListDraft(
            button_text=self.button_text,
            sections=tuple(
                SectionDraft(
                    title=section.title,
                    rows=tuple(
                        RowDraft(title=row.title, description=row.description, row_id=row.row_id)
                        for row in section.rows
                    ),
                )
                for section in self.sections
            ),
        )
