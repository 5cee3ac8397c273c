"""Writes the committed OpenAPI document, refusing a breaking edit: `python -m api.app.documentation.snapshot`."""

import json
import sys
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from api.app import assemble
from api.app.documentation.compatibility import breaking_changes
from api.settings import Settings

SNAPSHOT = Path(__file__).parents[4] / "openapi.json"


def render() -> str:
    """The document as it is committed. Nothing is connected to, so nothing needs to be there."""
    nowhere, nothing = "127.0.0.1:9", "bm90aGluZyBpcyBzZWFsZWQgd2l0aCB0aGlzIGtleS4="
    settings = Settings(
        database_url=SecretStr(f"postgresql://nobody@{nowhere}/nothing"),
        broker_url=SecretStr(f"amqp://nobody:nothing@{nowhere}/"),
        seal_keys=SecretStr(f"k:{nothing}"),
        seal_pepper=SecretStr(nothing),
        operator_key=SecretStr("nobody calls this process"),
    )
    foundation, _ = assemble(settings)
    return json.dumps(foundation.app.openapi(), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def main() -> int:
    """Write it, elsewhere if an argument says where; 1 if the edit was breaking."""
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else SNAPSHOT
    fresh = render()
    committed: dict[str, Any] | None = json.loads(target.read_text()) if target.exists() else None
    breaks = breaking_changes(committed, json.loads(fresh)) if committed is not None else []
    if breaks:
        sys.stderr.write(f"{target.name}: breaking:\n  " + "\n  ".join(breaks) + "\n")
        return 1
    target.write_text(fresh)
    return 0


if __name__ == "__main__":
    sys.exit(main())
