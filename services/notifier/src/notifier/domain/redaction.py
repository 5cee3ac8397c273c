"""Takes out of a body what a message said and to whom, so that it is as if nothing had ever been kept."""

import json

SAID = frozenset({"from", "content", "mediaType", "mediaCaption", "mediaFilename"})
"""Members of `data` that `payload.body_of` takes from the content alone."""


def redacted(body: bytes) -> bytes:
    """The body that would have been made without the content; anything else than a body of ours stays as it is."""
    try:
        document = json.loads(body)
        data = {name: value for name, value in document["data"].items() if name not in SAID}
    except (ValueError, KeyError, TypeError, AttributeError):
        return body
    if "to" not in data:
        return body
    document["data"] = data | {"to": "", "type": "text"}
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
