"""Settings come from the environment, from one JSON object and from flags, in that order of growing weight."""

import pytest
from pydantic import ValidationError

from evolution_simulator.settings import settings_from


def test_later_sources_win(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMULATOR_READ_MS", "1")
    monkeypatch.setenv("SIMULATOR_SEED", "7")
    assert settings_from([]).read_ms == 1
    assert settings_from(["--settings", '{"read_ms": 2}']).read_ms == 2
    both = settings_from(["--settings", '{"read_ms": 2}', "--read-ms", "3"])
    assert (both.read_ms, both.seed) == (3, 7)


def test_instances_repeat_and_flags_switch() -> None:
    settings = settings_from(["--instance", "a:1", "--instance", "b:2", "--magic-numbers", "--no-resume-receipts"])
    assert settings.instances == ("a:1", "b:2")
    assert (settings.magic_numbers, settings.resume_receipts) == (True, False)


@pytest.mark.parametrize("arguments", [["--instance", "nameless"], ["--settings", '{"nope": 1}']])
def test_what_cannot_be_meant_is_refused(arguments: list[str]) -> None:
    with pytest.raises(ValidationError):
        settings_from(arguments)


def test_secrets_are_not_printed() -> None:
    assert "hidden" not in repr(settings_from(["--api-key", "hidden", "--instance", "a:hidden"]))
