"""The program `ioxide`, run by the pytest plug-in, and what its results mean for a test."""

import os
import pathlib
import shutil
import subprocess
import sys
from typing import List, Optional

import pytest

from .waiting import waiting


class ModelFailure(Exception):
    """The system does what the model does not allow."""

    def __init__(self, story: str, records: Optional[pathlib.Path] = None) -> None:
        super().__init__(story)
        self.story, self.records = story, records


class ModelTrouble(Exception):
    """Nothing can be said: the model, the program or the adapter is broken."""


def judge(done: "subprocess.CompletedProcess[str]", records: Optional[pathlib.Path] = None) -> None:
    """Passes, fails or skips the test, as `ioxide test` ended; its record is in `records`."""
    if done.returncode == 1:
        raise ModelFailure(done.stdout, records)
    if done.returncode == 5:
        # The place of a skip is that of the test, not this line.
        raise pytest.skip.Exception(f"inconclusive: {_last_words(done.stdout)}", _use_item_location=True)
    if done.returncode != 0:
        raise ModelTrouble((done.stderr or done.stdout).strip())


def ioxide(
    config: pytest.Config, args: List[str], folder: Optional[pathlib.Path] = None
) -> "subprocess.CompletedProcess[str]":
    """Runs the program, in `folder` if it is given."""
    program = config.getoption("--ioxide") or os.environ.get("IOXIDE") or _beside() or "ioxide"
    environment = {**os.environ, "IOXIDE_PROGRESS": "off", "NO_COLOR": "1"}
    try:
        with waiting():
            return subprocess.run(
                [program, *args], capture_output=True, text=True, env=environment, encoding="utf-8", cwd=folder
            )
    except OSError as error:
        raise ModelTrouble(f"cannot start `{program}`: {error}; install ioxide, or set IOXIDE to its path") from None


def _beside() -> Optional[str]:
    """The program that came with this Python, in a wheel."""
    folder = pathlib.Path(sys.executable).parent
    return shutil.which("ioxide", path=str(folder))


def _last_words(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return next((line for line in lines if "inconclusive" in line), lines[-1] if lines else "nothing was said")
