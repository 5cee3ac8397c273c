"""Exit codes: one meaning each, whatever the API answers."""

import pytest

from pilot_cli.failures import ApiFailure, Exit, exit_of, worst


@pytest.mark.parametrize(
    ("status", "code", "expected"),
    [
        (400, "VALIDATION_FAILED", Exit.USAGE),
        (401, "OPERATOR_KEY_INVALID", Exit.UNAUTHORISED),
        (402, "LIVE_MONTHLY_LIMIT_EXCEEDED", Exit.REFUSED),
        (403, "OPERATOR_ROLE_NOT_ALLOWED", Exit.UNAUTHORISED),
        (403, "OPT_IN_REQUIRED", Exit.REFUSED),
        (404, "MESSAGE_NOT_FOUND", Exit.NOT_FOUND),
        (404, "ROUTE_NOT_FOUND", Exit.FAILED),
        (409, "MESSAGE_NOT_CANCELABLE", Exit.REFUSED),
        (429, "RATE_LIMITED", Exit.UNAVAILABLE),
        (500, "INTERNAL", Exit.FAILED),
        (502, "HTTP_502", Exit.UNAVAILABLE),
        (503, "OWNER_UNAVAILABLE", Exit.UNAVAILABLE),
        (302, "HTTP_302", Exit.FAILED),
    ],
)
def test_each_answer_has_its_exit_code(status: int, code: str, expected: Exit) -> None:
    assert exit_of(status, code) is expected


def test_the_numbers_are_the_documented_ones() -> None:
    assert [(one.name, int(one)) for one in Exit] == [
        ("OK", 0),
        ("FAILED", 1),
        ("USAGE", 2),
        ("NOT_FOUND", 3),
        ("REFUSED", 4),
        ("UNAUTHORISED", 5),
        ("UNAVAILABLE", 6),
    ]


def test_a_failure_says_sentence_code_request_and_fields() -> None:
    failure = ApiFailure(
        400,
        {
            "error": "Wrong.",
            "code": "DESTINATION_INVALID",
            "requestId": "r-1",
            "details": [{"field": "destinationNumber", "message": "too\nshort"}],
        },
    )
    assert failure.sentence == "Wrong. [DESTINATION_INVALID, HTTP 400, request r-1]\n  destinationNumber: too short"


def test_a_proxys_page_is_a_failure_too() -> None:
    failure = ApiFailure(502, {}, request_id="r-2")
    assert failure.sentence == "The API answered HTTP 502. [HTTP_502, HTTP 502, request r-2]"


def test_several_results_share_one_exit_code() -> None:
    assert worst([]) is Exit.OK
    assert worst([Exit.OK, Exit.OK]) is Exit.OK
    assert worst([Exit.OK, Exit.NOT_FOUND]) is Exit.NOT_FOUND
    assert worst([Exit.REFUSED, Exit.NOT_FOUND]) is Exit.FAILED
