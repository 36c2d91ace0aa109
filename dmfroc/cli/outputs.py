"""What the command line writes: tables, JSON, pictures, and progress."""

from __future__ import annotations

import ast
import csv
import io
import re
import shlex
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import click

import dmfroc
from dmfroc._kit.files import written
from dmfroc._kit.progress import is_watched
from dmfroc._kit.remarks import wording
from dmfroc._kit.text import printable
from dmfroc._kit.version import package_version
from dmfroc.cli.applications import DISPLAYS, application
from dmfroc.plots._kinds import CHARTS
from dmfroc.results.text import paragraphs, warning_lines
from dmfroc.results.writers import as_csv, json_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dmfroc.inputs.predictions import Predictions
    from dmfroc.results.result import Result

KINDS = (*sorted(CHARTS | DISPLAYS), "overview")
_HULLS = ("roc", "prg")

_QUOTED = r"""'(?:[^\\']|\\.)*'|"(?:[^\\"]|\\.)*\""""
_VALUE = rf"""[\[{{](?:[^]}}{{[\'"]|{_QUOTED})*[\]}}]|{_QUOTED}|-?[\d.]*\d|True|False|None|(?!\w)"""
_MAPPING = rf"\{{(?:[^{{}}'\"]|{_QUOTED})*: (?:[^{{}}'\"]|{_QUOTED})*\}}"

_OF_GROUPS = rf"pass groups=({_QUOTED})(?:, or keep one row of each,)? if"

_RULE, _TOML = (
    '{"measure": "hand_till", "at_least": 0.8}',
    "lines [[rule]], measure = 'hand_till' and at_least = 0.8",
)

# Arguments of the package that commands have otherwise
_PHRASES = {
    "pass y_pred, or": "pass threshold=0.5, y_pred=, or",
    "name it after the class with the larger scores, or pass the negative class followed by the "
    "positive one, such as": "if its values are predicted classes, name it in y_pred=; else give "
    "the class of large values as pos_label=, or both classes, the negative one first, as",
    "dmfroc.measures.measure_table() lists": "dmfroc measures lists",
    "to dmfroc.compare_subgroups": "to dmfroc subgroups --by",
    f"a rule to dmfroc.applications.gate, such as {_RULE}": (
        f"a file of TOML to dmfroc gate, with {_TOML}"
    ),
    f"rules=[{_RULE}]": f"a file of TOML before FILE, with {_TOML}",
    f"the call is as gate([{_RULE}], y_true, y_score)": f"write {_TOML}",
    f"rules come first, gate([{_RULE}], y_true, y_score)": f"write {_TOML}",
    "Need at least two groups": "--by must have at least two groups",
    "Cut numbers, as pandas.qcut(by, 4) does.": "Cut numbers into a few ranges in FILE first.",
    "in the same order; compare": "in the same order, or with id= in any order; compare",
    "clip them, as by numpy.clip(y_score, 0.001, 0.999),": "raise or lower them to 0.001 or 0.999,",
    '; classifiers are named as in {"a": scores_a}': "; classifiers are named after their files",
    "sites need a name each: pass a dict by name of the site": "FILES must have different names",
    "dmfroc.applications.calibration_tests(y_true, y_score)": "dmfroc calibration",
    "calibration_tests needs": "dmfroc calibration needs",
    "leave by='values' out, to count positions": "take a measure without 'values' in its name",
    "decision_curve needs": "dmfroc decision needs",
    "y_pred=score >= threshold, or dmfroc.applications.operating_point": "threshold=",
    ", or call dmfroc.cross_validate(model, X, y, cv=...)": "",
    "dmfroc.applications.choose_threshold": "dmfroc threshold",
    'method=dmfroc.Bootstrap(n_draws=2000, interval="bca")': "method='bootstrap' n_draws=2000",
    'method=dmfroc.Bootstrap(interval="bca")': "method='bootstrap'",
    "test=dmfroc.NonInferiority(0.05)": "margin=0.05",
    "test=dmfroc.Equivalence(0.01)": "rope=0.01",
}
OTHERS = {
    **{"measure": "measures", "measures": "measure", "label": "y_true", "scores": "y_score"},
    **{"target_prevalence": "population", "alternative": "test", "thresholds": "threshold"},
    "files": "sites",
}

