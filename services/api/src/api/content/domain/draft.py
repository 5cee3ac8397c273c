"""A message before it is checked: as a client gives it, or as a template says it with its placeholders filled in."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaDraft:
    """A file by URL, data URI or base64."""

    media: str = field(repr=False)
    media_type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HeaderDraft:
    """What stands above buttons: a line of text, or a file's address. `type` is text, image, video or document."""

    type: str
    content: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ButtonDraft:
    """`type` is reply, url, call or copy, and decides which of the others is needed."""

    type: str
    label: str = field(repr=False)
    url: str | None = field(default=None, repr=False)
    phone_number: str | None = field(default=None, repr=False)
    copy_code: str | None = field(default=None, repr=False)
    id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RowDraft:
    """One choice of a list."""

    title: str = field(repr=False)
    description: str | None = field(default=None, repr=False)
    row_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionDraft:
    """Choices under a title."""

    title: str = field(repr=False)
    rows: tuple[RowDraft, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListDraft:
    """A button that opens choices."""

    button_text: str = field(repr=False)
    sections: tuple[SectionDraft, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """`text` is the text itself, a caption, or the body above buttons or a list."""

    text: str = field(default="", repr=False)
    media: MediaDraft | None = None
    header: HeaderDraft | None = None
    footer: str | None = field(default=None, repr=False)
    buttons: tuple[ButtonDraft, ...] = ()
    menu: ListDraft | None = None

    def with_media(self, media: MediaDraft) -> "Draft":
        """The same with another file, in place of its own and of a header that is a file."""
        header = self.header if self.header and self.header.type == "text" else None
        return replace(self, media=media, header=header)

    def texts(self) -> tuple[str, ...]:
        """Everything in which a template may have placeholders, in reading order."""
        seen: list[str] = []

        def note(text: str) -> str:
            seen.append(text)
            return text

        self.map(note)
        return tuple(seen)

    def map(self, change: Callable[[str], str]) -> "Draft":
        """The same with each of those texts changed."""
        return replace(
            self,
            media=replace(self.media, media=change(self.media.media)) if self.media else None,
            header=replace(self.header, content=change(self.header.content)) if self.header else None,
            text=change(self.text),
            footer=None if self.footer is None else change(self.footer),
            buttons=tuple(_changed(button, change) for button in self.buttons),
        )


def _changed(button: ButtonDraft, change: Callable[[str], str]) -> ButtonDraft:
    def maybe(text: str | None) -> str | None:
        return None if text is None else change(text)

    return replace(
        button,
        label=change(button.label),
        url=maybe(button.url),
        phone_number=maybe(button.phone_number),
        copy_code=maybe(button.copy_code),
    )
