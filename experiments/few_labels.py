"""Coverage with few verified labels and a judge of all rows, and at another prevalence."""

from __future__ import annotations

import warnings

import numpy as np
from _study import arguments, markdown_table, write_page
from scipy.special import expit

import dmfroc
from dmfroc import estimate, evaluate
from dmfroc.measures import MEASURES

MEASURES_SHOWN = ("hand_till", "informedness", "gorodkin_correlation", "average_precision")
N_ROWS, N_VERIFIED = 5_000, 200
SHARES_RIGHT = (0.6, 0.8, 0.95)
N_SAMPLES, N_SAMPLES_OF_PREVALENCE = 500, 500
N_POPULATION = 2_000_000
PREVALENCE, N_OF_SAMPLE = 0.01, 1_000


def draw(generator: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw classes and scores of three classes."""
    y = generator.choice(3, n, p=[0.5, 0.3, 0.2])
    return y, generator.normal(size=(n, 3)) + 1.3 * np.eye(3)[y]


def of_judge(generator: np.random.Generator, share_right: float) -> list[list[object]]:
    """Return coverage and widths with a judge, against the verified rows alone."""
    truth = evaluate(*draw(generator, N_POPULATION), measures=MEASURES_SHOWN).estimates
    covers: dict[str, list[bool]] = {m: [] for m in MEASURES_SHOWN}
    ratios: dict[str, list[float]] = {m: [] for m in MEASURES_SHOWN}
    for _ in range(N_SAMPLES):
        y, scores = draw(generator, N_ROWS)
        judge = np.where(
            generator.random(N_ROWS) < share_right, y, (y + generator.integers(1, 3, N_ROWS)) % 3
        )
        hidden = np.full(N_ROWS, np.nan)
        hidden[:N_VERIFIED] = y[:N_VERIFIED]
        found = evaluate(hidden, scores, judge=judge, measures=MEASURES_SHOWN).estimates
        alone = evaluate(y[:N_VERIFIED], scores[:N_VERIFIED], measures=MEASURES_SHOWN).estimates
        for m in MEASURES_SHOWN:
            low, high = found[m].interval
            covers[m].append(low <= truth[m].value <= high)
            ratios[m].append((high - low) / np.ptp(alone[m].interval))
    return [
        [MEASURES[m].title, f"{100 * share_right:g}", f"{100 * np.mean(covers[m]):.1f}",
         f"{np.mean(ratios[m]):.2f}"]
        for m in MEASURES_SHOWN
    ]  # fmt: skip


def binary(generator: np.random.Generator, n: int, share: float) -> tuple[np.ndarray, ...]:
    """Draw two classes, scores and hard labels."""
    y = (generator.random(n) < share).astype(int)
    score = generator.normal(size=n) + 2 * y
    return y, score, (score > 1.5).astype(int)


def of_prevalence(generator: np.random.Generator) -> list[list[object]]:
    """Return coverage at a prevalence of 1 % of samples with one half of positives."""
    rows: list[list[object]] = []
    y, score, hard = binary(generator, 3 * N_POPULATION, PREVALENCE)
    for name in ("average_precision", "f1", "accuracy", "hand_till"):
        truth = estimate(name, y, score, y_pred=hard).value
        covers = []
        for _ in range(N_SAMPLES_OF_PREVALENCE):
            sample, scores, said = binary(generator, N_OF_SAMPLE, 0.5)
            found = estimate(name, sample, scores, y_pred=said, population=PREVALENCE)
            covers.append(found.interval[0] <= truth <= found.interval[1])
        rows.append([MEASURES[name].title, f"{truth:.4f}", f"{100 * np.mean(covers):.1f}"])
    return rows


def of_estimated(generator: np.random.Generator) -> list[list[object]]:
    """Return coverage where the other population is known by 600 rows without classes."""
    names = ("average_precision", "f1", "accuracy", "brier_score", "hand_till")
    rows: list[list[object]] = []
    for shift, share in (("classes", 0.1), ("classes", 0.3), ("features", 0.7)):

        def target(n: int, shift: str = shift, share: float = share) -> tuple[np.ndarray, ...]:
            moved = share if shift == "features" else 0.0
            return features_and_classes(generator, n, moved, share if shift == "classes" else None)

        _, y, p = target(N_POPULATION)
        truth = evaluate(y, p, measures=names).estimates
        covers: dict[str, list[bool]] = {name: [] for name in names}
        for _ in range(N_SAMPLES_OF_PREVALENCE):
            x, y, p = features_and_classes(generator, 500, 0.0, 0.5 if shift == "classes" else None)
            other, _, scores = target(600)
            given = {"population": dmfroc.Importance(x, other)} if shift == "features" else {}
            given |= {"population": scores} if shift == "classes" else {}
            found = evaluate(y, p, measures=names, **given).estimates
            for name in names:
                low, high = found[name].interval
                covers[name].append(low <= truth[name].value <= high)
        what = f"share {share:g} instead of 0.5" if shift == "classes" else f"moved by {share:g}"
        rows += [[f"{shift}: {what}", MEASURES[name].title, f"{100 * np.mean(covers[name]):.1f}"]
                 for name in names]  # fmt: skip
    return rows


def features_and_classes(
    generator: np.random.Generator, n: int, moved: float, share: float | None
) -> tuple[np.ndarray, ...]:
    """Draw features, two classes with a share or by the first feature, and probabilities."""
    x = generator.normal(size=(n, 2)) + np.array([moved, -moved / 2])
    if share is None:
        y = (generator.random(n) < expit(x[:, 0] - 0.5)).astype(int)
        positive = expit(0.8 * x[:, 0] + 0.5 * x[:, 1] + 0.4 * generator.normal(size=n))
    else:
        y = (generator.random(n) < share).astype(int)
        positive = expit(1.5 * (x[:, 0] + 1.5 * y) - 1.1)
    return x, y, np.column_stack([1 - positive, positive])


def page(generator: np.random.Generator) -> str:
    rows = [row for share in SHARES_RIGHT for row in of_judge(generator, share)]
    header = ["measure", "judge right, %", "coverage, %", "width against verified rows alone"]
    of_population = ["measure", "value at 1 %", "coverage, %"]
    return f"""# Few labels, and other class frequencies

Made by `experiments/few_labels.py`. Nominal coverage is 95 %.

Three classes of shares .5, .3 and .2; {N_ROWS:,} rows, {N_VERIFIED} verified ones among them; a
judge that is right in so many rows and wrong at random in the others. {N_SAMPLES:,} samples each.

{markdown_table(header, rows)}

Two classes: samples of {N_OF_SAMPLE:,} rows with one half of positives, evaluated with
`population={PREVALENCE:g}`. {N_SAMPLES_OF_PREVALENCE:,} samples each.

{markdown_table(of_population, of_prevalence(generator))}

Two classes: samples of 500 rows, and 600 rows of another population without classes. If its class
shares differ, `population=` takes their scores; if its features differ, `Importance` takes
those of both. {N_SAMPLES_OF_PREVALENCE:,} samples each.

{markdown_table(["what differs", "measure", "coverage, %"], of_estimated(np.random.default_rng(2)))}
"""


def main() -> None:
    global N_SAMPLES, N_SAMPLES_OF_PREVALENCE, N_POPULATION
    options = arguments(__doc__)
    if options.quick:
        N_SAMPLES, N_SAMPLES_OF_PREVALENCE, N_POPULATION = 3, 3, 5_000
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        text = page(np.random.default_rng(1))
    if options.quick:
        print(text)
    else:
        write_page("few_labels", text)


if __name__ == "__main__":
    main()