_WRITERS: dict[str, Callable[[Result, str | None], str]] = {
    "csv": lambda result, table: as_csv(result.to_pandas(table)),
    "latex": lambda result, table: result.to_latex(table),
    "markdown": lambda result, table: result.to_markdown(table),
}
_FORMS = {".txt": None, ".csv": "csv", ".json": "json", ".tex": "latex", ".md": "markdown"}
_PAGES = (".html", ".htm")
_PICTURES = (".png", ".pdf", ".svg", ".jpg", ".jpeg", ".webp", ".tif", ".tiff", ".eps")


# Text


def show(text: str) -> None:
    """Print, with substitutes for characters that stdout cannot represent."""
    encoding = sys.stdout.encoding or "utf-8"
    print(as_typed(text).encode(encoding, "replace").decode(encoding), flush=True)


def as_typed(text: str) -> str:
    """Return a text that names standard input as users do, not by where it was saved."""
    context = click.get_current_context(silent=True)
    return text.replace(context.meta.get("stdin", "\0"), "-") if context else text


def keep(context: click.Context, option: click.Parameter, value: str | None) -> None:
    """Keep the value of an option of what is printed, for `chosen`."""
    context.meta[option.name or ""] = value


def keep_form(context: click.Context, option: click.Parameter, is_wanted: bool) -> None:
    """Keep the form of what is printed, and refuse a second one."""
    if is_wanted:
        form = (option.name or "").removeprefix("form_")
        if (other := context.meta.setdefault("form", form)) != form:
            raise click.UsageError(f"--{other} and --{form} are two forms: give one", context)


def chosen(name: str) -> Any:
    """Return the value that an option of this command has; None without one."""
    context = click.get_current_context()
    return context.meta.get(name, context.params.get(name))


def show_result(
    result: Result,
    remarks: Iterable[str],
    attributes: Mapping[str, Any],
    *,
    of_page: Result | None = None,
) -> None:
    """Print a result with all warnings, or write it into the file of --output.

    JSON begins with the attributes. A table that other programs read has its warnings on stderr.
    The report, if one is wanted, may be of another result.
    """
    form, table, stream, path = map(chosen, ("form", "table", "stream", "output"))
    lines = _lines_of(remarks, result)
    is_page = path is not None and path.suffix.lower() in _PAGES
    if is_page:
        stream.write(str((of_page or result).to_html()).encode())
    if form == "json":
        version = {"dmfroc_version": package_version()}
        warnings = _notes_of([*result.warnings, *remarks, *(chosen("as_read") or ())])
        text = json_text({**attributes, **result.as_json(), "warnings": warnings, **version})
    elif form is not None:
        text = _WRITERS[form](result, table).rstrip("\n")
        print("".join(f"{x}\n" for x in lines), end="", file=sys.stderr)
    elif table is not None:
        raise ValueError("--table is for --csv, --latex and --markdown: give one of them")
    else:
        text = result.as_text(warnings=False, all_rows=bool(stream))
        text = re.sub(r"see to_pandas\('(.*?)'\)", r"see --csv --table \1", text)
        places = {"picture": chosen("plot"), "report": path if is_page else None}
        texts = [text, "\n".join(lines)]
        texts += [f"The {x} is in {printable(y)}" for x, y in places.items() if y is not None]
        text = "\n\n".join(filter(None, texts))
    if stream is None or is_page:
        show(text)
    else:
        stream.write(f"{as_typed(text)}\n".encode())
        show(f"The output is in {printable(path)}")


def show_place(what: str, path: Path, remarks: Iterable[str], result: Result | None = None) -> None:
    """Say where something was written, after all warnings."""
    show("\n".join([*_lines_of(remarks, result), f"The {what} is in {printable(path)}"]))


def write_receipt(result: Result, path: Path | None) -> None:
    """Write what a site may share of its result, or of the rehearsed one, if that was asked for."""
    if path is None:
        return
    check_not_read(path, "--receipt")
    application("write_receipt")(getattr(result, "result", result), path)


@contextmanager
def opened(path: Path | None, option: str) -> Iterator[BinaryIO | None]:
    """Open a file, if there shall be one; it appears if all goes well, or not at all."""
    if path is None:
        yield None
        return
    check_not_read(path, option)
    with written(path, option) as stream:
        yield stream


