"""Draws from a NumPyro model, after a Gaussian approximation has made its posterior round.

Nothing here knows about ROC curves. A model takes one pytree of arrays; `Problem` holds all that
is compiled for one model and one shape of data, so that further data sets cost no compilation.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import scipy.optimize
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float
from numpyro.infer import HMC, MCMC, NUTS, Predictive
from numpyro.infer.mcmc import MCMCKernel
from numpyro.infer.util import constrain_fn, initialize_model, potential_energy

from dmfroc._compiled import compiled

Kernel = Callable[[Callable[..., None]], MCMCKernel]
"""What turns a NumPyro model into a kernel, such as the class `numpyro.infer.NUTS`."""

# For what is called some hundred times: optimising it would take longer than all of the calls.
_SOON_READY = {"compiler_options": {"xla_backend_optimization_level": 0}}
# Of chains: more of it takes longer than it saves, and none makes every step six times as long.
_BRIEFLY_OPTIMISED = {"compiler_options": {"xla_backend_optimization_level": 1}}
_MAX_ITERATIONS = 2000
_N_EXPECTATION_DRAWS = 50
_MAX_EXPECTATION_STEPS = 20
_SETTLED = 0.05  # relative change of a scale
_MAX_TREE_DEPTH, _ACCEPTANCE = 8, 0.7
# What Hamiltonian kernels report of each draw, and what ArviZ calls it.
_STATISTICS = {
    "diverging": "diverging",
    "energy": "energy",
    "num_steps": "n_steps",
    "accept_prob": "acceptance_rate",
    "adapt_state.step_size": "step_size",
}


Run = Callable[..., tuple[Array, dict[str, Array]]]


class Gaussian(NamedTuple):
    """A normal approximation of the posterior of the unconstrained parameters."""

    location: Float[Array, " d"]
    factor: Float[Array, "d d"]  # its product with its transpose is the covariance


class Draws(NamedTuple):
    """Draws of all sites by chain, and what the sampler has to say about each draw."""

    sites: dict[str, Float[np.ndarray, "chain draw *site"]]
    sample_stats: dict[str, np.ndarray]


Update = Callable[[dict[str, Array]], Float[Array, " h"]]


class Problem:
    """A model and a shape of data, with everything that is compiled for them.

    Parameters are one flat vector on the whole line; the first ``n_scales`` are the logarithms
    of the scales (site ``spread``) of the site ``effect``. ``update`` returns what draws of all
    sites say about these logarithms.
    """

    def __init__(self, model: Callable[[Any], None], update: Update, data: Any):
        # Only shapes matter here; to run the model, each of its operations would be compiled.
        shapes = jax.eval_shape(
            lambda key: initialize_model(key, model, model_args=(data,)).param_info.z,
            jax.random.PRNGKey(0),
        )
        start = jax.tree.map(lambda site: jnp.zeros(site.shape), shapes)
        self.n_scaled = len(start["effect"])
        scales = start.pop("spread")
        flat, self.unravel = ravel_pytree((scales, start))
        self.model = model
        self._traced_potential = compiled(self.potential)  # NumPyro asks for it again and again
        self.size, self.n_scales = len(flat), scales.size
        self.value_and_gradient = compiled(jax.value_and_grad(self.potential), **_SOON_READY)
        self.hessian = compiled(jax.hessian(self.potential), **_SOON_READY)
        self.sites = compiled(jax.vmap(self._sites, in_axes=(0, None)), **_SOON_READY)
        self.site_and_gradient = compiled(
            jax.value_and_grad(lambda flat, data, site: self._sites(flat, data)[site]),
            static_argnames="site",
            **_SOON_READY,
        )
        self.update = compiled(update, **_SOON_READY)
        self._samplers: dict[Any, Run] = {}

    def _parameters(self, flat: Float[Array, " d"]) -> dict[str, Array]:
        scales, others = self.unravel(flat)
        return {"spread": scales, **others}

    def potential(self, flat: Float[Array, " d"], data: Any) -> Float[Array, ""]:
        """Return minus the log posterior density, up to a constant."""
        return potential_energy(self.model, (data,), {}, self._parameters(flat))

    def _sites(self, flat: Float[Array, " d"], data: Any) -> dict[str, Array]:
        return constrain_fn(
            self.model, (data,), {}, self._parameters(flat), return_deterministic=True
        )

    def whitened(self, data: Any, approximation: Gaussian) -> None:
        """Describe the posterior in coordinates in which the approximation is standard normal."""
        flat = dist.ImproperUniform(dist.constraints.real_vector, (), (self.size,))
        x = numpyro.sample("x", flat)
        moved = approximation.location + approximation.factor @ x
        with numpyro.handlers.block():  # the inner model's sites are no sites of this one
            potential = self._traced_potential(moved, data)
        numpyro.factor("log_density", -potential)

    def chains(self, kernel: Kernel, n_warmup: int, n_draws: int, n_chains: int) -> Run:
        """Return what runs the chains; JAX can compile it, or run it on many data sets at once."""

        def run(
            key: Array, start: Array, data: Any, approximation: Gaussian
        ) -> tuple[Array, dict[str, Array]]:
            driver = MCMC(
                kernel(self.whitened),
                num_warmup=n_warmup,
                num_samples=n_draws,
                num_chains=n_chains,
                chain_method="vectorized",
                progress_bar=False,
            )
            fields = tuple(_STATISTICS) if isinstance(driver.sampler, HMC) else ()
            driver.run(key, data, approximation, init_params={"x": start}, extra_fields=fields)
            return (
                driver.get_samples(group_by_chain=True)["x"],
                driver.get_extra_fields(group_by_chain=True),
            )

        return run

    def sampler(self, kernel: Kernel, n_warmup: int, n_draws: int, n_chains: int) -> Run:
        """Return what runs the chains, compiled as a whole, once for the same arguments."""
        key = kernel, n_warmup, n_draws, n_chains
        if key not in self._samplers:
            self._samplers[key] = compiled(self.chains(*key), **_BRIEFLY_OPTIMISED)
        return self._samplers[key]


@cache
def _problems() -> dict[Any, Problem]:
    return {}


def problem_of(model: Callable[[Any], None], update: Update, data: Any) -> Problem:
    """Return the problem of a model and the shapes of its data, compiled at most once."""
    key = model, tuple(np.shape(leaf) for leaf in jax.tree.leaves(data))
    if key not in _problems():
        _problems()[key] = Problem(model, update, data)
    return _problems()[key]


def approximate(problem: Problem, data: Any) -> Gaussian:
    """Return the normal approximation at the mode of the parameters given their scales.

    A joint mode of parameters and their scale says little about either. The scales therefore
    maximise the density averaged over all other parameters, by expectation maximization with the
    normal approximation of the latter.
    """
    n = problem.n_scales
    flat = np.zeros(problem.size)
    noise = np.random.default_rng(0).normal(size=(_N_EXPECTATION_DRAWS, problem.size - n))
    noise = np.concatenate([noise, -noise])  # no error in linear terms
    for _ in range(_MAX_EXPECTATION_STEPS):
        flat = _mode(problem, flat, data)
        hessian = np.asarray(problem.hessian(flat, data))
        factor = _inverse_square_root(hessian[n:, n:])
        draws = np.tile(flat, (len(noise), 1))
        draws[:, n:] += noise @ factor.T
        log_scales = np.asarray(problem.update(problem.sites(jnp.asarray(draws), data)))
        change = np.abs(log_scales - flat[:n]).max()
        if change < _SETTLED:
            break
        flat[:n] = log_scales
    joint = np.zeros_like(hessian)
    joint[n:, n:] = factor
    joint[:n, :n] = np.eye(n) / np.sqrt(problem.n_scaled)
    joint[n:, :n] = -factor @ factor.T @ hessian[n:, :n] @ joint[:n, :n]
    return Gaussian(jnp.asarray(flat), jnp.asarray(joint))


def _mode(problem: Problem, start: Float[np.ndarray, " d"], data: Any) -> Float[np.ndarray, " d"]:
    """Return the mode of all parameters given the scales."""
    scales = start[: problem.n_scales]

    def objective(others: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = problem.value_and_gradient(np.append(scales, others), data)
        return float(value), np.asarray(gradient)[len(scales) :]

    found = scipy.optimize.minimize(
        objective,
        start[len(scales) :],
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": _MAX_ITERATIONS, "maxcor": 30},
    )
    return np.append(scales, found.x)


def _inverse_square_root(matrix: Float[np.ndarray, "d d"]) -> Float[np.ndarray, "d d"]:
    """Return F with ``F F' = matrix^-1``; directions that curve the wrong way count as flat."""
    values, vectors = np.linalg.eigh(matrix)
    return vectors / np.sqrt(np.maximum(values, 1e-3))


