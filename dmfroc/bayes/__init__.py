"""Posterior distributions: of the multiclass ROC curve, and of measures of hard labels.

NumPyro and ArviZ are imported here and nowhere else: they come with ``dmfroc[bayes]``.
"""

from __future__ import annotations

try:
    import arviz  # noqa: F401
    import numpyro  # noqa: F401
except ImportError as error:
    raise ImportError(
        "posterior distributions need NumPyro and ArviZ: pip install 'dmfroc[bayes]'"
    ) from error

from dmfroc.bayes.models import Priors
from dmfroc.bayes.posterior import Posterior
from dmfroc.bayes.roc import bayesian_roc, bayesian_roc_prior

__all__ = ["Posterior", "Priors", "bayesian_roc", "bayesian_roc_prior"]
