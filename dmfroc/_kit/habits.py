"""What people who know other packages type first, and the line to type here."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from importlib import import_module
from types import FunctionType
from typing import TYPE_CHECKING, Any

from dmfroc._kit.text import did_you_mean

_AREA = 'estimate("hand_till", y_true, y_score), or hand_till_score for the number alone'
_TEST = 'compare(y_true, {"a": scores_a, "b": scores_b}, measure="hand_till")'
_BOOTSTRAP = 'estimate("hand_till", y_true, y_score, method="bootstrap")'
_PLOT = "evaluate(y_true, y_score).plot(), or plots.ROCDisplay.from_predictions(y_true, y_score)"
_LABELS = 'compare(y_true, y_pred={"a": labels_a, "b": labels_b}, measure="accuracy")'
_SIZE = "plan(y_true, y_score, half_width=0.05)"
_POINTS = "curves.operating_points(y_true, y_score)"

NAMES = {
    **dict.fromkeys(("auc", "AUC", "auroc", "AUROC", "roc_auc", "ci", "ci_auc"), _AREA),
    "roc_auc_score": _AREA,
    "roc": "curves.roc_curve(y_true, y_score)",
    **dict.fromkeys(("plot", "plot_roc", "plot_roc_curve", "RocCurveDisplay"), _PLOT),
    **dict.fromkeys(("roc_test", "delong", "delong_test", "delong_roc_test"), _TEST),
    **dict.fromkeys(("mcnemar", "mcnemar_test"), _LABELS),
    **dict.fromkeys(("bootstrap", "bootstrap_ci", "auc_ci"), _BOOTSTRAP),
    **dict.fromkeys(("coords", "confusion_matrix_at_thresholds"), _POINTS),
    **dict.fromkeys(("confusion_matrix", "ConfusionMatrixDisplay", "multilabel_confusion_matrix"),
        "ContingencyTable.from_labels(y_true, y_pred)"),
    **dict.fromkeys(("sample_size", "power", "power_roc_test"), _SIZE),
    **dict.fromkeys(("cutpointr", "optimal_cutpoint", "optimal_threshold"),
        "decisions.choose_threshold(y_true, y_score)"),
    **dict.fromkeys(("dca", "net_benefit_curve"), "curves.decision_curve(y_true, y_score)"),
    "report": "evaluate(y_true, y_score).to_html()",
    "classification_report": "evaluate(y_true, y_pred=y_pred)",
    "cross_val_score": "cross_validate(model, X, y)",
    "multiclass_roc_auc": 'estimate("dmf_auc", y_true, y_score)',
}  # fmt: skip
"""Names of other packages that are no measure here: what to type after ``dmfroc.`` instead."""

ALIKE = (
    "level alpha ci confidence confidence_level conf_level coverage",
    "n_draws n_boot n_bootstrap n_bootstraps n_resamples bootstrap n_samples n_iter",
    "random_state seed random_seed rng key",
    "y_score y_prob y_proba y_pred_proba probas scores score proba probabilities",
    "y_pred pred preds predictions predicted",
    "y_true y y_test target truth",
    "measure measures metric metrics scoring scorer criterion by average multi_class",
    "pos_label positive positive_class event_level",
    "groups cluster clusters subject id patient",
    "by subgroups subgroup group",
    "labels classes class_names target_names n_classes num_classes",
    "folds cv n_splits",
    "sample_weight weights weight",
    "half_width width",
    "cost_fp cost_fn costs cost",
    "curve_kwargs line_kwargs line_kw plot_kwargs",
)
"""Names of options, here and elsewhere, that mean the same."""

_ALIKE_ATTRIBUTES = (
    "interval ci lower upper low high bounds conf_int confint confidence_interval",
    "interval ci_low ci_high ci_lower ci_upper",
    "standard_error std_error std_err stderr se std sd",
    "p_value pvalue p_val pval p",
    "value estimate point mean score statistic",
    "area_estimate area auc roc_auc auroc",
    "x fpr",
    "y tpr",
    "to_pandas to_frame to_df to_dataframe to_csv to_excel to_polars df frame",
    "as_json to_dict dict json",
    "to_html save report to_report",
    "n_observations n n_obs nobs n_samples size",
    "labels classes classes_ class_names target_names",
    "class_counts support counts",
    "best_set winner best best_model",
    "verdict passed ok status",
    "title label name",
)
"""Attributes of results, here and elsewhere, that mean the same."""

_EXPLAINED = {"level": "the coverage, such as level=0.95", "folds": "the fold of each row"}
OPTIONS = {
    "delong": "no method: the default is DeLong's for areas",
    "cv": "folds= the fold of each row, or dmfroc.cross_validate(model, X, y, cv=...)",
    "bootstrap": 'method="bootstrap", n_draws=',
    "correction": "simultaneous=True for joint intervals; p-values are adjusted as they are",
    "data": 'y_true=data["..."], y_score=data[[...]]',
    "names": 'labels= for classes; classifiers are named as in {"a": scores_a}',
    "nan_policy": "no rows with missing values",
    "reference": "no reference: all pairs are compared",
    "costs": "measures=[dmfroc.measures.expected_utility(costs)]",
    "figsize": "ax= of matplotlib.pyplot.subplots(figsize=...)",
    "chance_level_kw": "plot_chance_level=False to draw your own line",
    "response_method": "y_score=model.predict_proba(X) or model.decision_function(X)",
    "threshold": "y_pred=score >= threshold, or dmfroc.decisions.operating_point",
    **dict.fromkeys(
        ("average", "multi_class"),
        "measures= or measure= of that name, such as 'one_vs_rest_auc', 'hand_till' or 'macro_f1'",
    ),
}
"""What to pass instead of options that no option here is like."""
_MOST_SHOWN = 8  # arguments


def unknown_option(function: str, name: str, known: Iterable[str]) -> str:
    """Say that a function has no such option, and which one may be meant."""
    hint = _hint(name, [*known]) or f"; help({function}) lists its arguments"
    return f"{function}() got an unexpected keyword argument {name!r}{hint}"


def _hint(name: str, known: list[str]) -> str:
    remedy = OPTIONS.get(name, "")
    named = set(re.findall(r"(\w+)=", remedy))
    if named & {*known} or (remedy and not named):
        return f": pass {remedy}"
    alike = [x for x in names_alike(name, ALIKE) if x in known]
    meant = [f"{x}=, {_EXPLAINED[x]}" if x in _EXPLAINED else f"{x}=" for x in alike]
    if meant:
        return f": pass {' or '.join(meant)}"
    if len(known) <= _MOST_SHOWN:
        return f": its arguments are {', '.join(known) or 'none'}"
    return did_you_mean(name, known)


def names_alike(name: str, groups: tuple[str, ...]) -> list[str]:
    """Return the names that mean the same as one."""
    return [x for group in groups if name in group.split() for x in group.split()]


class Hinted:
    """An object that answers a missing attribute with where it, or a part of it, has the like."""

    if not TYPE_CHECKING:  # type checkers find missing attributes by themselves

        def __getattr__(self, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            kind = type(self)
            if hasattr(kind, name):  # a property that raised
                return object.__getattribute__(self, name)
            hint = _place_in(self, name) or did_you_mean(name, dir(self))
            raise AttributeError(f"{kind.__name__!r} object has no attribute {name!r}{hint}")


def _place_in(whole: Any, name: str) -> str:
    places = {"": whole}
    for key, value in vars(whole).items():
        if key == "estimates":
            if name in value:
                return f": type [{name!r}]"
            places |= {f"[{k!r}]": x for k, x in [*value.items()][:1]}
        elif isinstance(value, tuple | list):
            places |= {f".{key}[0]": x for x in value[:1]}
        else:
            places[f".{key}"] = value
    for word in dict.fromkeys([name, *names_alike(name, _ALIKE_ATTRIBUTES)]):
        for place, part in places.items():
            if type(part).__module__.startswith(("dmfroc.", "matplotlib.")):
                of_type = getattr(type(part), word, None)
                if of_type is not None or word in getattr(part, "__dict__", ()):
                    return f": type {place}.{word}{'()' * isinstance(of_type, FunctionType)}"
    if name in NAMES:
        return f": type dmfroc.{NAMES[name]}"
    return import_module("dmfroc.analyses.catalogue").line_of_measure(name)


def answering[T](public: T) -> T:
    """Return a public function, or class, that explains the arguments that it cannot take.

    Methods of a class, its own and inherited ones, are replaced in the class.
    """
    if isinstance(public, type):
        for kind in public.__mro__:
            for name, method in [*vars(kind).items()] if _is_own(kind) else ():
                if name == "__init__" or not name.startswith("_"):
                    _replace(kind, name, method)
        return public
    if not isinstance(public, FunctionType) or not _is_own(public) or "answered" in vars(public):
        return public
    function: Callable[..., Any] = public

    @functools.wraps(function)
    def answered(*args: Any, **options: Any) -> Any:
        try:
            return function(*args, **options)
        except TypeError:
            misuse = _misuse(function, args, options)
            if misuse is None:
                raise
        raise TypeError(misuse)

    vars(function)["answered"] = vars(answered)["answered"] = answered
    if "." not in function.__qualname__:  # where pickle finds it, beside the function itself
        answered.__qualname__ += ".answered"
    return answered  # type: ignore[return-value]


def _is_own(public: Any) -> bool:
    return str(public.__module__).startswith("dmfroc.")


def _replace(kind: type, name: str, method: Any) -> None:
    if isinstance(method, classmethod | staticmethod):
        setattr(kind, name, type(method)(answering(method.__func__)))
    elif isinstance(method, FunctionType):
        setattr(kind, name, answering(method))


def _misuse(function: Any, args: tuple[Any, ...], options: dict[str, Any]) -> str | None:
    """Return what is wrong with the arguments of a call, and the call to make; None if nothing."""
    import inspect

    signature = inspect.signature(function)
    try:
        signature.bind(*args, **options)
    except TypeError as error:
        problem = str(error)
    else:
        return None
    parameters = {k: x for k, x in signature.parameters.items() if k not in ("self", "cls")}
    name, owner = function.__name__, None
    if len(parameters) < len(signature.parameters) and args:
        owner = args[0] if isinstance(args[0], type) else type(args[0])
        name = owner.__name__ if name == "__init__" else f"{owner.__name__}.{name}"
    unknown = [x for x in options if x not in parameters]
    remedy = getattr(function, "remedy", "")
    if unknown:
        answer = unknown_option(name, unknown[0], parameters)
        return f"{answer}: {remedy}" if remedy and len(unknown) > 1 else answer
    if not remedy:
        by_name = inspect.Parameter.KEYWORD_ONLY
        words = [f"{k}=" if x.kind is by_name else k for k, x in parameters.items()]
        words[_MOST_SHOWN:] = ["..."] * (len(words) > _MOST_SHOWN)
        remedy = f"call {name}({', '.join(words)})"
        if signature.return_annotation == "Measure":
            remedy = f"it makes a measure, call estimate({name}(), y_true, y_score)"
        if function.__name__ == "__init__":
            makers = [x for x in dir(owner) if x.startswith("from_")]
            remedy = " or ".join([remedy, *(f"{name}.{x}()" for x in makers)])
    return f"{name}(): {problem}: {remedy}"