def standard_deviation(problem: Problem, data: Any, approximation: Gaussian, site: str) -> float:
    """Return the standard deviation of a scalar site by the delta method."""
    _, gradient = problem.site_and_gradient(approximation.location, data, site)
    return float(jnp.linalg.norm(approximation.factor.T @ gradient))


def draw_from_gaussian(
    problem: Problem, data: Any, approximation: Gaussian, size: tuple[int, int], seed: int
) -> Draws:
    """Draw independently from the approximation; ``size`` counts chains and draws."""
    x = jax.random.normal(jax.random.PRNGKey(seed), (*size, problem.size))
    return _to_sites(problem, data, approximation, x, {})


def draw_from_posterior(
    problem: Problem,
    data: Any,
    approximation: Gaussian,
    size: tuple[int, int],
    seed: int,
    n_warmup: int,
    kernel: Kernel,
) -> Draws:
    """Draw by Markov chains that start in the approximation; ``size`` counts chains and draws."""
    n_chains, n_draws = size
    for_start, for_chains = jax.random.split(jax.random.PRNGKey(seed))
    shape = (n_chains, problem.size) if n_chains > 1 else (problem.size,)
    start = jax.random.normal(for_start, shape)
    run = problem.sampler(kernel, n_warmup, n_draws, n_chains)
    x, fields = run(for_chains, start, data, approximation)
    statistics = {_STATISTICS[name]: np.asarray(fields[name]) for name in fields}
    return _to_sites(problem, data, approximation, x, statistics)


