"""A group of commands that answers bad input in one line on standard error, and never with a traceback."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any, NoReturn

import click

BAD_INPUT, INTERRUPTED = 2, 130


class OneLine(click.Group):
    """What the package refuses is the user's to read: exit code 2; 130 after Ctrl-C."""

    def main(self, *args: Any, standalone_mode: bool = True, **named: Any) -> Any:  # noqa: ANN401
        """Run a command and turn errors into lines."""
        run = partial(super().main, *args, standalone_mode=False, **named)
        if not standalone_mode:
            return run()
        try:
            sys.exit(run() or 0)
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.ctx.get_help())
            sys.exit(BAD_INPUT)
        except click.UsageError as error:
            path = error.ctx.command_path if error.ctx else "equipoise"
            _end(f"{error.format_message().rstrip('.')}; {path} --help shows how it is called")
        except click.ClickException as error:
            _end(error.format_message())
        except (click.Abort, KeyboardInterrupt):
            click.echo("equipoise: interrupted; no file was left half written", err=True)
            sys.exit(INTERRUPTED)
        except BrokenPipeError:
            _close_quietly()
        except MemoryError as error:
            _end(f"not enough memory ({error})")
        except (ValueError, TypeError, ImportError, OSError, FloatingPointError) as error:
            _end(str(error) or type(error).__name__)


def _end(words: str) -> NoReturn:
    click.echo(f"equipoise: {' '.join(words.split())}", err=True)
    sys.exit(BAD_INPUT)


def _close_quietly() -> NoReturn:
    """Whoever read standard output has read enough, as head does."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(0)
