from . import curves as curves
from . import decisions as decisions
from . import functional as functional
from . import measures as measures
from . import papers as papers
from . import plots as plots
from . import results as results
from . import simulation as simulation
from .analyses.accumulation import (
    Accumulator as Accumulator,
)
from .analyses.calibration_tests import (
    calibration_tests as calibration_tests,
)
from .analyses.comparison import (
    compare as compare,
)
from .analyses.comparison_result import (
    Comparison as Comparison,
)
from .analyses.cross_validation import (
    cross_validate as cross_validate,
)
from .analyses.cross_validation import (
    nested_cross_validation as nested_cross_validation,
)
from .analyses.estimation import (
    estimate as estimate,
)
from .analyses.estimation import (
    influences as influences,
)
from .analyses.evaluation import (
    Evaluation as Evaluation,
)
from .analyses.evaluation import (
    evaluate as evaluate,
)
from .analyses.gate import (
    gate as gate,
)
from .analyses.items import (
    items as items,
)
from .analyses.judged_shares import (
    judged_shares as judged_shares,
)
from .analyses.leaderboard import (
    leaderboard as leaderboard,
)
from .analyses.multilabel import (
    multilabel as multilabel,
)
from .analyses.planning import (
    plan as plan,
)
from .analyses.pooling import (
    pool as pool,
)
from .analyses.scorers import (
    scorers as scorers,
)
from .analyses.subgroups import (
    compare_subgroups as compare_subgroups,
)
from .analyses.table_posterior import (
    bayesian_table as bayesian_table,
)
from .analyses.training_runs import (
    compare_runs as compare_runs,
)
from .bayes import (
    Priors as Priors,
)
from .bayes import (
    bayesian_roc as bayesian_roc,
)
from .bayes import (
    bayesian_roc_prior as bayesian_roc_prior,
)
from .counted.scan import (
    Scan as Scan,
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
from .measures.contingency_table import (
    ContingencyTable as ContingencyTable,
)
from .measures.contingency_table import (
    contingency_measures as contingency_measures,
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
from .meta_analysis import (
    SummaryPriors as SummaryPriors,
)
from .meta_analysis import (
    summary_roc as summary_roc,
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
from .results.estimate import (
    Estimate as Estimate,
)

__version__: str
