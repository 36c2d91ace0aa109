from .._kit.compiled import (
    compiled as compiled,
    double_precision as double_precision,
)
from .._kit.files import (
    check_readable as check_readable,
    written as written,
)
from .._kit.habits import (
    check_options as check_options,
    names_alike as names_alike,
)
from .._kit.later import (
    DataFrame as DataFrame,
    Nothing as Nothing,
)
from .._kit.options import (
    RandomState as RandomState,
    check_level as check_level,
    choice as choice,
    flag as flag,
    generator_of as generator_of,
    instance as instance,
    integer as integer,
    listed as listed,
    n_jobs_of as n_jobs_of,
    nonnegative as nonnegative,
    number as number,
    numbers as numbers,
    positive as positive,
    proportion as proportion,
    seed_of as seed_of,
)
from .._kit.progress import (
    track as track,
)
from .._kit.remarks import (
    collected_remarks as collected_remarks,
    warn as warn,
)
from .._kit.text import (
    did_you_mean as did_you_mean,
    legend_text as legend_text,
    printable as printable,
)
from .._kit.threads import (
    interruptible as interruptible,
    parallel_map as parallel_map,
)
from ..analyses.catalogue import (
    get_measure as get_measure,
    title_for as title_for,
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
    estimates_of as estimates_of,
    evidence_of as evidence_of,
    remarked_estimates as remarked_estimates,
)
from ..analyses.joint_evidence import (
    JointEvidence as JointEvidence,
    joint_evidence as joint_evidence,
    joint_of_rows as joint_of_rows,
)
from ..bayes.models import (
    log_likelihood_of_bins as log_likelihood_of_bins,
)
from ..bayes.options import (
    check_priors as check_priors,
    check_size as check_size,
)
from ..bayes.pairs import (
    replicated_counts as replicated_counts,
)
from ..bayes.posterior import (
    estimate_from_draws as estimate_from_draws,
    interval_of_draws as interval_of_draws,
    r_hat as r_hat,
    sampling_problems as sampling_problems,
)
from ..bayes.sampling import (
    Chains as Chains,
    Draws as Draws,
    approximate as approximate,
    draw_from_posterior as draw_from_posterior,
    sampler_of as sampler_of,
)
from ..curves.points import (
    count_points as count_points,
    one_class as one_class,
)
from ..inference.combined import (
    combined as combined,
    joint_combined as joint_combined,
)
from ..inference.evidence import (
    Facts as Facts,
    FactsInMemory as FactsInMemory,
    PartOf as PartOf,
    facts_in as facts_in,
    joint_facts as joint_facts,
)
from ..inference.hypothesis import (
    Alternative as Alternative,
    Contrast as Contrast,
    Hypothesis as Hypothesis,
    MANY_FREEDOM as MANY_FREEDOM,
    contrast_of_intervals as contrast_of_intervals,
)
from ..inference.independent import (
    contrasts_of_intervals as contrasts_of_intervals,
    joint_estimates as joint_estimates,
)
from ..inference.influences import (
    Influences as Influences,
    Moments as Moments,
    NO_VARIATION as NO_VARIATION,
    Spread as Spread,
    freedom_of_mean as freedom_of_mean,
    influences_on as influences_on,
    moments_of as moments_of,
)
from ..inference.jackknife import (
    Jackknife as Jackknife,
)
from ..inference.judge import (
    judged as judged,
    selection_message as selection_message,
)
from ..inference.limits import (
    Interval as Interval,
    Limits as Limits,
    Part as Part,
    limits_of_difference as limits_of_difference,
    limits_of_sum as limits_of_sum,
)
from ..inference.method import (
    JointEstimates as JointEstimates,
    check_finite as check_finite,
    joint_t_estimates as joint_t_estimates,
)
from ..inference.options import (
    DEFAULT_LEVEL as DEFAULT_LEVEL,
    EvaluationOptions as EvaluationOptions,
    Options as Options,
    with_options as with_options,
)
from ..inference.random_effects import (
    Mixture as Mixture,
    OnLine as OnLine,
    RandomEffects as RandomEffects,
    on_line as on_line,
)
from ..inference.reweighted import (
    MeanOfUnits as MeanOfUnits,
)
from ..inference.scales import (
    LimitsOfT as LimitsOfT,
    Scale as Scale,
    scale_of as scale_of,
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
    Units as Units,
    kish_sizes as kish_sizes,
    sample_of as sample_of,
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
    as_array as as_array,
    as_floats as as_floats,
    check_ids as check_ids,
    columns_of as columns_of,
    counts_rows as counts_rows,
    is_missing as is_missing,
    remedy_for_several as remedy_for_several,
    row_index as row_index,
    row_names as row_names,
)
from ..inputs.class_shares import (
    class_shares as class_shares,
    in_class_shares as in_class_shares,
    unlabelled as unlabelled,
)
from ..inputs.columns import (
    match_columns as match_columns,
)
from ..inputs.delimited import (
    Format as Format,
)
from ..inputs.estimators import (
    class_scores_of as class_scores_of,
    scores_of as scores_of,
)
from ..inputs.files import (
    read_table as read_table,
)
from ..inputs.horizon import (
    FollowUpOptions as FollowUpOptions,
    predictions_at as predictions_at,
)
from ..inputs.judge import (
    encoded_judge as encoded_judge,
    probabilities as probabilities,
    verified_labels as verified_labels,
)
from ..inputs.labels import (
    encode as encode,
    factorize as factorize,
    place_of_class as place_of_class,
)
from ..inputs.messages import (
    Source as Source,
    listing as listing,
    shortened as shortened,
)
from ..inputs.rows import (
    checked_same_observations as checked_same_observations,
    matched as matched,
    order_of_ids as order_of_ids,
)
from ..inputs.scores import (
    by_label as by_label,
    chosen_names as chosen_names,
)
from ..inputs.splits import (
    check_estimator as check_estimator,
    checked as checked,
    splits_of as splits_of,
)
from ..inputs.subgroups import (
    crossed as crossed,
    unit_of_rows as unit_of_rows,
)
from ..measures.measure import (
    caveats as caveats,
)
from ..measures.statistics.forecasts import (
    impossible_message as impossible_message,
    no_probabilities as no_probabilities,
    probabilities_of as probabilities_of,
)
from ..multiclass.band import (
    CurveBand as CurveBand,
)
from ..plots._style import (
    COLORS as COLORS,
    CURVE_ID as CURVE_ID,
    Display as Display,
    draw_band as draw_band,
    draw_legend as draw_legend,
    style_of as style_of,
)
from ..plots.forest import (
    ForestRow as ForestRow,
    IntervalDisplay as IntervalDisplay,
)
from ..reports.figures import (
    forest as forest,
    line_chart as line_chart,
)
from ..reports.rendering import (
    page as page,
)
from ..reports.tables import (
    page_table as page_table,
)
from ..reports.verdict import (
    digits as digits,
    ends_text as ends_text,
    enumerated as enumerated,
    interval_text as interval_text,
    joined as joined,
)
from ..results.difference import (
    Difference as Difference,
    OmnibusTest as OmnibusTest,
    differences_by as differences_by,
)
from ..results.estimate import (
    JudgedLabels as JudgedLabels,
    NamedEstimates as NamedEstimates,
    agreement_table as agreement_table,
    estimates_table as estimates_table,
)
from ..results.result import (
    AttributeTables as AttributeTables,
    Result as Result,
    attributed as attributed,
    renderer as renderer,
    renders as renders,
)
from ..results.table import (
    Column as Column,
    Name as Name,
    Table as Table,
    rounded as rounded,
)
from ..results.text import (
    common as common,
    equals_p_value as equals_p_value,
)
from ..results.writers import (
    as_frame as as_frame,
    json_text as json_text,
)
