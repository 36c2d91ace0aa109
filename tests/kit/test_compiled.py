"""Everything that JAX computes, it computes in double precision, whatever is set globally."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import every_number
import jax.numpy as jnp
import numpy as np
import pytest

import dmfroc
from dmfroc import results
from dmfroc._kit.compiled import compiled, double_precision, value_and_gradient

PACKAGE = Path(dmfroc.__file__).parent
ENTRY = PACKAGE / "_kit/compiled.py"
# What could compute in single precision, or set the precision, outside of the one entry
FORBIDDEN = {"jit", "pmap", "enable_x64", "experimental.enable_x64", "config"}


def test_every_public_function_is_called():
    # Those without a call have results in the examples of their docstrings.
    options = {"Bootstrap", "BayesianBootstrap", "Equivalence", "NonInferiority"}
    options |= {"Folds", "FollowUp", "Importance", "Judge"}  # what they do is in other calls
    for name in every_number.PUBLIC - set(every_number.CALLS) - options:
        assert every_number.example(every_number.public(name)), name
    listed = set(dmfroc.curves.__all__) | set(dmfroc.results.__all__)
    assert set(every_number.CALLS) - listed <= every_number.PUBLIC
    assert len(dmfroc.__all__) <= 32


def test_types_of_results_are_where_the_stub_says():
    stub = ast.parse((PACKAGE / "results/__init__.pyi").read_text("utf-8"))
    assert sorted(alias.name for node in stub.body for alias in node.names) == results.__all__
    for name in results.__all__:
        assert getattr(results, name).__name__ == name


@pytest.mark.slow
def test_no_public_function_computes_in_single_precision(tmp_path):
    """With single precision as JAX's default, results are to the last bit those without."""
    found = []
    for is_double in ("0", "1"):
        # Bits of XLA's results depend on how many threads it uses, and on its optimisations.
        environment = os.environ | {
            "JAX_ENABLE_X64": is_double,
            "OMP_NUM_THREADS": "1",
            # What both compile is compiled once.
            "JAX_COMPILATION_CACHE_DIR": os.environ.get("JAX_COMPILATION_CACHE_DIR", str(tmp_path)),
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        }
        done = subprocess.run(
            [sys.executable, every_number.__file__],
            capture_output=True,
            text=True,
            check=False,
            env=environment,
        )
        assert done.returncode == 0, done.stderr
        found.append(json.loads(done.stdout))
    single, double = found
    assert set(single) == every_number.PUBLIC | set(every_number.CALLS)
    assert [name for name in single if single[name] != double[name]] == []


def names_of_jax(tree):
    """Yield the attributes of JAX's modules that a file uses, and where."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value).split(".")[0] == "jax":
            yield ast.unparse(node).removeprefix("jax."), node.lineno
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "jax":
            for alias in node.names:
                full = f"{node.module}.{alias.name}".removeprefix("jax.")
                yield full, node.lineno


@pytest.mark.slow
def test_what_is_compiled_goes_through_one_entry():
    found = {}
    for file in PACKAGE.rglob("*.py"):
        used = names_of_jax(ast.parse(file.read_text("utf-8")))
        lines = [line for name, line in used if name in FORBIDDEN or name.startswith("config.")]
        if lines:
            found[str(file.relative_to(PACKAGE))] = lines
    assert list(found) == [str(ENTRY.relative_to(PACKAGE))]


def test_compiled_functions_are_double_and_leave_the_configuration_alone():
    before = jnp.asarray(1.0).dtype
    third = compiled(lambda x: x / 3)
    assert third(1.0).dtype == np.float64
    assert float(third(1.0)) == 1 / 3
    assert double_precision(jnp.asarray)(1.0).dtype == np.float64
    with pytest.raises(ZeroDivisionError):
        double_precision(lambda: 1 / 0)()
    value, gradient = value_and_gradient(lambda x: (x**2).sum(), np.array([1 / 3, 2.0]))
    assert value == 1 / 9 + 4
    assert gradient.tolist() == [2 / 3, 4.0]
    assert value.dtype == gradient.dtype == np.float64
    assert jnp.asarray(1.0).dtype == before == jnp.float32
