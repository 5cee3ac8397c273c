"""Buttons and lists as numbered text: what the recipient reads, word for word."""

import pytest

from contracts.parts import Buttons, CallButton, CopyButton, ListMenu, ReplyButton, Row, Section, UrlButton
from contracts.plain_text import plain_text

REPLIES = (ReplyButton(label="Sim", id="y"), ReplyButton(label="Não", id="n"))
ACTIONS = (
    UrlButton(label="Ver", url="https://example.com/1"),
    CallButton(label="Ligar", phone_number="+551140041234"),
    CopyButton(label="Copiar", copy_code="PIX-7"),
)
SECTIONS = (
    Section(title="Doces", rows=(Row(title="Bolo", description="fatia", row_id="b"), Row(title="Torta", row_id="t"))),
    Section(title="Salgados", rows=(Row(title="Coxinha", row_id="c"),)),
)


@pytest.mark.parametrize(
    ("part", "written"),
    [
        (Buttons(buttons=REPLIES), "Confirma?\n\n1. Sim\n2. Não"),
        (
            Buttons(buttons=REPLIES, title="Pedido 7", footer="Loja"),
            "*Pedido 7*\n\nConfirma?\n\n1. Sim\n2. Não\n\nLoja",
        ),
        (
            Buttons(buttons=ACTIONS),
            "Confirma?\n\n1. Ver: https://example.com/1\n2. Ligar: +551140041234\n3. Copiar: PIX-7",
        ),
        (
            ListMenu(button_text="Abrir", sections=SECTIONS, title="Cardápio", footer="Loja"),
            "*Cardápio*\n\nConfirma?\n\n*Doces*\n1. Bolo: fatia\n2. Torta\n\n*Salgados*\n3. Coxinha\n\nLoja",
        ),
    ],
)
def test_choices_are_numbered_throughout_and_always_read_the_same(part: Buttons | ListMenu, written: str) -> None:
    assert plain_text(" Confirma?\n", part) == written
