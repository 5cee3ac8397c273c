"""Profiles: a file nobody else can read, variables that win, and keys that go nowhere else."""

import json
from pathlib import Path

import pytest

from pilot_cli import profiles
from pilot_cli.failures import Exit, Failure
from pilot_cli.profiles import Profile, Profiles
from pilot_cli.settings import read_environment

HOME = Profile(url="https://home.example", operator_key="op_home", api_key="ps_home")
AWAY = Profile(url="https://away.example", operator_key="op_away")
STORED = Profiles(current="home", known={"home": HOME, "away": AWAY})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return read_environment({"XDG_CONFIG_HOME": str(tmp_path)}).profiles_path


def test_what_is_saved_is_read_again_and_nobody_else_can(path: Path) -> None:
    profiles.save(path, STORED)
    assert profiles.load(path) == STORED
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert [file.name for file in path.parent.iterdir()] == ["profiles.json"]


def test_saving_again_makes_a_loose_file_tight(path: Path) -> None:
    profiles.save(path, STORED)
    path.chmod(0o644)
    profiles.save(path, STORED)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_file_that_others_may_read_is_refused(path: Path) -> None:
    profiles.save(path, STORED)
    path.chmod(0o640)
    with pytest.raises(Failure, match="chmod 600") as refused:
        profiles.load(path)
    assert refused.value.exit_code is Exit.USAGE


@pytest.mark.parametrize("text", ["", "{", "[]", '{"current": "x"}', '{"current": "x", "profiles": {"x": {}}}'])
def test_a_file_of_another_form_is_refused(path: Path, text: str) -> None:
    profiles.save(path, STORED)
    path.write_text(text)
    with pytest.raises(Failure, match="log in again"):
        profiles.load(path)


def test_without_a_file_nothing_is_stored(path: Path) -> None:
    assert profiles.load(path) == Profiles()


def chosen(named: str | None = None, **variables: str) -> Profile:
    return profiles.chosen(read_environment(variables), STORED, named)


def test_the_option_wins_over_the_variable_and_that_over_the_current_one() -> None:
    assert chosen() == HOME
    assert chosen(PILOT_PROFILE="away") == AWAY
    assert chosen("home", PILOT_PROFILE="away") == HOME
    with pytest.raises(Failure, match="no profile 'nowhere'"):
        chosen("nowhere")


def test_variables_win_over_the_profile() -> None:
    mixed = chosen(PILOT_OPERATOR_KEY="op_mine")
    assert (mixed.url, mixed.operator_key, mixed.api_key) == (HOME.url, "op_mine", "ps_home")


def test_another_address_gets_none_of_the_stored_keys() -> None:
    elsewhere = chosen(PILOT_URL="https://evil.example")
    assert (elsewhere.operator_key, elsewhere.api_key) == (None, None)
    assert chosen(PILOT_URL="https://evil.example", PILOT_API_KEY="ps_evil").api_key == "ps_evil"


def test_without_an_address_it_says_what_to_do() -> None:
    with pytest.raises(Failure, match="pilot login"):
        profiles.chosen(read_environment({}), Profiles(), None)


def test_keys_do_not_show_in_what_is_logged() -> None:
    shown = repr([STORED, read_environment({"PILOT_OPERATOR_KEY": "op_env", "PILOT_API_KEY": "ps_env"})])
    assert not any(key in shown for key in ("op_home", "ps_home", "op_away", "op_env", "ps_env"))


@pytest.mark.parametrize("name", ["", "../x", "a b", "-a", "a" * 65, "a\n"])
def test_strange_names_are_refused(name: str) -> None:
    with pytest.raises(Failure):
        profiles.check_name(name)


def test_a_relative_config_home_is_ignored_as_the_standard_says() -> None:
    assert read_environment({"XDG_CONFIG_HOME": "here"}).config_home == Path.home() / ".config"


def test_the_file_is_json_a_person_can_read(path: Path) -> None:
    profiles.save(path, STORED.without("away"))
    assert json.loads(path.read_text())["profiles"]["home"]["url"] == HOME.url
