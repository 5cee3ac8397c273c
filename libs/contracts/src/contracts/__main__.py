"""Writes the committed JSON Schemas, refusing to overwrite one with a breaking edit: `python -m contracts`."""

import json
import sys
from pathlib import Path

from contracts.compatibility import breaking_changes
from contracts.registry import ENTRIES

SCHEMAS = Path(__file__).parents[2] / "schemas"


def render(statement: type) -> str:
    """The schema of one statement as it is committed."""
    return json.dumps(statement.model_json_schema(mode="validation"), indent=2, sort_keys=True) + "\n"  # type: ignore[attr-defined]


def main() -> int:
    """Write every schema; 1 if any edit was breaking."""
    SCHEMAS.mkdir(exist_ok=True)
    refused = 0
    for entry in ENTRIES:
        path, fresh = SCHEMAS / f"{entry.statement.TYPE}.json", render(entry.statement)
        breaks = breaking_changes(json.loads(path.read_text()), json.loads(fresh)) if path.exists() else []
        if breaks:
            refused = 1
            sys.stderr.write(f"{path.name}: breaking, make it a new version instead:\n  " + "\n  ".join(breaks) + "\n")
        else:
            path.write_text(fresh)
    return refused


if __name__ == "__main__":
    sys.exit(main())