def _to_sites(
    problem: Problem,
    data: Any,
    approximation: Gaussian,
    x: Float[Array, "chain draw d"],
    statistics: dict[str, np.ndarray],
) -> Draws:
    flat = approximation.location + x.reshape(-1, problem.size) @ approximation.factor.T
    sites = problem.sites(flat, data)
    return Draws(
        {name: np.asarray(s).reshape(*x.shape[:2], *s.shape[1:]) for name, s in sites.items()},
        statistics,
    )


def default_kernel(model: Callable[..., None]) -> NUTS:
    """Return the No-U-Turn sampler, whose mass matrix is right from the start.

    In round coordinates steps of half a standard deviation are accepted in four of five cases, and
    seven of them reach the other side: smaller steps would need twice as many.
    """
    return NUTS(
        model,
        max_tree_depth=_MAX_TREE_DEPTH,
        adapt_mass_matrix=False,
        target_accept_prob=_ACCEPTANCE,
    )


def draw_from_prior(model: Callable[[Any], None], data: Any, n_draws: int, seed: int) -> Draws:
    """Draw all sites independently from the prior, as one chain."""
    predictive = Predictive(model, num_samples=n_draws)
    sites = predictive(jax.random.PRNGKey(seed), data)
    return Draws({name: np.asarray(values)[None] for name, values in sites.items()}, {})
