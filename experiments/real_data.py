"""Three classifiers on the six UCI data sets of Wang and Carvalho (2024), section 5.4."""

from __future__ import annotations

import matplotlib
from _study import DOCS, arguments, markdown_table, write_page
from matplotlib.figure import Figure
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier

from dmfroc import Comparison, MulticlassROCDisplay, Predictions, compare
from dmfroc.datasets import design_matrix, load_dataset

NAMES = ("car", "optdigits", "pendigits", "tae", "iris", "glass")
SEED = 1


def predictions_of(name: str) -> dict[str, Predictions]:
    """Fit each classifier to one half of the data and score the other half."""
    dataset = load_dataset(name)
    classifiers = {
        "multinomial": LogisticRegression(max_iter=5000),
        "k-nearest": KNeighborsClassifier(),
        "tree": DecisionTreeClassifier(random_state=SEED),
    }
    train, test, y_train, y_test = train_test_split(
        dataset.X, dataset.y, test_size=0.5, stratify=dataset.y, random_state=SEED
    )
    found = {}
    for title, classifier in classifiers.items():
        model = make_pipeline(design_matrix(dataset), classifier).fit(train, y_train)
        found[title] = Predictions.from_arrays(
            y_test, model.predict_proba(test), labels=model.classes_
        )
    return found


def value_rows(name: str, areas: Comparison, ms: Comparison) -> list[list[str]]:
    """Return AUC and M with their intervals, one row per classifier."""

    def shown(comparison: Comparison, title: str) -> str:
        e = comparison.estimates[title]
        return f"{e.value:.4f} ({e.interval[0]:.4f} to {e.interval[1]:.4f})"

    return [[name, title, shown(areas, title), shown(ms, title)] for title in areas.estimates]


def order_rows(name: str, areas: Comparison) -> list[list[str]]:
    """Return the orders of the classifiers that have a probability of at least one percent."""
    return [
        [name, " > ".join(order), f"{probability:.2f}"]
        for order, probability in areas.order_probabilities.items()
        if probability >= 0.01
    ]


def page(names: tuple[str, ...], picture: bool) -> str:
    """Run the study and report it."""
    figure = Figure(figsize=(13, 9), layout="constrained")
    axes = figure.subplots(2, 3).ravel()
    values, orders = [], []
    for name, ax in zip(names, axes, strict=False):
        found = predictions_of(name)
        areas, ms = compare(found), compare(found, measure="hand_till")
        values += value_rows(name, areas, ms)
        orders += order_rows(name, areas)
        for title, predictions in found.items():
            MulticlassROCDisplay.from_predictions(predictions, name=title, ax=ax)
        ax.set_title(name)
    if picture:
        with matplotlib.rc_context({"savefig.dpi": 90}):
            figure.savefig(DOCS / "images" / "real_data.png")
    value_header = ["data", "classifier", "DMF-AUC (95 % interval)", "M (95 % interval)"]
    return f"""# Six real data sets

Made by `experiments/real_data.py`: multinomial logistic regression, k-nearest neighbours and a
decision tree, fitted to one half of each data set (stratified, seed {SEED}) and evaluated on the
other; intervals by the jackknife.

![ROC curves of three classifiers on six data sets](../images/real_data.png)

{markdown_table(value_header, values)}

The probability of each order of the classifiers by DMF-AUC, best first, from 1 % up:

{markdown_table(["data", "order", "probability"], orders)}
"""


if __name__ == "__main__":
    if arguments(__doc__).quick:
        print(page(("iris",), picture=False))
    else:
        write_page("real_data", page(NAMES, picture=True))
