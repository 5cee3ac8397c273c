"""What is certain after Evolution could not take, fetch, convert or upload a file."""

import json
from datetime import UTC, datetime

import pytest

from gateways.evolution.evidence import judge_reply
from gateways.evolution.reply import Reply
from gateways.port import NotSent, NotSentReason, RefusalCode, Refused, Unknown, UnknownReason

NOW = datetime(2026, 1, 15, 12, 0, tzinfo=UTC)
NO_SOCKET = "TypeError: Cannot read properties of undefined (reading 'waUploadToServer')"


def judged(status: int, message: object) -> object:
    body = {"status": status, "error": "Bad Request", "response": {"message": message}}
    return judge_reply(Reply(status=status, body=json.dumps(body).encode()), now=NOW)


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, ["Owned media must be a url or base64"]),
        (400, ["Owned media must be a url, base64, or valid file with buffer"]),
        (400, ["For base64 the file name must be informed."]),
        (400, ["Maximum of 2 CTA buttons allowed"]),
        (400, ["CTA buttons cannot be mixed with reply buttons"]),
        (400, [['instance requires property "footerText"']]),
        (500, ["Error: Input buffer contains unsupported image format"]),
        (500, "ffmpeg exited with code 1: pipe:0: Invalid data found\nConversion failed!"),
    ],
)
def test_a_file_or_a_menu_that_cannot_be_sent_is_refused(status: int, message: object) -> None:
    answered = judged(status, message)
    assert isinstance(answered, Refused)
    assert answered.code is RefusalCode.GATEWAY_REFUSED


@pytest.mark.parametrize(
    ("status", "message", "reason"),
    [
        (500, "Cannot read properties of undefined (reading 'mediaMessage')", NotSentReason.INSTANCE_NOT_READY),
        (500, "Cannot read properties of undefined (reading 'listMessage')", NotSentReason.INSTANCE_NOT_READY),
        (500, [NO_SOCKET], NotSentReason.INSTANCE_NOT_READY),
        (500, ["AxiosError: Request failed with status code 404"], NotSentReason.GATEWAY_ERROR),
        (500, "Request failed with status code 503", NotSentReason.GATEWAY_ERROR),
        (500, ["Error: Media upload failed on all hosts"], NotSentReason.GATEWAY_ERROR),
        (400, ["Error: Media upload failed on all hosts"], NotSentReason.GATEWAY_ERROR),
    ],
)
def test_a_file_that_got_stuck_on_its_way_may_be_tried_again(
    status: int, message: object, reason: NotSentReason
) -> None:
    answered = judged(status, message)
    assert isinstance(answered, NotSent)
    assert answered.reason is reason


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (400, ["AxiosError: Request failed with status code 404"]),
        (500, ["Error: after the send: Media upload failed on all hosts"]),
        (500, ["AxiosError: timeout of 0ms exceeded"]),
        (400, ["Error: Input buffer contains unsupported image format"]),
    ],
)
def test_words_that_may_come_after_the_send_prove_nothing(status: int, message: object) -> None:
    answered = judged(status, message)
    assert isinstance(answered, Unknown)
    assert answered.reason is UnknownReason.UNCLASSIFIED_ANSWER
