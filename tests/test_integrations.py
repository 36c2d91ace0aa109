"""The code of the page on integrations, run against stand-ins for tools that are not installed.

The stand-ins have the documented interfaces: names and arguments of what the page calls, and the
order in which the tools call back.
"""

import re
import types
from pathlib import Path

import numpy as np
import pytest

import dmfroc

PAGE = Path(__file__).parent.parent / "docs" / "integrations.md"
LABELS = [0, 1, 2]


def run_section(title, monkeypatch, modules=(), **names):
    """Run the code of a section, with stand-ins in place of modules; return its names."""
    for name, module in dict(modules).items():
        monkeypatch.setitem(__import__("sys").modules, name, module)
    section = re.search(rf"^## {title}.*?(?=^## |\Z)", PAGE.read_text(), re.M | re.S)[0]
    blocks = re.findall(r"^```python\n((?!>>>).*?)^```$", section, re.M | re.S)
    assert blocks
    found = {"np": np, "dmfroc": dmfroc} | names
    for block in blocks:
        exec(compile(block, title, "exec"), found)
    return found


def data(n=300, effect=1.5, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    scores = np.exp(rng.normal(size=(n, 3)) + effect * np.eye(3)[y])
    return y, scores / scores.sum(axis=1, keepdims=True)


def test_callbacks_of_scikit_learn_log_the_measures(monkeypatch):
    pytest.importorskip("sklearn.callback", reason="install a scikit-learn with callbacks")
    from sklearn.datasets import load_iris
    from sklearn.linear_model import LogisticRegression

    X, y = load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    names = {"X": X, "y": y, "LogisticRegression": LogisticRegression}
    found = run_section("scikit-learn", monkeypatch, **names)
    log = found["monitor"].get_logs().data_as_pandas["hand_till"]
    model = LogisticRegression().fit(X, y)
    assert log.iloc[-1] == pytest.approx(
        dmfroc.hand_till_score(y, model.predict_proba(X)), abs=1e-3
    )
    assert len(log) > 5


class Run:
    """MLflow's run and its functions, which keep what is logged."""

    def __init__(self):
        self.metrics, self.artifacts, self.tables = {}, {}, {}
        self.models = types.SimpleNamespace(make_metric=self.make_metric)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False

    def start_run(self):
        return self

    def log_metrics(self, metrics, step=None):
        assert all(isinstance(value, float) for value in metrics.values())
        self.metrics |= metrics

    def log_table(self, data, artifact_file):
        self.tables[artifact_file] = data

    def log_artifact(self, local_path):
        self.artifacts[local_path] = Path(local_path).read_text()

    def make_metric(self, *, eval_fn, greater_is_better, name=None):
        return types.SimpleNamespace(eval_fn=eval_fn, name=name or eval_fn.__name__)


@pytest.mark.slow
def test_mlflow_gets_values_limits_table_and_report(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    y, scores = data()
    evaluation, run = dmfroc.evaluate(y, scores), Run()
    found = run_section("MLflow", monkeypatch, {"mlflow": run}, evaluation=evaluation)
    for name, e in evaluation.estimates.items():
        low, high = e.interval
        logged = [run.metrics[x] for x in (f"{name}_low", name, f"{name}_high")]
        assert logged == [low, e.value, high]
    assert list(run.tables["measures.json"]["measure"]) == list(evaluation.estimates)
    assert "better than guessing" in run.artifacts["report.html"]
    hard = scores.argmax(axis=1)
    low, _ = dmfroc.estimate("informedness", y, y_pred=hard).interval
    assert found["extra"].eval_fn(hard, y, {}) == low


class Tensor:
    """What the page asks of a tensor."""

    def __init__(self, values):
        self.values = values

    def detach(self):
        return self

    def cpu(self):
        return self

    def numpy(self):
        return self.values


def test_a_metric_of_torchmetrics_has_values_and_limits(monkeypatch):
    class Metric:
        def add_state(self, name, default, dist_reduce_fx):
            assert dist_reduce_fx == "cat"  # what processes hold is put together
            setattr(self, name, list(default))

    modules = {
        "torch": types.SimpleNamespace(tensor=float),
        "torchmetrics": types.SimpleNamespace(Metric=Metric),
        "torchmetrics.utilities": types.SimpleNamespace(
            dim_zero_cat=lambda parts: Tensor(np.concatenate([part.values for part in parts]))
        ),
    }
    metric = run_section("PyTorch and Lightning", monkeypatch, modules)["Ranking"]()
    y, scores = data(400)
    for rows in np.split(np.arange(400), 8):
        metric.update(Tensor(scores[rows]), Tensor(y[rows]))
    found, expected = metric.compute(), dmfroc.evaluate(y, scores, measures=metric.measures)
    assert len(found) == 3 * len(expected.estimates)
    for name, e in expected.estimates.items():
        limits = found[f"{name}_low"], found[f"{name}_high"]
        assert found[name] == e.value
        assert limits == e.interval


def test_keras_logs_the_lower_limit(monkeypatch):
    keras = types.SimpleNamespace(callbacks=types.SimpleNamespace(Callback=object))
    found = run_section("Keras", monkeypatch, {"keras": keras})
    y, scores = data()
    callback = found["Validation"]("features", y)
    callback.model = types.SimpleNamespace(predict=lambda x, verbose: scores)
    logs = {"val_loss": 1.0}
    callback.on_epoch_end(0, logs)
    e = dmfroc.estimate("hand_till", y, scores)
    assert logs == {
        "val_loss": 1.0,
        "val_hand_till": e.value,
        "val_hand_till_low": e.interval[0],
    }


def test_optuna_prunes_what_will_hardly_be_better(monkeypatch):
    class TrialPruned(Exception):
        pass

    class Trial:
        def __init__(self, number, pruner):
            self.number, self.pruner, self.reported = number, pruner, {}

        def report(self, value, step):
            self.reported[step] = value

        def should_prune(self):
            return self.pruner(self.reported[max(self.reported)])

    class Study:
        def __init__(self, direction, pruner):
            assert direction == "maximize"
            self.pruner, self.values, self.trials = pruner, {}, []

        def optimize(self, objective, n_trials):
            for number in range(n_trials):
                trial = Trial(number, self.pruner)
                self.trials.append(trial)
                try:
                    self.values[number] = objective(trial)
                except TrialPruned:
                    self.values[number] = None

    optuna = types.SimpleNamespace(
        TrialPruned=TrialPruned,
        create_study=Study,
        pruners=types.SimpleNamespace(ThresholdPruner=lambda lower: lambda value: value < lower),
    )
    y, _ = data()
    effects = [2.0, 0.2, 2.1, 0.1, *([0.2] * 16)]
    calls = []

    def training(trial):
        for step in range(3):
            calls.append(trial.number)
            yield data(effect=effects[trial.number] * (1 + step / 10), seed=0)[1]

    study = run_section("Optuna", monkeypatch, {"optuna": optuna}, y=y, training=training)["study"]
    assert study.values[0] is not None
    assert study.values[2] > study.values[0]
    assert study.values[1] is study.values[3] is None
    assert calls.count(1) == calls.count(3) == 1  # after the first step
    assert all(value < 0.05 for value in study.trials[1].reported.values())


def test_skore_gets_value_and_limit(monkeypatch):
    added = {}
    metrics = types.SimpleNamespace(
        add=lambda metric, name: added.update({name: metric}),
        summarize=lambda metric: types.SimpleNamespace(frame=lambda: metric),
    )
    run_section("skore", monkeypatch, report=types.SimpleNamespace(metrics=metrics))
    y, scores = data()

    class Model:
        classes_ = np.array(LABELS)

        def predict_proba(self, X):
            return scores

    e = dmfroc.estimate("hand_till", y, scores)
    assert added["hand_till_low"](Model(), None, y) == e.interval[0]
    assert list(added) == ["hand_till", "hand_till_low"]
