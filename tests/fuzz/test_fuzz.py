"""A few of the broken webhooks of `make fuzz`: none is refused, lost, or stands in the way of a sound one."""

from random import Random

from tests.fuzz.mutations import mutated
from tests.fuzz.shapes import body
from tests.fuzz.webhooks import fuzz

from local_stack.backing import Backing
from local_stack.workspace import open_workspace

BODIES, GROWTH_KIB_MAX = 400, 48 * 1024


def test_case_3_whatever_is_posted_is_answered_kept_and_interpreted(backing: Backing) -> None:
    with open_workspace(backing, "fuzz") as workspace:
        report = fuzz(workspace, bodies=BODIES, seed=7)
    assert report.wrong == {}
    assert report.kept == report.statuses[200, 200] > BODIES * 0.9
    assert report.statuses[401, 401] > 0
    assert report.errors_logged == ()
    assert report.is_alive
    assert report.growth_kib < GROWTH_KIB_MAX
    assert {
        "not_json",
        "foreign_instance",
        "not_an_object",
        "key_missing",
        "event_missing",
    } <= report.quarantined.keys()


def test_a_seed_posts_the_same_again() -> None:
    def some(seed: int) -> list[bytes]:
        dice = Random(seed)
        return [mutated(body(dice), dice) for _ in range(200)]

    assert some(1) == some(1) != some(2)
