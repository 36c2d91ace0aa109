"""Meta-analysis of diagnostic accuracy: summary ROC curves from the published counts of studies."""

from __future__ import annotations

from dmfroc.meta_analysis.models import SummaryPriors
from dmfroc.meta_analysis.result import SummaryROC
from dmfroc.meta_analysis.summary import summary_roc

__all__ = ["SummaryPriors", "SummaryROC", "summary_roc"]
