"""Coverage of intervals of decisions and calibration, and size of the calibration tests.

Samples of eight populations: the logit of the true probability is normal, that of the forecast a
straight line of it: calibrated, over-confident (slope 1.7), or too moderate (slope 0.5). With three
and five classes the logarithms of the probabilities are normal. The truth is that of a sample of
400,000.

``python experiments/decisions.py`` writes ``experiments/results/decisions.csv``, and with
``--sizes`` alone ``experiments/results/calibration_sizes.csv``; the page on calibration shows them.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import expit

import dmfroc
from dmfroc import measures

RESULT = Path(__file__).parent / "results" / "decisions.csv"
SIZES = RESULT.with_name("calibration_sizes.csv")
N_SAMPLES, N_TRUTH = 400, 400_000
SEED = 5000  # other samples than those on which the rule of the calibration index was chosen
N_TESTS, N_DRAWS = 2000, 99  # samples of calibrated forecasts, and draws behind each p-value
ZERO_IF_CALIBRATED = ("debiased ECE", "Brier miscalibration", "calibration index")
DESIGNS = {  # classes, observations, mean of the logit, slope of the forecast's logit
    "calibrated": (2, 200, 0.0, 1.0),
    "calibrated, small": (2, 100, 0.0, 1.0),
    "calibrated, rare": (2, 200, -2.7, 1.0),
    "over-confident": (2, 200, 0.0, 1.7),
    "over-confident, rare": (2, 1000, -2.7, 1.7),
    "too moderate": (2, 1000, 0.0, 0.5),
    "three classes": (3, 200, 0.0, 1.0),
    "five classes": (5, 1000, 0.0, 1.5),
}


def draw(rng, n, n_classes, shift, slope):
    """Return classes and forecasts."""
    if n_classes == 2:
        z = shift + 1.3 * rng.normal(size=n)
        p = expit(z)
        return (rng.random(n) < p).astype(int), expit(shift + slope * (z - shift))
    logs = 1.3 * rng.normal(size=(n, n_classes))
    p, q = (np.exp(s * logs) / np.exp(s * logs).sum(axis=1, keepdims=True) for s in (1, slope))
    return (p.cumsum(axis=1)[:, :-1] < rng.random((n, 1))).sum(axis=1), q


def chosen(n_classes):
    """Return the measures by name."""
    label = None if n_classes == 2 else 0
    return {
        "net benefit": measures.net_benefit(0.2, pos_label=label),
        "calibration slope": measures.calibration_slope(),
        "calibration intercept": measures.calibration_intercept(pos_label=label),
        "O/E ratio": measures.observed_expected_ratio(pos_label=label),
        "sensitivity at 95 % specificity": measures.sensitivity_at(),
        "debiased ECE": measures.expected_calibration_error(debiased=True),
        "Brier miscalibration": measures.brier_miscalibration(),
        "Brier discrimination": measures.brier_discrimination(),
        "calibration index": measures.integrated_calibration_index(),
        "risk-coverage area": measures.risk_coverage_area(),
        "accuracy at coverage 80 %": measures.accuracy_at_coverage(),
    }


def truths(rng, design, found):
    """Return the values in the population, of fitted curves without their bias."""
    n_classes, _, shift, slope = design
    values = {}
    for name, measure in found.items():
        y, p = draw(rng, N_TRUTH, n_classes, shift, slope)
        values[name] = measure(y, p)
        if slope == 1 and name in ZERO_IF_CALIBRATED:
            values[name] = 0.0
    return values


def sizes():
    """Write how often each calibration test rejects calibrated forecasts at the level of 5 %."""
    rows = []
    for number, (title, (n_classes, n, shift, slope)) in enumerate(DESIGNS.items()):
        if slope != 1:
            continue
        rng = np.random.default_rng(1000 + number)
        rejected = []
        for seed in range(N_TESTS):
            y, p = draw(rng, n, n_classes, shift, slope)
            p = np.column_stack([1 - p, p]) if n_classes == 2 else p
            predictions = dmfroc.Predictions.from_arrays(y, p, labels=list(range(n_classes)))
            found = dmfroc.applications.calibration_tests(
                predictions, n_draws=N_DRAWS, random_state=seed
            )
            rejected.append([test.p_value <= 0.05 for test in found.tests.values()])
        row = {"design": title, "n": n, "classes": n_classes}
        rows.append(row | dict(zip(found.tests, np.mean(rejected, axis=0), strict=True)))
    pd.DataFrame(rows).to_csv(SIZES, index=False)


def main():
    """Write the coverage of each measure in each design; a quick run prints that of the first."""
    global N_TRUTH
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--samples", type=int, default=N_SAMPLES)
    parser.add_argument("--sizes", action="store_true")
    parser.add_argument("--quick", action="store_true", help="a few samples; writes no file")
    options = parser.parse_args()
    if options.sizes:
        sizes()
        return
    n_samples, designs = options.samples, list(DESIGNS.items())
    if options.quick:
        n_samples, N_TRUTH, designs = 5, 4000, designs[:1]
    rows = []
    for number, (title, design) in enumerate(designs):
        rng = np.random.default_rng(SEED + number)
        n_classes, n, shift, slope = design
        found = chosen(n_classes)
        truth = truths(rng, design, found)
        covered = {name: [] for name in found}
        widths = {name: [] for name in found}
        for _ in range(n_samples):
            y, p = draw(rng, n, n_classes, shift, slope)
            result = dmfroc.evaluate(y, p, measures=list(found.values())).estimates
            for name, estimate in zip(found, result.values(), strict=True):
                low, high = estimate.interval
                covered[name].append(low <= truth[name] <= high)
                widths[name].append(high - low)
        for name in found:
            rows.append(
                {
                    "design": title,
                    "n": n,
                    "classes": n_classes,
                    "measure": name,
                    "truth": round(truth[name], 4),
                    "coverage": np.mean(covered[name]),
                    "width": round(float(np.mean(widths[name])), 4),
                }
            )
    table = pd.DataFrame(rows)
    print(table) if options.quick else table.to_csv(RESULT, index=False)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
