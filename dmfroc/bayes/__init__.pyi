from ..analyses.table_posterior import bayesian_table as bayesian_table
from .models import Priors as Priors
from .models import model as model
from .posterior import Posterior as Posterior
from .roc import bayesian_roc as bayesian_roc
