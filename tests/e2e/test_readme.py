"""The README's example runs as it is printed there, with the one name it leaves open and a real key."""

import contextlib
import io
import re
from pathlib import Path

from tests.e2e.test_official_sdk import transport_to

from local_stack.operator_api import Account
from local_stack.system import System

README = Path(__file__).parents[2] / "README.md"
PLACEHOLDER = "ps_live_…"


def example() -> str:
    blocks = re.findall(r"^```python\n(.*?)^```$", README.read_text(), flags=re.DOTALL | re.MULTILINE)
    assert len(blocks) == 1
    assert PLACEHOLDER in blocks[0]
    return str(blocks[0])


def test_the_example_runs_verbatim(system: System, account: Account) -> None:
    printed, names = io.StringIO(), {"to_my_host": transport_to(system.api_url)}
    code = compile(example().replace(PLACEHOLDER, account.api_key), "README.md", "exec")
    with contextlib.redirect_stdout(printed):
        exec(code, names)
    sent = names["sent"]
    assert sent["status"] == "QUEUED"  # type: ignore[index]
    assert printed.getvalue().strip() in ("QUEUED", "DISPATCHED", "SENT", "DELIVERED", "READ")
