"""The group of all commands, and how they end: with one line on stderr unless all went well.

A terminal has it in lines of 80 columns.
"""

from __future__ import annotations

import contextlib
import inspect
import logging
import os
import re
import shlex
import signal
import sys
import textwrap
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import click
from click.core import ParameterSource
from click.shell_completion import shell_complete

from dmfroc._kit.habits import as_measure, names_alike, remedy_of, table
from dmfroc._kit.progress import is_watched
from dmfroc._kit.remarks import wording
from dmfroc._kit.text import printable
from dmfroc._kit.threads import end_as_interrupted
from dmfroc._kit.version import package_version
from dmfroc.cli.outputs import (
    KINDS,
    OTHERS,
    as_typed,
    display_of,
    opened_output,
    show,
    with_options,
)
from dmfroc.results.text import paragraphs

_COMPLETION = "_DMFROC_COMPLETE"  # what shells set to ask how a line may go on
_HELP_ALL = "--help-all"
_N_ALIKE, _SIMILAR = 4, 0.8
_BAD_INPUT = 2
_INTERRUPTED = 128 + 2  # as shells report SIGINT
_PIPE_CLOSED = 128 + 13  # and SIGPIPE
_FAILURES = (OSError, TypeError, ValueError, MemoryError, RuntimeError, ImportError)
_ENDING_SIGNALS = ("SIGTERM", "SIGHUP")


_SECTIONS = {
    "Most used": "kind rules file files patterns label answers raters by scores labels measures"
    " measure folds groups task thresholds half_width difference classifier by at_least cost_fp"
    " cost_fn",
    "File": "models pos_label direction sample_weight frequency_weight y_pred other_columns "
    "drop_label where drop_missing truth id separator decimal encoding baseline scan scheduler",
    "Design": "",  # what is in no other section
    "Output": "form_json form_csv form_latex form_markdown table output plot receipt junit title "
    "_click_default_help",
}
_HANGING: Any = {"subsequent_indent": "  ", "break_on_hyphens": False}
_SECTION_OF = {name: title for title, names in _SECTIONS.items() for name in names.split()}
_NEXT = {  # of commands that have no report of what they print
    "demo": "dmfroc evaluate FILE --label COLUMN",
    "measures": "dmfroc evaluate FILE --label COLUMN --measures NAME,NAME",
    "report": "dmfroc cite",
}
_MOST_SHOWN = 9  # options; of more, help explains the needed ones and names the others


