"""The commands of ``dmfroc``.

Only what ``dmfroc --help`` needs is imported at the top; what computes is imported by the package
when a command first uses it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import dmfroc
from dmfroc._kit.habits import measure_called, said_of, unclear
from dmfroc._kit.text import did_you_mean, split_calls
from dmfroc._kit.version import package_version
from dmfroc.cli import options as op
from dmfroc.cli.app import app, command_for, main
from dmfroc.cli.applications import application, rehearsed
from dmfroc.cli.inputs import (
    Columns,
    check_either,
    classifier_names,
    each_class,
    options_of_items,
    read_all,
    read_pair_weights,
    read_shares,
    split_all,
    split_list,
    stem,
)
from dmfroc.cli.outputs import (
    check_not_read,
    chosen,
    collected_warnings,
    open_picture,
    opened,
    progress,
    show,
    show_json,
    show_place,
    show_result,
    write_receipt,
)
from dmfroc.inputs.messages import listing
from dmfroc.results.result import Result, attributed, renderer
from dmfroc.results.text import format_table
from dmfroc.results.writers import opened_page

__all__ = ["app", "main"]

NO_PLOT = "--plot shows all rows, and with --judge or --time some have no label: leave it out"


@app.command(
    params=[
        *(op.FILE, *op.columns(*op.ROWS), op.MEASURES, *op.INTERVALS, op.PAIR_WEIGHTS),
        *(op.PER_CLASS, *op.FOLLOW_UP, op.TARGET_PREVALENCE, op.REHEARSE, *op.SCAN, *op.FORMATS),
        *(op.PLOT, op.RECEIPT),
    ]
)
def evaluate(
    file: Path,
    measures: str | None,
    pair_weights: str,
    target_prevalence: str | None,
    scan: bool,
    scheduler: str | None,
    plot: Path | None,
    receipt: Path | None,
    n_samples: int | None,
    per_class: bool,
    **options: Any,
) -> None:
    """Evaluate one classifier.

    Prints its measures with intervals, from the predicted class scores in FILE.
    """
    if scheduler is not None and not scan:
        raise ValueError("--scheduler is for --scan alone")
    columns = Columns.taken_from(options)
    if plot and (columns.judge or columns.time):
        raise ValueError(NO_PLOT)
    with open_picture(plot) as picture, collected_warnings() as remarks:
        with progress(f"Reading {file} ..."):
            units: dict[str, Any] = {} if scan else columns.read_units(file)
            sample: Any
            read: Any
            if columns.judge and not scan:
                read, arguments = columns.read_judged(file)
                sample, units = arguments.pop("y_true"), units | arguments
            else:
                read = sample = columns.scan(file, scheduler) if scan else columns.read(file)
            units |= each_class(per_class, sample)
            weights = read_pair_weights(pair_weights, read)
            units["population"] = read_shares(target_prevalence, read)
        # A scan has its own bar
        with contextlib.nullcontext() if scan else progress("Computing ..."):
            result = rehearsed(dmfroc.evaluate, n_samples)(
                sample,
                measures=measures,
                pair_weights=weights,
                **units,
                **options,
            )
            if picture and scan:
                picture.draw_result(result)
            elif picture:
                picture.draw({stem(file): sample}, options["level"], weights, units["folds"])
        write_receipt(result, receipt)
    attributes = {"file": str(file), "pair_weights": pair_weights}
    show_result(result, remarks, attributes)


@app.command(
    params=[
        *(op.FILES, *op.columns_of_either("models", *op.ROWS), op.AGAINST, *op.DIFFERENCES),
        *(op.PER_CLASS, *op.FOLLOW_UP, op.TARGET_PREVALENCE, op.REHEARSE, *op.FORMATS, op.PLOT),
        *(op.RECEIPT,),
    ]
)
def compare(**options: Any) -> None:
    """Compare classifiers, or models by their --answers to items.

    Prints their differences with intervals and p-values, and the probability of each order.
    """
    if options["plot"] and (options["judge"] or options["time"]):
        raise ValueError(NO_PLOT)
    _show_compared(**options)


@app.command(
    params=[
        *(op.FILES, *op.columns_of_either("models", *op.ROWS), op.TASK, op.AGAINST),
        *(*op.DIFFERENCES, *op.FOLLOW_UP, op.TARGET_PREVALENCE, *op.FORMATS, op.PLOT),
    ]
)
def leaderboard(**options: Any) -> None:
    """Rank many classifiers, or models by their --answers.

    Takes what compare takes, and computes the same. Prints ranks with intervals that hold all at
    once, and tiers; with --task, by the means over several tasks.
    """
    _show_compared(**options, is_ranked=True)


def _show_compared(
    files: Sequence[Path],
    answers: Sequence[str],
    against: str | None,
    pair_weights: str,
    plot: Path | None,
    receipt: Path | None = None,
    n_samples: int | None = None,
    task: str | None = None,
    is_ranked: bool = False,
    **options: Any,
) -> None:
    """Compare classifiers or models, and show their differences, or how they rank."""
    with open_picture(plot) as picture, collected_warnings() as remarks:
        columns = Columns.taken_from(options)
        columns = replace(columns, other_columns=[*columns.other_columns, *filter(None, [task])])
        check_either(columns.label, answers)
        attributes: dict[str, Any] = {"files": list(map(str, files))}
        read: Any
        if answers:
            options |= {"n_samples": n_samples}
            read, options = columns.read_items(files, answers), options_of_items(options)
            units: dict[str, Any] = {"groups": columns.read_units(*files)["groups"]}
            compared = partial(application("items"), **options)
        else:
            is_one = against is not None and len(files) == 1 and not columns.models
            each = {stem(files[0]): (columns, files[0])} if is_one else columns.of_each(files)
            read, weights, units = read_all(columns, each, pair_weights, options)
            baseline: Any = {} if against is None else {against: None}
            if "y_score" in units:
                units["y_score"] |= baseline
            options |= {"pair_weights": weights, "n_samples": n_samples, "baseline": baseline}
            compared = partial(_comparison, **options)
            named = {name: str(file) for name, (_, file) in each.items()}
            attributes = {"files": named, "pair_weights": pair_weights}
        with progress("Computing ..."):
            if task is None:
                result = compared(read, **units)
            else:
                tasks = columns.read_others(files[0], {task: "task"})[task]
                result = _over_tasks(compared, read, units, tasks)
            if is_ranked and not (hasattr(result, "ranks") and len(result.estimates) > 1):
                raise ValueError(
                    "ranks are of two models or more, by one measure: name two files, or two "
                    "columns in --answers, and one of --measures"
                )
            shown = result.ranks() if is_ranked else result
            if picture and (is_ranked or answers):
                picture.draw_result(shown)
            elif picture:
                picture.draw(read, options["level"], weights, units["folds"])
        write_receipt(result, receipt)
    show_result(shown, remarks, attributes, of_page=result)


def _over_tasks(
    compared: Callable[..., Any], read: Mapping[str, Any], units: dict[str, Any], task_of: Any
) -> Any:
    """Compare by the means over the tasks, which are named for each row."""
    from dmfroc.inputs.rows import matched

    if "judge" in units or "follow_up" in units:
        raise ValueError("--task goes with neither --judge nor --time: leave it out")
    first: Any = next(iter(read.values()))
    found: dict[str, Any] = {}
    is_items = not isinstance(first, dmfroc.Predictions)
    each: dict[str, Any] = dict(read if is_items else matched(read))
    for name in sorted({*task_of}):
        rows = task_of == name
        part = {
            x: y[y.index.isin(first.index[rows])] if is_items else y.rows(rows)
            for x, y in each.items()
        }
        own = {x: units[x][rows] for x in ("groups", "folds") if units.get(x) is not None}
        found[str(name)] = compared(part, **units | own)
    return application("leaderboard")(found) if len(found) > 1 else found.popitem()[1]


@app.command(
    params=[
        *(op.FILES, *op.columns("models", *op.ROWS), *op.DIFFERENCES, *op.FOLLOW_UP),
        *(op.TARGET_PREVALENCE, op.REPORT, op.TITLE),
    ]
)
def report(
    files: Sequence[Path], pair_weights: str, output: Path, title: str | None, **options: Any
) -> None:
    """Write a report for the browser, of one or several.

    One file that needs nothing else: who is better, curves, pairs, classes, warnings, numbers.
    """
    defaults = {"simultaneous": False, "alternative": "two-sided", "margin": None}
    is_one = len(files) == 1 and not options["models"]
    for name, default in defaults.items():
        if is_one and options[name] != default:
            raise ValueError(f"--{name} concerns several classifiers, but there is one file")
    check_not_read(output, "--output")
    with opened_page(output, "--output") as stream, collected_warnings() as remarks:
        columns = Columns.taken_from(options)
        each = {stem(files[0]): (columns, files[0])} if is_one else columns.of_each(files)
        predictions, weights, units = read_all(columns, each, pair_weights, options)
        with progress("Computing ..."):
            if is_one:
                from dmfroc.reports.page import measures_of_report

                [(name, single)] = predictions.items()
                wanted = split_calls(options["measure"])
                if "y_score" in units:
                    units |= {x: units[x][name] for x in ("y_score", "y_pred")}
                result = dmfroc.evaluate(
                    measures=list(dict.fromkeys([*wanted, *measures_of_report(wanted[0], single)])),
                    pair_weights=weights,
                    **{"y_true": single, **units},
                    **{x: options[x] for x in ("method", "level", "random_state")},
                )
                named = [name] if isinstance(result, dmfroc.results.Evaluation) else []
            else:
                result = _comparison(predictions, pair_weights=weights, **units | options)
                named = []
            stream.write(renderer(result, "page")(result, *named, title=title).encode())
    show_place("report", output, remarks, result)


def _comparison(
    predictions: Mapping[str, Any],
    *,
    measure: Any,
    pair_weights: Any,
    n_samples: int | None = None,
    baseline: Mapping[str, Any] = {},
    per_class: bool = False,
    **options: Any,
) -> Result:
    options |= each_class(per_class, options.get("y_true", predictions))
    if pair_weights != "equal":
        options_of = dmfroc.measures.get_measure(measure).options
        measure = dmfroc.measures.dmf_auc(**options_of | {"pair_weights": pair_weights})
    return rehearsed(dmfroc.compare, n_samples)(
        **{"y_true": {**predictions, **baseline}, "measures": measure, **options}
    )


@app.command(
    params=[
        *(op.FILE, *op.columns("threshold", "folds", "groups", "by"), *op.FOLLOW_UP, op.MEASURE),
        *(*op.INTERVALS, *op.FORMATS, op.PLOT),
    ]
)
def subgroups(file: Path, plot: Path | None, **options: Any) -> None:
    """Compare subgroups of one classifier's observations.

    Prints the measure in each group, all differences with simultaneous intervals, and one test.
    --plot draws the values.
    """
    columns = Columns.taken_from(options)
    columns = replace(columns, by=split_all(columns.by))
    with open_picture(plot) as picture, collected_warnings() as remarks:
        with progress("Computing ..."):
            by = columns.read_others(file, dict.fromkeys(columns.by, "by"))
            units = columns.read_units(file)
            options["measures"] = options.pop("measure")
            result = dmfroc.compare_subgroups(columns.read(file), by=by, **units, **options)
        if picture:
            picture.draw_result(result)
    attributes = {"file": str(file), "by": list(columns.by)}
    remarks = [note for note in remarks if not note.startswith("left out: ")]
    show_result(result, remarks, attributes)


@app.command(
    params=[
        *(op.RULES, op.FILE, op.BASELINE, *op.columns_of_either(*op.ROWS), *op.INTERVALS[:-1]),
        *(*op.FOLLOW_UP, op.REHEARSE, op.JUNIT, *op.FORMATS),
    ]
)
def gate(
    rules: Path,
    file: Path,
    baseline: Path | None,
    answers: Sequence[str],
    junit: Path | None,
    n_samples: int | None,
    **options: Any,
) -> int:
    """Hold a classifier against written rules.

    Ends with 0 if all RULES pass, 1 if one fails, 3 if the data do not decide, 2 after an error.
    """
    if file.suffix.lower() == ".toml" != rules.suffix.lower():
        raise ValueError(f"RULES come first: dmfroc gate {file} {rules}")
    written, *_ = application("read_rules")(rules)
    by = options["by"] = [rule.worst_of for rule in written if rule.worst_of is not None]
    columns = Columns.taken_from(options)
    check_either(columns.label, answers)
    files = {"new": file} | ({} if baseline is None else {"baseline": baseline})
    with opened(junit, "--junit") as stream, collected_warnings() as remarks:
        with progress("Computing ..."):
            parts = columns.read_others(file, dict.fromkeys(by, "worst_of"))
            units = columns.read_units(*files.values())
            sample: Any
            if answers:
                if n_samples is not None:
                    raise ValueError("--rehearse is for --label, not for --answers: leave one out")
                scores = {name: columns.read_answers(x, answers) for name, x in files.items()}
                sample, units = application("items")(scores, groups=units["groups"]), {}
            elif columns.judge:
                each = {name: (columns, x) for name, x in files.items()}
                sample, judged = columns.read_all_judged(each)
                sample, units = judged.pop("y_true"), units | judged
                if baseline is None:
                    units |= {x: units[x]["new"] for x in ("y_score", "y_pred")}
            else:
                read = {name: columns.read(x) for name, x in files.items()}
                sample = read if baseline else read["new"]
            judged_by = rehearsed(partial(application("gate"), rules), n_samples)
            result = judged_by(sample, by=parts or None, **units, **options)
            verdict = getattr(result, "result", result)
        if stream:
            stream.write(verdict.to_junit().encode())
    named = {"rules_file": str(rules), "files": {name: str(x) for name, x in files.items()}}
    show_result(result, remarks, named)
    return verdict.exit_code


@app.command(
    params=[
        *(op.FILES, *op.columns("threshold", "folds", "groups"), op.MEASURE, *op.PLANNED, op.LEVEL),
        *(*op.FORMATS,),
    ]
)
def plan(files: Sequence[Path], **options: Any) -> None:
    """Say how many cases a test set needs.

    FILES are the pilot: predictions of one classifier, or of two for their difference.
    """
    columns = Columns.taken_from(options)
    has_difference = options["difference"] is not None or options["margin"] is not None
    if has_difference == (options["half_width"] is not None):
        raise ValueError("give either --half-width, or --difference (or --margin) with --power")
    with collected_warnings() as remarks, progress("Computing ..."):
        pilots = dict(zip(classifier_names(files), map(columns.read, files), strict=True))
        units = columns.read_units(*files)
        options |= {name: units[name] for name in ("folds", "groups")}
        result = application("plan")(pilots if len(pilots) > 1 else pilots.popitem()[1], **options)
    show_result(result, remarks, {})


@app.command(params=[op.RATINGS, *op.OF_RATERS, *op.INTERVALS, *op.FORMATS])
def agreement(file: Path, raters: Sequence[str], measures: str, **options: Any) -> None:
    """Say how far raters agree beyond chance.

    Prints coefficients of two or more raters with intervals, also if some ratings are missing.
    """
    options |= {"label": None, "measures": split_calls(measures)}
    columns = Columns.taken_from(options)
    options["labels"] = columns.labels and split_list(columns.labels)
    with collected_warnings() as remarks, progress("Computing ..."):
        groups = columns.read_units(file)["groups"]
        ratings = columns.read_ratings(file, raters)
        result = application("rater_agreement")(ratings, groups=groups, **options)
    show_result(result, remarks, {"file": str(file)})


@app.command(params=[op.RECEIPTS, *op.POOLED, op.LEVEL, *op.FORMATS, op.PLOT])
def pool(
    files: Sequence[Path],
    classifier: str | None,
    plot: Path | None,
    **options: Any,
) -> None:
    """Pool what several sites found, from their receipts.

    Prints the mean, how sites differ, and what to expect of a new site; --plot draws the forest.
    """
    names = tuple(classifier.split(",")) if classifier else ()
    named: Any = names if len(names) > 1 else classifier
    with open_picture(plot) as picture, collected_warnings() as remarks:
        result = application("pool")(list(files), classifier=named, **options)
        if picture:
            picture.draw_result(result)
    show_result(result, remarks, {})


@app.command(
    params=[
        *(op.FILE, *op.columns(), *op.FOLLOW_UP, op.DRAWS, op.SEED, *op.FORMATS, op.PLOT),
    ]
)
def calibration(file: Path, plot: Path | None, **options: Any) -> None:
    """Test whether probabilities are calibrated.

    Prints slopes, intercepts and tests of each class; --plot draws the reliability diagram.
    """
    _show_of_one(file, application("calibration_tests"), options, plot)


@app.command(
    params=[
        *(op.FILE, *op.columns(), *op.FOLLOW_UP, *op.CHOICE, op.SEED, op.LEVEL),
        *(*op.FORMATS, op.PLOT),
    ]
)
def threshold(file: Path, plot: Path | None, **options: Any) -> None:
    """Choose the threshold (cutoff) from which cases are positive.

    Prints it with its interval, sensitivity and specificity there, and what to expect in new cases.
    Of more than two classes each has one, against the rest. --plot draws the criterion.
    """
    choose = partial(application("choose_threshold"), by=options.pop("by"))
    _show_of_one(file, choose, options, plot)


@app.command(
    params=[
        *(op.FILE, *op.columns("groups"), *op.FOLLOW_UP, op.THRESHOLDS, op.LEVEL, *op.FORMATS),
        *(op.PLOT,),
    ]
)
def decision(file: Path, plot: Path | None, thresholds: Sequence[float], **options: Any) -> None:
    """Say at which thresholds deciding by the score is of use.

    Prints the net benefit beside those of treating all and none; --plot draws the curves.
    """
    options["thresholds"] = sorted({*thresholds}) or None
    _show_of_one(file, application("decision_curve"), options, plot)


def _show_of_one(
    file: Path,
    analysis: Callable[..., Any],
    options: dict[str, Any],
    plot: Path | None,
) -> None:
    """Show an analysis of one classifier whose probabilities or scores are in a file."""
    columns = Columns.taken_from(options)
    with open_picture(plot) as picture, collected_warnings() as remarks:
        with progress(f"Reading {file} ..."):
            predictions, units = columns.read(file), columns.read_units(file)
        options |= {name: x for name, x in units.items() if x is not None}
        with progress("Computing ..."):
            result = analysis(predictions, **options)
        if picture:
            picture.draw_result(result)
    show_result(result, remarks, {"file": str(file)})


@app.command(params=[op.KIND, op.FILE, *op.columns(), op.PICTURE])
def plot(kind: str, file: Path, output: Path | None, **options: Any) -> None:
    """Draw a chart of one classifier.

    One curve per class, each against the rest; of two classes, that of the second.
    """
    target = Path(f"dmfroc-{kind}.png") if output is None else output
    with open_picture(target, "--output") as picture, collected_warnings() as remarks:
        with progress(f"Reading {file} ..."):
            predictions = Columns.taken_from(options).read(file)
        with progress("Drawing ..."):
            assert picture is not None
            picture.draw_chart(kind, predictions)
    show_place("picture", target, [*predictions.remarks, *remarks])


@app.command(params=[op.PATTERNS, *op.FORMATS[:1]])
def measures(patterns: Sequence[str]) -> None:
    """List the measures, or those that words name.

    Prints their ranges and their values under chance; --json has more.
    """
    from dmfroc.measures.registry import SYNONYMS  # help does without NumPy

    table = dmfroc.measures.measure_table().reset_index()
    texts = table[["measure", "title", "family"]].agg(" ".join, axis=1).str.lower()
    texts += " " + table["measure"].map(SYNONYMS).fillna("")
    for pattern in patterns:
        has_text = texts.str.contains(pattern.lower(), regex=False)
        is_meant = table["measure"] == measure_called(pattern)
        table = table[has_text if has_text.any() else is_meant]
        texts = texts[table.index]
    if chosen("form"):
        show_json({"measures": table.to_dict("records")})
        return
    if table.empty:
        word = " ".join(patterns)
        use = f"dmfroc {x}" if (x := command_for(word)) else said_of(word)
        near = did_you_mean(patterns[-1], dmfroc.measures.measure_table().index)
        near = f": use {use}" if use else near
        hint = "".join(map(unclear, patterns)) or f" in its name, title or family{near}"
        raise ValueError(f"no measure has {listing(patterns)}{hint}")
    table["title"] = table["title"].replace("Hand-Till M", "Hand-Till M, AUC of two classes")
    columns = ["measure", "title", "low", "high", "chance"]
    rows = [
        [f"{x:.3g}".replace("nan", "") if isinstance(x, float) else str(x) for x in row]
        for row in table[columns].itertuples(index=False)
    ]
    show(format_table(columns, rows, [x in ("low", "high", "chance") for x in columns]))


@app.command(params=[op.DEMO_PLOT])
def demo(plot: Path) -> None:
    """Evaluate and compare three classifiers of 178 wines.

    An example whose data ship with scikit-learn. Prints what evaluate and compare do, and draws
    the curves.
    """
    with open_picture(plot) as picture, collected_warnings():
        from dmfroc.cli.demo import DESCRIPTION, demo_classifiers

        show(DESCRIPTION)
        classifiers, measurements, cultivars = demo_classifiers()
        predictions, remarks = {}, {}
        for name, classifier in classifiers.items():
            with progress(f"Fitting and evaluating: {name} ..."):
                evaluation = dmfroc.cross_validate(classifier, measurements, cultivars)
            predictions[name] = evaluation.predictions
            advice = "pass y_pred= if you know better: "  # of no use without a file
            remarks[name] = [x.removeprefix(advice) for x in evaluation.warnings]
            show(f"\n{name.upper()}\n{evaluation.as_text(warnings=False)}")
        with progress("Comparing ..."):
            comparison = dmfroc.compare(predictions)
            if picture:
                picture.draw(predictions, comparison.level, "equal", None)
    show("\nCOMPARISON")
    show_result(comparison, attributed(remarks), {})


@app.command()
def cite() -> None:
    """Print what to cite, as BibTeX."""
    entries = (files("dmfroc.cli") / "citation.bib").read_text(encoding="utf-8").rstrip()
    show(entries.replace("VERSION", package_version()))
