"""Posterior distributions: of the multiclass ROC curve, and of measures of hard labels.

Importing this room imports NumPyro and ArviZ, which takes seconds.
"""

from __future__ import annotations

from dmfroc.bayes.models import Priors, model
from dmfroc.bayes.posterior import Posterior
from dmfroc.bayes.roc import bayesian_roc, bayesian_roc_prior

__all__ = ["Posterior", "Priors", "bayesian_roc", "bayesian_roc_prior", "model"]
