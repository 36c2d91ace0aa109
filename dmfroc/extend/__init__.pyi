from .._kit.arrays import (
    BoolPerRow as BoolPerRow,
)
from .._kit.arrays import (
    IntPerClass as IntPerClass,
)
from .._kit.arrays import (
    IntPerRow as IntPerRow,
)
from .._kit.arrays import (
    PerClass as PerClass,
)
from .._kit.arrays import (
    PerDraw as PerDraw,
)
from .._kit.arrays import (
    PerRow as PerRow,
)
from .._kit.arrays import (
    PerThreshold as PerThreshold,
)
from .._kit.arrays import (
    Scores as Scores,
)
from .._kit.compiled import (
    compiled as compiled,
)
from .._kit.compiled import (
    double_precision as double_precision,
)
from .._kit.files import (
    check_readable as check_readable,
)
from .._kit.files import (
    written as written,
)
from .._kit.habits import (
    names_alike as names_alike,
)
from .._kit.later import (
    DataFrame as DataFrame,
)
from .._kit.later import (
    Nothing as Nothing,
)
from .._kit.options import (
    RandomState as RandomState,
)
from .._kit.options import (
    check_level as check_level,
)
from .._kit.options import (
    choice as choice,
)
from .._kit.options import (
    flag as flag,
)
from .._kit.options import (
    function_of as function_of,
)
from .._kit.options import (
    generator_of as generator_of,
)
from .._kit.options import (
    instance as instance,
)
from .._kit.options import (
    integer as integer,
)
from .._kit.options import (
    listed as listed,
)
from .._kit.options import (
    nonnegative as nonnegative,
)
from .._kit.options import (
    number as number,
)
from .._kit.options import (
    numbers as numbers,
)
from .._kit.options import (
    positive as positive,
)
from .._kit.options import (
    proportion as proportion,
)
from .._kit.options import (
    refuse as refuse,
)
from .._kit.options import (
    seed_of as seed_of,
)
from .._kit.progress import (
    track as track,
)
from .._kit.remarks import (
    collected_remarks as collected_remarks,
)
from .._kit.remarks import (
    warn as warn,
)
from .._kit.text import (
    class_name as class_name,
)
from .._kit.text import (
    did_you_mean as did_you_mean,
)
from .._kit.text import (
    legend_text as legend_text,
)
from .._kit.text import (
    printable as printable,
)
from .._kit.threads import (
    interruptible as interruptible,
)
from .._kit.threads import (
    one_blas_thread as one_blas_thread,
)
from .._kit.threads import (
    parallel_map as parallel_map,
)
from ..analyses.catalogue import (
    get_measure as get_measure,
)
from ..analyses.comparison import (
    comparison_fields as comparison_fields,
)
from ..analyses.estimation import (
    influences as influences,
)
from ..analyses.evaluation import (
    listed_measures as listed_measures,
)
from ..analyses.evidence import (
    EvidenceInMemory as EvidenceInMemory,
)
from ..analyses.evidence import (
    estimates_of as estimates_of,
)
from ..analyses.evidence import (
    evidence_of as evidence_of,
)
from ..analyses.evidence import (
    remarked_estimates as remarked_estimates,
)
from ..analyses.joint_evidence import (
    JointEvidence as JointEvidence,
)
from ..analyses.joint_evidence import (
    joint_evidence as joint_evidence,
)
from ..analyses.joint_evidence import (
    joint_of_rows as joint_of_rows,
)
from ..analyses.leads import (
    Scaled as Scaled,
)
from ..analyses.leads import (
    best_of as best_of,
)
from ..analyses.leads import (
    leads_at as leads_at,
)
from ..analyses.leads import (
    ranges_above_zero as ranges_above_zero,
)
from ..analyses.leads import (
    ranges_text as ranges_text,
)
from ..analyses.leads import (
    simultaneous_ends as simultaneous_ends,
)
from ..bayes.models import (
    log_likelihood_of_bins as log_likelihood_of_bins,
)
from ..bayes.pairs import (
    replicated_counts as replicated_counts,
)
from ..bayes.posterior import (
    check_priors as check_priors,
)
from ..bayes.posterior import (
    check_size as check_size,
)
from ..bayes.posterior import (
    estimate_from_draws as estimate_from_draws,
)
from ..bayes.posterior import (
    interval_of_draws as interval_of_draws,
)
from ..bayes.posterior import (
    r_hat as r_hat,
)
from ..bayes.posterior import (
    sampling_problems as sampling_problems,
)
from ..bayes.sampling import (
    Chains as Chains,
)
from ..bayes.sampling import (
    Draws as Draws,
)
from ..bayes.sampling import (
    approximate as approximate,
)
from ..bayes.sampling import (
    draw_from_posterior as draw_from_posterior,
)
from ..bayes.sampling import (
    sampler_of as sampler_of,
)
from ..curves.calibration import (
    check_in_unit_interval as check_in_unit_interval,
)
from ..curves.charts import (
    draw_roc as draw_roc,
)
from ..curves.curve import (
    check_curve as check_curve,
)
from ..curves.curve import (
    wilson_intervals as wilson_intervals,
)
from ..curves.gain import (
    gain_of_errors as gain_of_errors,
)
from ..curves.points import (
    count_points as count_points,
)
from ..curves.points import (
    one_class as one_class,
)
from ..inference.censoring import (
    predictions_at as predictions_at,
)
from ..inference.combined import (
    combined as combined,
)
from ..inference.combined import (
    joint_combined as joint_combined,
)
from ..inference.evidence import (
    Facts as Facts,
)
from ..inference.evidence import (
    FactsInMemory as FactsInMemory,
)
from ..inference.evidence import (
    PartOf as PartOf,
)
from ..inference.evidence import (
    facts_in as facts_in,
)
from ..inference.evidence import (
    joint_facts as joint_facts,
)
from ..inference.hypothesis import (
    MANY_FREEDOM as MANY_FREEDOM,
)
from ..inference.hypothesis import (
    Contrast as Contrast,
)
from ..inference.hypothesis import (
    Hypothesis as Hypothesis,
)
from ..inference.hypothesis import (
    Test as Test,
)
from ..inference.hypothesis import (
    contrast_of_intervals as contrast_of_intervals,
)
from ..inference.hypothesis import (
    contrast_of_limits as contrast_of_limits,
)
from ..inference.hypothesis import (
    contrasts_of_intervals as contrasts_of_intervals,
)
from ..inference.influences import (
    NO_VARIATION as NO_VARIATION,
)
from ..inference.influences import (
    Influences as Influences,
)
from ..inference.influences import (
    Moments as Moments,
)
from ..inference.influences import (
    Spread as Spread,
)
from ..inference.influences import (
    influences_on as influences_on,
)
from ..inference.influences import (
    moments_of as moments_of,
)
from ..inference.jackknife import (
    Jackknife as Jackknife,
)
from ..inference.judge import (
    judged as judged,
)
from ..inference.judge import (
    selection_message as selection_message,
)
from ..inference.limits import (
    Interval as Interval,
)
from ..inference.limits import (
    Limits as Limits,
)
from ..inference.limits import (
    Part as Part,
)
from ..inference.limits import (
    limits_of_difference as limits_of_difference,
)
from ..inference.limits import (
    limits_of_sum as limits_of_sum,
)
from ..inference.method import (
    IntervalMethod as IntervalMethod,
)
from ..inference.method import (
    JointEstimates as JointEstimates,
)
from ..inference.method import (
    Method as Method,
)
from ..inference.method import (
    check_finite as check_finite,
)
from ..inference.method import (
    joint_estimates as joint_estimates,
)
from ..inference.method import (
    joint_normal_estimates as joint_normal_estimates,
)
from ..inference.options import (
    DEFAULT_LEVEL as DEFAULT_LEVEL,
)
from ..inference.options import (
    Options as Options,
)
from ..inference.options import (
    stated as stated,
)
from ..inference.random_effects import (
    OnLine as OnLine,
)
from ..inference.random_effects import (
    RandomEffects as RandomEffects,
)
from ..inference.random_effects import (
    cases_without_error as cases_without_error,
)
from ..inference.random_effects import (
    on_line as on_line,
)
from ..inference.remarks import (
    warnings_of as warnings_of,
)
from ..inference.reweighted import (
    Slopes as Slopes,
)
from ..inference.scales import (
    Scale as Scale,
)
from ..inference.scales import (
    scale_of as scale_of,
)
from ..inference.scales import (
    t_interval as t_interval,
)
from ..inference.sign_flips import (
    uses_sign_flips as uses_sign_flips,
)
from ..inference.simultaneous import (
    holm_adjusted as holm_adjusted,
)
from ..inference.units import (
    Sample as Sample,
)
from ..inference.units import (
    Units as Units,
)
from ..inference.units import (
    kish_sizes as kish_sizes,
)
from ..inference.units import (
    sample_of as sample_of,
)
from ..inference.units import (
    units_of as units_of,
)
from ..inference.unseen import (
    Unseen as Unseen,
)
from ..inputs.arguments import (
    as_predictions as as_predictions,
)
from ..inputs.arrays import (
    Rows as Rows,
)
from ..inputs.arrays import (
    as_array as as_array,
)
from ..inputs.arrays import (
    as_floats as as_floats,
)
from ..inputs.arrays import (
    check_ids as check_ids,
)
from ..inputs.arrays import (
    columns_of as columns_of,
)
from ..inputs.arrays import (
    counts_rows as counts_rows,
)
from ..inputs.arrays import (
    is_missing as is_missing,
)
from ..inputs.arrays import (
    numbers_of_rows as numbers_of_rows,
)
from ..inputs.arrays import (
    remedy_for_several as remedy_for_several,
)
from ..inputs.arrays import (
    row_index as row_index,
)
from ..inputs.arrays import (
    row_names as row_names,
)
from ..inputs.class_shares import (
    class_shares as class_shares,
)
from ..inputs.class_shares import (
    in_class_shares as in_class_shares,
)
from ..inputs.class_shares import (
    unlabelled as unlabelled,
)
from ..inputs.columns import (
    Direction as Direction,
)
from ..inputs.columns import (
    match_columns as match_columns,
)
from ..inputs.delimited import (
    Format as Format,
)
from ..inputs.estimators import (
    class_scores_of as class_scores_of,
)
from ..inputs.estimators import (
    scores_of as scores_of,
)
from ..inputs.files import (
    read_table as read_table,
)
from ..inputs.judge import (
    encoded_judge as encoded_judge,
)
from ..inputs.judge import (
    probabilities as probabilities,
)
from ..inputs.judge import (
    verified_labels as verified_labels,
)
from ..inputs.labels import (
    encode as encode,
)
from ..inputs.labels import (
    factorize as factorize,
)
from ..inputs.labels import (
    place_of_class as place_of_class,
)
from ..inputs.labels import (
    sorted_labels as sorted_labels,
)
from ..inputs.messages import (
    IN_MEMORY as IN_MEMORY,
)
from ..inputs.messages import (
    Source as Source,
)
from ..inputs.messages import (
    listing as listing,
)
from ..inputs.messages import (
    shortened as shortened,
)
from ..inputs.rows import (
    checked_same_observations as checked_same_observations,
)
from ..inputs.rows import (
    matched as matched,
)
from ..inputs.rows import (
    order_of_ids as order_of_ids,
)
from ..inputs.score_doubts import (
    labels_message as labels_message,
)
from ..inputs.scores import (
    by_label as by_label,
)
from ..inputs.scores import (
    chosen_names as chosen_names,
)
from ..inputs.splits import (
    check_estimator as check_estimator,
)
from ..inputs.splits import (
    checked as checked,
)
from ..inputs.splits import (
    splits_of as splits_of,
)
from ..inputs.subgroups import (
    crossed as crossed,
)
from ..inputs.subgroups import (
    unit_of_rows as unit_of_rows,
)
from ..measures.agreement import (
    of_raters as of_raters,
)
from ..measures.measure import (
    caveats as caveats,
)
from ..measures.statistics.forecasts import (
    impossible_message as impossible_message,
)
from ..measures.statistics.forecasts import (
    no_probabilities as no_probabilities,
)
from ..measures.statistics.forecasts import (
    probabilities_of as probabilities_of,
)
from ..multiclass.band import (
    BandKind as BandKind,
)
from ..multiclass.band import (
    CurveBand as CurveBand,
)
from ..multiclass.band import (
    check_kind as check_kind,
)
from ..plots._style import (
    BASELINE_ID as BASELINE_ID,
)
from ..plots._style import (
    COLORS as COLORS,
)
from ..plots._style import (
    CURVE_ID as CURVE_ID,
)
from ..plots._style import (
    ClassifierDisplay as ClassifierDisplay,
)
from ..plots._style import (
    Display as Display,
)
from ..plots._style import (
    checked_name as checked_name,
)
from ..plots._style import (
    curves_by_label as curves_by_label,
)
from ..plots._style import (
    draw_band as draw_band,
)
from ..plots._style import (
    draw_legend as draw_legend,
)
from ..plots._style import (
    legend_entries as legend_entries,
)
from ..plots._style import (
    style_of as style_of,
)
from ..plots.forest import (
    ForestRow as ForestRow,
)
from ..plots.forest import (
    IntervalDisplay as IntervalDisplay,
)
from ..reports.figures import (
    forest as forest,
)
from ..reports.rendering import (
    chart as chart,
)
from ..reports.rendering import (
    page as page,
)
from ..reports.tables import (
    page_table as page_table,
)
from ..reports.verdict import (
    digits as digits,
)
from ..reports.verdict import (
    ends_text as ends_text,
)
from ..reports.verdict import (
    enumerated as enumerated,
)
from ..reports.verdict import (
    interval_text as interval_text,
)
from ..reports.verdict import (
    joined as joined,
)
from ..results.difference import (
    Difference as Difference,
)
from ..results.difference import (
    OmnibusTest as OmnibusTest,
)
from ..results.difference import (
    differences_by as differences_by,
)
from ..results.estimate import (
    JudgedLabels as JudgedLabels,
)
from ..results.estimate import (
    NamedEstimates as NamedEstimates,
)
from ..results.estimate import (
    agreement_table as agreement_table,
)
from ..results.estimate import (
    estimates_table as estimates_table,
)
from ..results.estimate import (
    of_measures as of_measures,
)
from ..results.estimate import (
    title_for as title_for,
)
from ..results.result import (
    AttributeTables as AttributeTables,
)
from ..results.result import (
    Result as Result,
)
from ..results.result import (
    attributed as attributed,
)
from ..results.result import (
    renderer as renderer,
)
from ..results.result import (
    renders as renders,
)
from ..results.table import (
    Column as Column,
)
from ..results.table import (
    Name as Name,
)
from ..results.table import (
    Table as Table,
)
from ..results.table import (
    rounded as rounded,
)
from ..results.table import (
    spread as spread,
)
from ..results.text import (
    common as common,
)
from ..results.text import (
    equals_p_value as equals_p_value,
)
from ..results.text import (
    paragraphs as paragraphs,
)
from ..results.writers import (
    as_frame as as_frame,
)
from ..results.writers import (
    json_text as json_text,
)
