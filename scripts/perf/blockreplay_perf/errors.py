"""Errors that end a script with one line on stderr."""

import sys
from typing import Callable


class PerfError(Exception):
    """What went wrong, where, and what to do about it; exit status 1 unless told otherwise."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


def run_main(script: str, main: Callable[[list[str]], int]) -> None:
    """Runs a script's main and ends the process with its status."""
    try:
        status = main(sys.argv[1:])
        sys.stdout.flush()
    except PerfError as error:
        print(f"{script}: error: {error}", file=sys.stderr)
        status = error.status
    except BrokenPipeError:
        status = 1
    except KeyboardInterrupt:
        print(f"{script}: interrupted", file=sys.stderr)
        status = 130
    sys.exit(status)
