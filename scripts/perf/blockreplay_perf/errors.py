"""Errors that end a script with one line on stderr."""

import argparse
import signal
import sys
from typing import Callable, NoReturn


class PerfError(Exception):
    """What went wrong, where, and what to do about it; exit status 1 unless told otherwise."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


class Parser(argparse.ArgumentParser):
    """Wrong usage is an error like any other: argparse would end with 2, which means something else here."""

    def __init__(self, script: str, description: str, epilog: str) -> None:
        super().__init__(prog=script, description=description, epilog=epilog, allow_abbrev=False,
                         formatter_class=argparse.RawDescriptionHelpFormatter)

    def error(self, message: str) -> NoReturn:
        raise PerfError(f"{message} (see --help)")


class Terminated(KeyboardInterrupt):
    """SIGTERM came."""


def _terminate(*_: object) -> NoReturn:
    raise Terminated


def run_main(script: str, main: Callable[[list[str]], int]) -> None:
    """Runs a script's main and ends the process with its status."""
    # As Ctrl-C: what runs is stopped and temporary files go away.
    signal.signal(signal.SIGTERM, _terminate)
    try:
        status = main(sys.argv[1:])
        sys.stdout.flush()
    except PerfError as error:
        print(f"{script}: error: {error}", file=sys.stderr)
        status = error.status
    except BrokenPipeError:
        status = 1
    except OSError as error:  # a program that is not installed, a full disk, a folder that is not ours
        print(f"{script}: error: {error.filename or 'input or output'}: {error.strerror or error}", file=sys.stderr)
        status = 1
    except KeyboardInterrupt as interrupt:
        print(f"{script}: interrupted", file=sys.stderr)
        status = 143 if isinstance(interrupt, Terminated) else 130
    sys.exit(status)
