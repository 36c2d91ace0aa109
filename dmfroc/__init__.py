"""Multiclass ROC curves, AUCs and honest intervals by deviance matrix factorization."""

from __future__ import annotations

from typing import Any

import lazy_loader

from dmfroc._kit.global_state import undisturbed
from dmfroc._kit.habits import NAMES
from dmfroc.results.renderers import RENDERERS

# Every public name, and where it lives, is listed in `__init__.pyi`. It is imported when it is
# first used, so that `import dmfroc` does not wait for JAX.
_get, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


# Results are drawn and written by rooms above them, which are imported when that is asked for.
RENDERERS |= {
    "CalibrationTests.plot": "dmfroc.plots.reliability:ReliabilityDisplay._from_result",
    "ThresholdChoice.plot": "dmfroc.plots.decision:ThresholdDisplay._from_result",
    "DecisionCurve.plot": "dmfroc.plots.decision:DecisionDisplay._from_result",
    "HorizonCurves.plot": "dmfroc.plots.results:HorizonDisplay._from_result",
    "Estimate.plot": "dmfroc.plots.results:plot_estimate",
    "Evaluation.plot": "dmfroc.plots.results:plot_evaluation",
    "Comparison.plot": "dmfroc.plots.results:plot_comparison",
    "Comparison.plot_best_set": "dmfroc.plots.results:plot_best_set",
    "SubgroupComparison.plot": "dmfroc.plots.results:plot_subgroups",
    "RunsComparison.plot": "dmfroc.plots.results:plot_runs",
    "Plan.plot": "dmfroc.plots.results:PlanDisplay._from_result",
    "ConfidenceSequence.plot": "dmfroc.plots.results:SequenceDisplay._from_result",
    "Posterior.plot": "dmfroc.plots.multiclass_roc:MulticlassROCDisplay.from_posterior",
    "Posterior.plot_pairs": "dmfroc.plots.results:plot_posterior_pairs",
    "SummaryROC.plot": "dmfroc.plots.meta_analysis:SummaryROCDisplay._from_result",
    "SummaryROC.plot_forest": "dmfroc.plots.meta_analysis:ForestDisplay._from_result",
    "Result.notebook": "dmfroc.reports.rendering:result_as_html",
    "Result.page": "dmfroc.reports.designs:result_page",
    "Evaluation.page": "dmfroc.reports.page:evaluation_page",
    "Comparison.page": "dmfroc.reports.page:comparison_page",
    "SummaryROC.page": "dmfroc.reports.designs:summary_page",
    "SubgroupComparison.page": "dmfroc.reports.designs:subgroups_page",
    "RunsComparison.page": "dmfroc.reports.designs:runs_page",
    "Plan.page": "dmfroc.reports.designs:plan_page",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("dmfroc")
    if name in NAMES:
        raise AttributeError(f"dmfroc has no {name}: type dmfroc.{NAMES[name]}", name=name)
    with undisturbed():
        return _get(name)
