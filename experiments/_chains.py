"""Markov chains of many data sets of one shape, side by side: compiled once, and run as one."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np

from dmfroc.bayes import sampling
from dmfroc.bayes.sampling import Chains, Gaussian, Sampler


@contextmanager
def worth_optimising() -> Iterator[None]:
    """Compile the parts of approximations as well as can be: a study calls them for hours."""
    with mock.patch.dict(sampling._SOON_READY, clear=True):
        yield


@functools.cache
def _compiled(problem: Sampler, chains: Chains) -> Callable[..., Any]:
    return jax.jit(jax.vmap(problem.uncompiled_run(chains)))


def run_side_by_side(
    problem: Sampler,
    chains: Chains,
    data: Sequence[Any],
    approximations: Sequence[Gaussian],
    seed: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return draws of the parameters of all data sets, and how many of each diverged."""
    for_start, for_chains = jax.random.split(jax.random.PRNGKey(seed))
    start = jax.random.normal(for_start, (len(data), *problem.shape_of_start(chains)))
    stacked = (
        jax.tree.map(lambda *x: jnp.stack(x), *several) for several in (data, approximations)
    )
    run = _compiled(problem, chains)
    x, fields = run(jax.random.split(for_chains, len(data)), start, *stacked)
    return np.asarray(x), np.asarray(fields["diverging"]).sum(axis=(1, 2))
