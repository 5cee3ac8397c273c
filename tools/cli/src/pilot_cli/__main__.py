"""`pilot` as a process: the command line, and every failure as one sentence and an exit code."""

import os
import sys

from rich.text import Text

from pilot_cli.app import build
from pilot_cli.desk import Desk
from pilot_cli.failures import Exit, Failure
from pilot_cli.settings import read_environment
from pilot_cli.text import lines


def main() -> int:
    """Run; the exit code."""
    desk = Desk(environment=read_environment())
    with desk.closing:
        try:
            build()(obj=desk, prog_name="pilot")
        except Failure as failure:
            _say(desk, failure.sentence)
            return int(failure.exit_code)
        except BrokenPipeError:
            # Whoever read our output has gone; nothing may complain about the rest of it.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return int(Exit.FAILED)
        except KeyboardInterrupt:
            return 130
        except SystemExit as end:
            return end.code if isinstance(end.code, int) else int(Exit.OK)
        except Exception as error:
            _say(desk, f"This should not have happened ({type(error).__name__}); nothing more is known.")
            return int(Exit.FAILED)
    return int(Exit.OK)


def _say(desk: Desk, sentence: str) -> None:
    desk.screen.err.print(Text("pilot: ", style="bold red").append(lines(sentence), style="not bold default"))


if __name__ == "__main__":
    sys.exit(main())