@contextmanager
def opened_output() -> Iterator[None]:
    """Open the file of --output, if there shall be one, for `show_result`."""
    context = click.get_current_context()
    if (path := context.meta.get("output")) is not None:
        suffix = path.suffix.lower()
        if suffix not in (*_FORMS, *_PAGES):
            known = ", ".join([*_PAGES, *_FORMS])
            raise ValueError(f"--output must name a file with one of {known}, but it is {path}")
        form = _FORMS.get(suffix)
        if form and context.meta.setdefault("form", form) != form:
            raise ValueError(f"--output {path} is no file for --{chosen('form')}: leave one out")
    with opened(path, "--output") as context.meta["stream"]:
        yield


@contextmanager
def progress(message: str) -> Iterator[None]:
    """Say on stderr what is being done, if somebody is watching."""
    if not is_watched():
        yield
        return
    from rich.console import Console
    from rich.markup import escape

    with Console(stderr=True).status(escape(message)):
        yield


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Keep warnings off stderr, and list those meant for the user once the block has ended."""
    remarks: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield remarks
    remarks += [str(w.message) for w in caught if issubclass(w.category, UserWarning)]


def with_options(message: str, command: click.Command, group: click.Group) -> str:
    """Say ``--labels a,b`` where the package says ``labels=['a', 'b']``.

    The name of an option is that of the argument. Where a message has it without ``=``, it is
    replaced if it begins a sentence, or has an underscore, but not in quotes or calls. An option
    that the command lacks is named with the first command of the group that takes it. Rows are
    those of files, which count from 1.
    """
    options, command_of = dict[str, click.Parameter](), dict[str, str | None]()
    for one in [*reversed([*group.commands.values()]), command]:
        own = {x.name or "": x for x in one.params}
        own |= {OTHERS[name]: x for name, x in own.items() if name in OTHERS}
        options, command_of = options | own, command_of | dict.fromkeys(own, one.name)
    compound = "|".join(name for name in own if "_" in name)
    pattern = (
        rf"\b({'|'.join(options)})=({_VALUE})(,(?= [a-z_]+=[\[\d'\"TF-]))?"
        rf"|(?:^|(?<=: ))({'|'.join(own)})(?= must| (?:is|has|names|need) )|\b({compound})\b"
        rf"|({_MAPPING})|\brow (\d+) \(counting from 0\)|{_QUOTED}|\w+\.[\w.]+\([^()]*\)"
    )

    def as_option(found: re.Match[str]) -> str:
        name = found[1] or found[4] or found[5]
        if found[6]:
            return _typed(found[6]) or found[0]
        if found[7]:
            return f"data row {int(found[7]) + 1}"
        if not name:
            return found[0]
        text, home = _as_option(options[name], found[2], found[0]), command_of[name]
        is_own = home == command.name or text == found[0]
        return text if is_own else f"{text} (which dmfroc {home} takes)"

    for words, replacement in _PHRASES.items():
        message = message.replace(words, replacement)
    if "groups" not in own:
        message = re.sub(_OF_GROUPS, r"keep one row of each value of column \1 if", message)
    message = re.sub(r"\b(\w+=\[?dmfroc\.)", r"in Python \1", message)
    return re.sub(pattern, as_option, message)


def _as_option(option: click.Parameter, values: str | None, written: str) -> str:
    flag = next((x for x in option.opts if x.startswith("--")), option.human_readable_name)
    if not values or getattr(option, "is_flag", True):
        return flag
    text = _typed(values)
    return f"{flag} {text}" if text else written


def _typed(values: str) -> str:
    """Return a value of Python as it is typed; nothing of one that has a name from the data."""
    try:
        items = ast.literal_eval(values.replace(", ...}", "}"))
    except (SyntaxError, ValueError):
        return ""
    if isinstance(items, dict):
        items = ["=".join(map(str, pair)) for pair in items.items()]
        items += ["..."] * values.endswith(", ...}")
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(items if isinstance(items, list) else [items])
    return shlex.quote(text.getvalue())


def _lines_of(remarks: Iterable[str], result: Result | None) -> list[str]:
    """Return the lines of all warnings, those of a result first, and of how files were read.

    `Columns.read` keeps how it read a file, which is no warning.
    """
    if result is not None:
        others = [x for x in remarks if x not in result.warnings]
        remarks = [*result.printed_warnings, *others]
    return [*warning_lines(_notes_of(remarks)), *paragraphs(chosen("as_read") or ())]


def _notes_of(remarks: Iterable[str]) -> list[str]:
    """Return each warning once, in the order of their first appearance, for the command line."""
    return list(dict.fromkeys(map(wording.get(), remarks)))


# JSON


def show_json(value: dict[str, Any]) -> None:
    """Print strict JSON."""
    show(json_text(value))


# Pictures


@dataclass(frozen=True)
class Picture:
    """A file, open for writing, and the format that its name promises."""

    stream: BinaryIO
    format: str

    def draw(
        self, named: Mapping[str, Predictions], level: float, weights: Any, folds: Any
    ) -> None:
        """Draw the curves of all classifiers, overlaid."""
        figure = _new_figure()
        options = dict(level=level, pair_weights=weights, folds=folds, ax=figure.add_subplot())
        for name, predictions in named.items():
            dmfroc.plots.MulticlassROCDisplay.from_predictions(predictions, name=name, **options)
        self.save(figure)

    def draw_result(self, result: Result) -> None:
        """Draw what a result draws; of several by class or by measure there is no one picture."""
        if isinstance(result, dmfroc.results.ResultsByName):
            ways = {"class": "make --label a column of one class against the others"}
            raise ValueError(
                f"a picture is about one {result.of}, and there are {len(result)}: leave --plot "
                f"out, or {ways.get(result.of, 'name one in --measures')}"
            )
        self.save(result.plot(ax=_new_figure().add_subplot()).figure_)

    def draw_chart(self, kind: str, predictions: Predictions) -> None:
        """Draw the curves of all classes on one kind of chart, or on nine of them."""
        if kind == "overview":
            figure = display_of(kind)(predictions, figure=_new_figure(12.0, 12.8))
        else:
            figure = _new_figure()
            options = {"plot_hull": True} if kind in _HULLS and predictions.n_classes == 2 else {}
            display_of(kind).from_predictions(predictions, ax=figure.add_subplot(), **options)
        self.save(figure)

    def save(self, figure: Figure) -> None:
        """Write a figure at once: of some formats, libraries hide that a disk is full."""
        stream = io.BytesIO()
        figure.savefig(stream, format=self.format, dpi=150)
        self.stream.write(stream.getvalue())


def display_of(kind: str) -> Any:
    """Return what draws a kind of chart."""
    from dmfroc import plots

    if kind in DISPLAYS:
        return application(DISPLAYS[kind])
    return getattr(plots, CHARTS.get(kind, kind))


def _new_figure(width: float = 6.0, height: float = 6.0) -> Figure:
    # Not by way of pyplot, which would choose a backend for the whole process
    from matplotlib.figure import Figure

    from dmfroc.plots._style import OWN_FIGURE_ID  # as which it grows with its legend

    return Figure(figsize=(width, height), layout="constrained", gid=OWN_FIGURE_ID)


@contextmanager
def open_picture(path: Path | None, option: str = "--plot") -> Iterator[Picture | None]:
    """Open a picture, if there shall be one."""
    suffix = None if path is None else path.suffix.lower()
    if suffix is not None and suffix not in _PICTURES:
        raise ValueError(f"{option} must name a file with one of {', '.join(_PICTURES)}: {path}")
    with opened(path, option) as stream:
        yield Picture(stream, str(suffix).removeprefix(".")) if stream else None


def check_not_read(path: Path, option: str) -> None:
    """Refuse to overwrite what the command reads, by whatever links it is named."""
    from dmfroc.counted.sources import files_named

    context = click.get_current_context(silent=True)
    given = context.params if context is not None and path.exists() else {}
    for name in filter(
        None,
        [*given.get("files", ()), *map(given.get, ("file", "pair_weights", "rules", "baseline"))],
    ):
        with suppress(FileNotFoundError):
            if any(path.samefile(file) for file in files_named(str(name))):
                raise ValueError(f"{option} {path} is an input, {name}: name another file")
