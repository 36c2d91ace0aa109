from . import applications as applications
from . import bayes as bayes
from . import curves as curves
from . import measures as measures
from . import plots as plots
from . import results as results
from .analyses.comparison import (
    compare as compare,
)
from .analyses.cross_validation import (
    cross_validate as cross_validate,
)
from .analyses.estimation import (
    estimate as estimate,
)
from .analyses.evaluation import (
    evaluate as evaluate,
)
from .analyses.subgroups import (
    compare_subgroups as compare_subgroups,
)
from .analyses.training_runs import (
    compare_runs as compare_runs,
)
from .counted.scan import (
    scan as scan,
)
from .inference.bootstrap import (
    BayesianBootstrap as BayesianBootstrap,
)
from .inference.bootstrap import (
    Bootstrap as Bootstrap,
)
from .inference.hypothesis import (
    Equivalence as Equivalence,
)
from .inference.hypothesis import (
    NonInferiority as NonInferiority,
)
from .inputs.class_shares import (
    Importance as Importance,
)
from .inputs.horizon import (
    FollowUp as FollowUp,
)
from .inputs.judge import (
    Judge as Judge,
)
from .inputs.of_rows import (
    Folds as Folds,
)
from .inputs.predictions import (
    Predictions as Predictions,
)
from .measures.curve_areas import (
    average_precision_score as average_precision_score,
)
from .measures.measure import (
    Measure as Measure,
)
from .measures.ranking import (
    hand_till_score as hand_till_score,
)
from .measures.ranking import (
    one_vs_rest_auc_per_class as one_vs_rest_auc_per_class,
)
from .measures.ranking import (
    pairwise_auc_matrix as pairwise_auc_matrix,
)
from .measures.table import (
    cohen_kappa_score as cohen_kappa_score,
)
from .measures.table import (
    informedness_score as informedness_score,
)
from .multiclass.curve import (
    multiclass_roc as multiclass_roc,
)
from .multiclass.factorization import (
    dmf as dmf,
)
from .multiclass.measure import (
    dmf_auc_score as dmf_auc_score,
)

__version__: str
