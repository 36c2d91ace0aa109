"""Which pages stand behind others, and which are found by which words: an extension of Sphinx.

The sidebar has the pages of `index.md`. Others have a place behind one of these. Records of studies
and tests are no results of a search, which would find every word in them.
"""

from __future__ import annotations

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

BEHIND = {
    "subgroups": ("sites", "training_runs"),
    "few_labels": ("verification_bias",),
    "items": ("multilabel", "ordered"),
    "many_models": ("any_time",),
    "how_to_report": ("checklists",),
    "how_to": ("add_a_measure", "applications"),
    "integrations": ("coming_from",),
    "large_data": ("simulation", "simulation_vmap"),
    "bayes": ("meta_analysis",),
    "api": (
        *("api/evaluation", "api/measures", "api/multiclass_roc", "api/curves", "api/plots"),
        *("api/applications", "api/data", "api/functional", "api/papers"),
        *("measures/ranking", "measures/probabilities"),
        *("measures/decisions", "measures/contingency", "measures/curves", "glossary"),
    ),
    "method": ("limits",),
    "experiments/index": (
        *("../validation", "../guarantees", "../stability", "../options"),
        *("../papers", "../paper_rows", "../changelog"),
    ),
}
RECORDS = ("validation", "options", "papers", "changelog")
WORDS = {
    "index": "license, licence, install, installation, pip, version",
    "getting_started": "tutorial, example, quickstart, first steps, notebook",
    "choosing": "which measure, which metric, imbalanced, class imbalance, small sample, "
    "50 patients",
    "gallery": "plot, figure, picture, roc curve, matplotlib",
    "faq": "warnings, excel, xlsx, missing values, nan, positive class, pos_label, direction",
    "cross_validation": "folds, k-fold, repeated cross-validation, repeated k-fold, "
    "repeatedstratifiedkfold, leave-one-out, nested cross-validation, out-of-fold",
    "subgroups": "fairness, bias, sex, age groups, interaction",
    "sites": "external validation, hospitals, multicentre, heterogeneity, federated",
    "training_runs": "seeds, random seed, readers, several readers, reader study, "
    "multi-reader, mrmc",
    "few_labels": "llm judge, unlabelled, annotation, active learning, prediction-powered",
    "verification_bias": "partial verification, gold standard, reference standard",
    "other_population": "prevalence, base rate, covariate shift, label shift, transportability",
    "at_a_horizon": "survival, censored, censoring, time to event, competing risks, time-dependent",
    "items": "benchmark, pass@k, llm evaluation, leaderboard",
    "multilabel": "multi-label, several labels, tags",
    "ordered": "ordinal, grades, quadratic weighted kappa, weighted kappa",
    "many_models": "p-value, p value, compare models, compare two models, significance, "
    "significance test, multiple comparisons, holm, bonferroni, ranking of models, delong test",
    "any_time": "drift, monitoring, sequential, optional stopping, early stopping",
    "gates": "ci/cd, continuous integration, deployment, acceptance, release",
    "operating_points": "threshold, cutoff, cut-off, youden, sensitivity, specificity",
    "sample_size": "sample size, power, power analysis, how many patients",
    "how_to_report": "non-inferiority, noninferiority, equivalence, cite, citation, bibtex, paper",
    "checklists": "tripod, stard, checklist",
    "how_to": "one class, one class against the rest, latex, csv, parquet, json, cluster, "
    "clustered data, repeated measurements, several rows per patient, survey weights, "
    "sample weights",
    "add_a_measure": "custom metric, custom measure, own metric",
    "integrations": "scikit-learn, sklearn, pytorch, lightning, keras, mlflow, optuna, "
    "hugging face, polars, scorer",
    "coming_from": "proc, yardstick, torchmetrics, timeroc, r package, other packages",
    "large_data": "gpu, cuda, out of memory, big data, dask, streaming, speed",
    "simulation": "simulate, synthetic data, population",
    "simulation_vmap": "jit, vmap, grad, jax, differentiable",
    "bayes": "bayesian, posterior, prior, numpyro, mcmc, credible interval",
    "meta_analysis": "bivariate model, summary roc, hsroc, diagnostic accuracy",
    "method": "delong, jackknife, factorization, multiclass roc, multiclass auc",
    "limits": "limitations, regression, object detection",
    "uncertainty": "confidence interval, standard error, bootstrap, coverage, permutation test, "
    "sign flips, mcnemar, clopper-pearson, wilson interval, delong interval",
    "measures/ranking": "auc, macro auc, one-vs-rest, one-vs-one, c-statistic, c-index, auroc",
    "measures/probabilities": "brier score, log loss, cross-entropy, proper scoring rule",
    "measures/calibration": "calibration, ece, expected calibration error, reliability diagram, "
    "hosmer-lemeshow",
    "measures/decisions": "net benefit, decision curve, cost, utility, abstention, reject option",
    "measures/contingency": "confusion matrix, accuracy, f1, f1 score, precision, recall, mcc, "
    "matthews correlation, kappa, cohen kappa, balanced accuracy, macro average",
    "measures/curves": "precision-recall curve, lift, gains, det, confidence band, partial auc",
}
"""What people type who look for a page, but do not find in its title."""


def add_pages_behind(app: Sphinx, docname: str, source: list[str]) -> None:
    """Add a table of contents of the pages behind this one, which only the sidebar shows."""
    if docname in BEHIND:
        pages = "\n".join(BEHIND[docname])
        source[0] += f"\n\n```{{toctree}}\n:hidden:\n\n{pages}\n```\n"


def add_words(app: Sphinx, doctree: nodes.document) -> None:
    """Add the words by which a page is found."""
    words = WORDS.get(app.env.docname)
    if words is not None:
        entries = [("single", word, "", "main", None) for word in words.split(", ")]
        doctree.append(addnodes.index(entries=entries))


def leave_out_records(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Leave records of studies and tests out of the search, but for the list of studies.

    Pages with words are always written, since Sphinx forgets the words of those that it does not.
    """
    for page in env.found_docs:
        if page in RECORDS or (page.startswith("experiments/") and page != "experiments/index"):
            env.metadata[page]["no-search"] = ""
    return [*WORDS]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register all three."""
    app.connect("source-read", add_pages_behind)
    app.connect("doctree-read", add_words)
    app.connect("env-updated", leave_out_records)
    return {"parallel_read_safe": True}
