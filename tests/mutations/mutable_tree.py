"""A copy of the checkout that may be broken on purpose, with an interpreter that knows no sources but its own."""

import contextlib
import os
import shutil
import subprocess
import sysconfig
import venv
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.mutations.catalogue import Mutation

LEFT_OUT = shutil.ignore_patterns(
    ".git", ".venv", ".run", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis", "node_modules"
)
SOURCES = ("libs/*/src", "services/*/src", "tools/*/src")
ASK_SECONDS = 60


class WrongSourcesError(RuntimeError):
    """The interpreter would test something else than the copy."""


class MutableTree:
    """`root` holds the copy; `python` imports the checkout's third-party packages, and our own from the copy only.

    That also holds for processes that tests start with an empty environment: what PYTHONPATH said would be lost there,
    and the editable installs of the checkout would win.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.python = root / ".venv" / "bin" / "python"
        self._edits = 0

    @classmethod
    def copy(cls, checkout: Path, root: Path) -> "MutableTree":
        """Copies `checkout` to `root`, which must not exist, and makes its interpreter."""
        shutil.copytree(checkout, root, ignore=LEFT_OUT, symlinks=True)
        tree = cls(root)
        venv.create(root / ".venv", symlinks=True)
        purelib = Path(sysconfig.get_path("purelib", vars={"base": str(root / ".venv")}))
        own = [str(place) for pattern in SOURCES for place in sorted(root.glob(pattern))]
        installed = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
        lines = [*own, *dict.fromkeys(installed)]
        (purelib / "sources.pth").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return tree

    def packages(self) -> Sequence[str]:
        """The names of our own packages in the copy."""
        return [path.parent.name for pattern in SOURCES for path in sorted(self.root.glob(f"{pattern}/*/__init__.py"))]

    def check_sources(self) -> None:
        """Raises `WrongSourcesError` if a package of ours would be imported from anywhere but the copy."""
        names = self.packages()
        question = f"for name in {names!r}: print(__import__(name).__file__)"
        answer = subprocess.run(
            [str(self.python), "-c", question],
            cwd="/",
            env={"PATH": os.environ.get("PATH", os.defpath)},
            capture_output=True,
            text=True,
            timeout=ASK_SECONDS,
            check=False,
        )
        places = answer.stdout.split("\n")[:-1]
        strange = [place for place in places if not Path(place).is_relative_to(self.root)]
        if answer.returncode != 0 or len(places) != len(names) or strange or not names:
            raise WrongSourcesError(f"not imported from the copy: {strange or answer.stderr[-500:]}")

    @contextlib.contextmanager
    def mutated(self, mutation: Mutation) -> Iterator[None]:
        """The copy with one edit, which is taken back at the end.

        Each version of the file gets an instant of its own, so that no compiled file of another one fits it.
        """
        path = self.root / mutation.file
        whole = path.read_text(encoding="utf-8")
        self._write(path, mutation.applied(whole))
        try:
            yield
        finally:
            self._write(path, whole)

    def _write(self, path: Path, text: str) -> None:
        self._edits += 1
        instant = path.stat().st_mtime + self._edits
        path.write_text(text, encoding="utf-8")
        os.utime(path, (instant, instant))
