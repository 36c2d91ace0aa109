"""Every experiment and benchmark still runs, at a tiny size."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["experiments/regularization.py"], "| tree on iris |"),
        (["experiments/gates.py"], "| at_least | 2 | 6 | 0 |"),
        (["experiments/coverage.py"], "| K=4, balanced | DMF-AUC |"),
        (["experiments/band.py"], "| K=2, good |"),
        (["experiments/designs.py"], "| logistic | 300 | 5 | Hand-Till M |"),
        (["experiments/discrimination.py"], "| argmax | none (random) |"),
        (["experiments/class_skew.py"], "| skewed | Macro F1 |"),
        (["experiments/meta_analysis.py"], "| one threshold | 10 | sensitivity |"),
        (["experiments/paired_tests.py"], "| `accuracy` | K=2, 160/40 |"),
        (["experiments/posteriors.py"], "| pairs alike | hierarchical |"),
        (["experiments/any_time.py"], "| `dmf_auc` | 10 |"),
        (["experiments/powers_tables.py"], "| κ | 18.60 | 18.60 | 21.26 | 21.26 |"),
        (["experiments/power.py"], "| all pairs | 0.2 |"),
        (["experiments/weights.py"], "| K | 0.1 | 0.25 | 0.5 | 1 | 2 | 4 | 10 |"),
        (["experiments/sbc.py"], "| ordinal | spread |"),
        (["experiments/items.py"], "| 20 | 100.0 | 3.0 |"),
        (["experiments/published_tables.py"], "| hand_till, AUC .8 | n = 4,252 | n = 4,252 |"),
        (["experiments/uses.py"], "| plain | ordinary | 20 |"),
        (["-m", "benchmarks"], "dmfroc Hand-Till M with SE"),
        (["-m", "benchmarks.gpu"], "| 300x3 | hand_till |"),
    ],
)
def test_script_runs(command, expected):
    done = subprocess.run(
        [sys.executable, *command, "--quick"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert expected in done.stdout


@pytest.mark.slow
@pytest.mark.parametrize(
    ("study", "expected"),
    [
        ("charts", "(tableware)"),
        ("rank_disagreement", "| AUPRG and AUPR disagree on the best model"),
        ("real_data", "| iris | k-nearest > multinomial > tree | 0.36 |"),
        ("threshold_pools", "| K=3, n=75 |"),
        ("threshold_selection", "| shuttle-landing-control | bayes |"),
    ],
)
def test_real_data_study_runs(study, expected, data_directory):
    environment = os.environ | {"DMFROC_DATA": str(data_directory)}
    # Long fits of higher rank take twice as long without XLA's optimization
    environment.pop("XLA_FLAGS", None)
    done = subprocess.run(
        [sys.executable, f"experiments/{study}.py", "--quick"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )
    assert done.returncode == 0, done.stderr
    assert expected in done.stdout
