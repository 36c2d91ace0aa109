"""Markov chains of many data sets of one shape, side by side: compiled once, and run as one."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np

from dmfroc.bayes import sampling
from dmfroc.bayes.sampling import Chains, Gaussian, Sampler, Steps, run_chains, start_at


@contextmanager
def worth_optimising() -> Iterator[None]:
    """Compile the parts of approximations as well as can be: a study calls them for hours."""
    with mock.patch.dict(sampling._SOON_READY, clear=True):
        yield


@functools.cache
def _compiled(problem: Sampler, chains: Chains) -> Steps:
    begin, go_on = problem.steps(chains)
    # The first axis of what is drawn stays that of the draws.
    return jax.jit(jax.vmap(begin)), jax.jit(jax.vmap(go_on, out_axes=(0, 1)))


def run_side_by_side(
    problem: Sampler,
    chains: Chains,
    data: Sequence[Any],
    approximations: Sequence[Gaussian],
    seed: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return draws of the parameters of all data sets, and how many of each diverged."""
    for_start, for_chains = jax.random.split(jax.random.PRNGKey(seed))
    x = jax.random.normal(for_start, (len(data), chains.n_chains, problem.size))
    starts = [start_at(problem, *of_one) for of_one in zip(x, data, approximations, strict=True)]
    stacked = (
        jax.tree.map(lambda *x: jnp.stack(x), *several)
        for several in (starts, data, approximations)
    )
    steps, keys = _compiled(problem, chains), jax.random.split(for_chains, len(data))
    found = run_chains(steps, chains, keys, *stacked)
    return np.moveaxis(found["x"], 0, 2), found["diverging"].sum(axis=(0, 2))