class _Command(click.Command):
    """A command that opens the file of --output before it computes, or says how to get a report."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; the file appears if all goes well, or not at all."""
        group: Any = ctx.find_root().command
        token = wording.set(lambda text: with_options(as_typed(text), self, group))
        try:
            with opened_output():
                status = super().invoke(ctx)
        finally:
            wording.reset(token)
        is_printed = ctx.meta.get("output", "") is ctx.meta.get("form") is None
        is_printed |= ctx.info_name == "plot"
        line = _NEXT.get(ctx.info_name or "", "")
        # Standard input is read but once, and a report needs all scores
        if is_printed and "stdin" not in ctx.meta and not ctx.params.get("scan"):
            line = line or _line_of_report(ctx)
        if line and ctx.meta.get("form") is None:
            with contextlib.suppress(OSError):
                gap = "\n" * sys.stdout.isatty()
                click.echo(f"{gap}Next: {line}", err=True)
        return status

    def format_help(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in sections: of many, the needed ones and the names of the others."""
        params, others = self.get_params(ctx), []
        is_all = ctx.obj or len(self.params) <= _MOST_SHOWN
        text = inspect.cleandoc(self.help or "")
        self.format_usage(ctx, formatter)
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(text if is_all else text.partition("\n\n")[0])
        for title in _SECTIONS:
            found = [x for x in params if _section(x) == title]
            records = list(filter(None, [x.get_help_record(ctx) for x in found]))
            if records and (is_all or title == "Most used"):
                with formatter.section(title):
                    rows = [(x, y if is_all else y.partition(". ")[0]) for x, y in records]
                    formatter.write_dl(rows)
            elif records:
                flags = ", ".join(x.opts[-1] for x in found if "--help" not in x.opts)
                others.append(textwrap.fill(f"{title}: {flags}", 78, **_HANGING))
        if is_all and any(x.name == "kind" for x in params):
            with formatter.section("Kinds"):
                of = {x: (display_of(x).__doc__ or " ").splitlines()[0] for x in KINDS}
                formatter.write_dl([(x, y.partition(";")[0].rstrip(".")) for x, y in of.items()])
        formatter.write(
            "\n".join(["", *others, "", f"More with {_HELP_ALL}", ""]) if others else ""
        )


def _section(param: click.Parameter) -> str:
    return _SECTION_OF.get(param.name or "", "Design")


def _line_of_report(ctx: click.Context) -> str:
    """Return the line of a command, without its other outputs, that writes its report."""
    words = ["dmfroc", "report" if ctx.info_name == "plot" else ctx.info_name or ""]
    for param in ctx.command.params:
        is_given = ctx.get_parameter_source(param.name or "") is ParameterSource.COMMANDLINE
        if is_given and _section(param) != "Output" and param.name != "kind":
            value: Any = ctx.params[param.name or ""]
            for one in value if param.multiple or param.nargs != 1 else [value]:
                flags = param.opts[:1] if isinstance(param, click.Option) else []
                words += flags if getattr(param, "is_flag", False) else [*flags, str(one)]
    return shlex.join([*words, "-o", "dmfroc-report.html"])


class _Group(click.Group):
    """The commands, with one way to end for all of them."""

    command_class = _Command

    def main(self, args: Sequence[str] | None = None, *_: Any, **__: Any) -> Any:
        """Run one command and exit."""
        sys.exit(self._run(list(sys.argv[1:] if args is None else args)))

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands in the order in which help lists them."""
        return list(self.commands)

    def invoke(self, ctx: click.Context) -> Any:
        """Run one command; what goes wrong is said in terms of its options."""
        try:
            return super().invoke(ctx)
        except (click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except _FAILURES as error:
            message = _message(error)
            if command := self.commands.get(ctx.invoked_subcommand or ""):
                message = with_options(message, command, self)
            raise click.ClickException(as_typed(message)) from error

    def _run(self, arguments: list[str]) -> int:
        if instruction := os.environ.get(_COMPLETION):
            return shell_complete(self, {}, "dmfroc", _COMPLETION, instruction)
        if sys.stdout is None:
            return _complain("error: stdout is closed, so that nothing can be printed")
        # Where its cache is and that it is slow to make concern nobody who asks for one picture
        logging.getLogger("matplotlib").setLevel(logging.ERROR)
        words = ["--help" if x == _HELP_ALL else x for x in arguments or ["--help"]]
        try:
            with self.make_context("dmfroc", words, obj=_HELP_ALL in arguments) as context:
                status = self.invoke(context)
            sys.stdout.flush()
        except click.exceptions.Exit as end:
            return end.exit_code
        except BrokenPipeError:
            _abandon_stdout()
            return _PIPE_CLOSED
        except (KeyboardInterrupt, click.Abort):
            return _complain("interrupted", _INTERRUPTED)
        except click.UsageError as error:
            command = error.ctx.command_path if error.ctx else "dmfroc"
            return _complain(f"error: {_usage(error)} (see {command} --help)")
        except click.ClickException as error:
            return _complain(f"error: {error.message}")
        except _FAILURES as error:
            return _complain(f"error: {_message(error)}")
        return status or 0


def _show_version(context: click.Context, _: click.Parameter, is_wanted: bool) -> None:
    if is_wanted:
        show(f"dmfroc {package_version()}")
        context.exit()


app = _Group(
    "dmfroc",
    help="How good is a classifier, how certain is that, and which of several is best? ROC "
    "curves, AUCs and intervals of two classes or many.",
    epilog="First: dmfroc demo. Then, with a file of scores: dmfroc evaluate FILE --label COLUMN. "
    "What a command takes: dmfroc COMMAND --help",
    params=[
        click.Option(
            ["-V", "--version"],
            is_flag=True,
            is_eager=True,
            callback=_show_version,
            help="Print the version.",
        )
    ],
    no_args_is_help=False,
    context_settings={
        "show_default": True,
        "help_option_names": ["-h", "--help"],
        # One and several are told apart by commas: --measure and --measures are one option
        "token_normalize_func": lambda word: "measure" if word == "measures" else word,
    },
)


def main() -> None:
    """Run the command line."""
    for name in _ENDING_SIGNALS:
        if hasattr(signal, name) and signal.getsignal(getattr(signal, name)) == signal.SIG_DFL:
            signal.signal(getattr(signal, name), _end)
    try:
        app()
    except SystemExit as end:
        if end.code == _INTERRUPTED:
            end_as_interrupted()
        raise


def _end(number: int, _: object) -> None:
    """End as by the signal, but let files in the making be removed."""
    raise SystemExit(128 + number)


def _complain(message: str, status: int = _BAD_INPUT) -> int:
    line = "dmfroc: " + printable(re.sub(r"\s*[\r\n]\s*", " ", message.strip()))
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            lines = paragraphs([line]) if is_watched() else [line]  # programs read one line
            print(*lines, file=sys.stderr)
    if sys.stdout is not None:
        _abandon_stdout()
    return status


def _message(error: Exception) -> str:
    """Say what went wrong in terms of the command line."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def _usage(error: click.UsageError) -> str:
    """Say what is wrong with a line, and what may be meant."""
    command = error.ctx.command if error.ctx else app
    names = [x.name or "" for x in command.params]
    arguments = [*names, *(OTHERS[x] for x in names if x in OTHERS)]
    if isinstance(error, click.exceptions.NoSuchOption):
        known = [(x, param) for param in command.params for x in param.opts if x.startswith("--")]
        word = error.option_name.lstrip("-").replace("-", "_")
        alike = [word, *names_alike(word)]
        near = [x for x, param in known if {param.name, OTHERS.get(param.name or "")} & {*alike}]
        near += [x for x, param in known if _is_near(word, x[2:], param.name or "")]
        remedy = remedy_of(word, arguments) or ("" if near else as_measure(word, names))
        remedy = with_options(remedy, command, app)
        if word in names:  # as in Python
            near = [x for x, param in known if param.name == word]
        is_sure = not near or remedy.startswith("nothing") or ("--" in remedy and word not in names)
        hint = f": give {remedy}" if remedy and is_sure else _did_you_mean(near)
        homes = [
            x for x, y in app.commands.items() for z in y.params if error.option_name in z.opts
        ]
        if homes and word not in names and not hint.startswith(":"):
            hint = f": leave it out, or use dmfroc {homes[0]}, which takes it"
        return error.message.rstrip(".") + hint
    if isinstance(error, click.exceptions.NoSuchCommand):
        word = error.command_name
        names = [*app.commands, "--version", "--help"]
        near = [x for x in names if _is_near(word, x.lstrip("-"))]
        near = near or [f"plot {word}"] * (word in KINDS)
        near = near or [f"evaluate {word} --label COLUMN"] * ("." in word)
        near = near or list(filter(None, [command_for(word)]))
        return error.message.rstrip(".") + _did_you_mean(near)
    text = error.format_message().rstrip(".")
    if error.ctx and command.name == "gate" and text.startswith("Missing argument"):
        rules, file = error.ctx.params.get("rules", ""), "FILE"
        if rules and rules.suffix.lower() != ".toml":  # the only word is no rules
            text, rules, file = text.replace("FILE", "RULES"), "", rules
        return f"{text}: write dmfroc gate {rules or 'rules.toml'} {file} --label COLUMN"
    if text.startswith("Got unexpected extra") and any(x.name == "file" for x in command.params):
        text += ": it takes one FILE; dmfroc compare and dmfroc report take several"
        text += ". Values of one option are separated by commas, and -o names an output"
    if comma := re.search(r"'(-?\d*),(\d+)' is not a valid float", text):
        text += f": write decimals with a point: {comma[1]}.{comma[2]}"
    text = text.replace("is not a valid float", "is no number")
    text = text.replace("is not a valid integer", "is no whole number")
    wrong = re.search(r"'([^']*)' is not one of (.*)", text)
    if not wrong:
        return text
    given = wrong[1].casefold()
    if instead := remedy_of(given, arguments):
        return f"{text}: give {with_options(instead, command, app)}"
    return text + _did_you_mean([x for x in re.findall("'(.*?)'", wrong[2]) if _is_near(given, x)])


def command_for(word: str) -> str:
    """Return which command has this name, here or in another package; nothing if none has."""
    line = table("names").get(re.sub("[- ]", "_", word.casefold()), word)
    words = re.split(r"[._]", line.replace("estimate(", "evaluate(").partition("(")[0])
    return next((x for x in reversed(words) if x in app.commands), "")


def _is_near(word: str, *names: str) -> bool:
    """Whether a wrong word begins as one of the names, or differs from it by a letter or so."""
    begins = any(name.startswith(word[:_N_ALIKE]) for name in names)
    return begins or bool(get_close_matches(word, names, cutoff=_SIMILAR))


def _did_you_mean(near: Sequence[str]) -> str:
    return f" (did you mean {' or '.join(dict.fromkeys(near))}?)" if near else ""


def _abandon_stdout() -> None:
    """Keep Python from complaining at its exit of what could not be written, as to a full disk."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        with contextlib.suppress(OSError, ValueError):  # stdout may be no real file
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
