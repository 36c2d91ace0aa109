from . import curves as curves
from . import measures as measures
from . import plots as plots
from . import simulation as simulation
from .analyses.comparison import (
    compare as compare,
)
from .analyses.cross_validation import (
    NestedCrossValidation as NestedCrossValidation,
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
from .analyses.planning import (
    Plan as Plan,
)
from .analyses.planning import (
    plan as plan,
)
from .analyses.scorers import (
    scorers as scorers,
)
from .analyses.subgroups import (
    SubgroupComparison as SubgroupComparison,
)
from .analyses.subgroups import (
    compare_subgroups as compare_subgroups,
)
from .analyses.table_posterior import (
    bayesian_table as bayesian_table,
)
from .analyses.training_runs import (
    RunsComparison as RunsComparison,
)
from .analyses.training_runs import (
    compare_runs as compare_runs,
)
from .bayes import (
    Posterior as Posterior,
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
from .counted.accumulation import (
    Accumulator as Accumulator,
)
from .counted.scan import (
    Scan as Scan,
)
from .counted.scan import (
    scan as scan,
)
from .curves import (
    Curve as Curve,
)
from .curves import (
    OperatingPoints as OperatingPoints,
)
from .curves import (
    accuracy_curve as accuracy_curve,
)
from .curves import (
    bift_curve as bift_curve,
)
from .curves import (
    bird_curve as bird_curve,
)
from .curves import (
    boc_curve as boc_curve,
)
from .curves import (
    bprd_curve as bprd_curve,
)
from .curves import (
    calibration_curve as calibration_curve,
)
from .curves import (
    convex_hull as convex_hull,
)
from .curves import (
    cost_curve as cost_curve,
)
from .curves import (
    cumulative_gains_curve as cumulative_gains_curve,
)
from .curves import (
    delta_pn_curve as delta_pn_curve,
)
from .curves import (
    det_curve as det_curve,
)
from .curves import (
    isometrics as isometrics,
)
from .curves import (
    isotonic_calibration_curve as isotonic_calibration_curve,
)
from .curves import (
    lift_curve as lift_curve,
)
from .curves import (
    loess_calibration_curve as loess_calibration_curve,
)
from .curves import (
    log_precision_recall_curve as log_precision_recall_curve,
)
from .curves import (
    operating_points as operating_points,
)
from .curves import (
    pn_curve as pn_curve,
)
from .curves import (
    precision_recall_curve as precision_recall_curve,
)
from .curves import (
    prg_curve as prg_curve,
)
from .curves import (
    reciprocal_precision_recall_curve as reciprocal_precision_recall_curve,
)
from .curves import (
    roc_curve as roc_curve,
)
from .curves import (
    roc_from_calibration as roc_from_calibration,
)
from .decisions.class_weights import (
    ClassWeights as ClassWeights,
)
from .decisions.class_weights import (
    select_class_weights as select_class_weights,
)
from .decisions.iso_performance import (
    OperatingPoint as OperatingPoint,
)
from .decisions.iso_performance import (
    OptimalOperatingPoints as OptimalOperatingPoints,
)
from .decisions.iso_performance import (
    RandomizedThreshold as RandomizedThreshold,
)
from .decisions.iso_performance import (
    operating_point as operating_point,
)
from .decisions.iso_performance import (
    optimal_operating_points as optimal_operating_points,
)
from .decisions.iso_performance import (
    randomized_threshold as randomized_threshold,
)
from .decisions.iso_performance import (
    skew_sensitive_accuracy as skew_sensitive_accuracy,
)
from .decisions.nested_selection import (
    ExpectedCost as ExpectedCost,
)
from .decisions.nested_selection import (
    NestedCosts as NestedCosts,
)
from .decisions.nested_selection import (
    ThresholdSelection as ThresholdSelection,
)
from .decisions.nested_selection import (
    nested_class_weights as nested_class_weights,
)
from .decisions.nested_selection import (
    nested_threshold_selection as nested_threshold_selection,
)
from .decisions.threshold_selection import (
    ClassWeightsClassifierCV as ClassWeightsClassifierCV,
)
from .decisions.threshold_selection import (
    IsoPerformanceClassifierCV as IsoPerformanceClassifierCV,
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
    SummaryROC as SummaryROC,
)
from .meta_analysis import (
    summary_roc as summary_roc,
)
from .multiclass.costs import (
    majority_costs as majority_costs,
)
from .multiclass.curve import (
    MulticlassROC as MulticlassROC,
)
from .multiclass.curve import (
    multiclass_roc as multiclass_roc,
)
from .multiclass.factorization import (
    Factorization as Factorization,
)
from .multiclass.factorization import (
    dmf as dmf,
)
from .multiclass.measure import (
    dmf_auc_score as dmf_auc_score,
)
from .papers.significance import (
    chi_squared_test as chi_squared_test,
)
from .papers.significance import (
    fisher_exact_test as fisher_exact_test,
)
from .papers.significance import (
    likelihood_ratio_test as likelihood_ratio_test,
)
from .papers.significance import (
    powers_statistics as powers_statistics,
)
from .papers.significance import (
    sellke_bayarri_berger as sellke_bayarri_berger,
)
from .plots import (
    AccuracyDisplay as AccuracyDisplay,
)
from .plots import (
    BIFTDisplay as BIFTDisplay,
)
from .plots import (
    BIRDDisplay as BIRDDisplay,
)
from .plots import (
    BOCDisplay as BOCDisplay,
)
from .plots import (
    BPRDDisplay as BPRDDisplay,
)
from .plots import (
    CalibrationDisplay as CalibrationDisplay,
)
from .plots import (
    ComparisonDisplay as ComparisonDisplay,
)
from .plots import (
    CostDisplay as CostDisplay,
)
from .plots import (
    CumulativeGainsDisplay as CumulativeGainsDisplay,
)
from .plots import (
    DeltaPNDisplay as DeltaPNDisplay,
)
from .plots import (
    DETDisplay as DETDisplay,
)
from .plots import (
    LiftDisplay as LiftDisplay,
)
from .plots import (
    LogPrecisionRecallDisplay as LogPrecisionRecallDisplay,
)
from .plots import (
    MulticlassROCDisplay as MulticlassROCDisplay,
)
from .plots import (
    PairwiseAUCDisplay as PairwiseAUCDisplay,
)
from .plots import (
    PNDisplay as PNDisplay,
)
from .plots import (
    PrecisionRecallDisplay as PrecisionRecallDisplay,
)
from .plots import (
    PRGDisplay as PRGDisplay,
)
from .plots import (
    ReciprocalPrecisionRecallDisplay as ReciprocalPrecisionRecallDisplay,
)
from .plots import (
    ROCDisplay as ROCDisplay,
)
from .results.comparison_result import (
    Comparison as Comparison,
)
from .results.estimate import (
    Estimate as Estimate,
)
from .simulation import datasets as datasets
from .simulation import study as study

__version__: str
