"""Draws from a NumPyro model, after a Gaussian approximation has made its posterior round.

Nothing here depends on ROC curves. A model takes one pytree of arrays. `Sampler` keeps what is
compiled for one model and one shape of data, so that further data sets need no compilation.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache, partial
from operator import attrgetter
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import scipy.optimize
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float
from numpyro.infer import HMC, init_to_uniform
from numpyro.infer.hmc import HMCState
from numpyro.infer.mcmc import MCMCKernel
from numpyro.infer.util import ParamInfo, constrain_fn, potential_energy, unconstrain_fn

from dmfroc._kit.arrays import AnyArray
from dmfroc._kit.compiled import compiled, double_precision, lowered
from dmfroc._kit.progress import track
from dmfroc._kit.threads import check_stopped, in_background, one_blas_thread, result_of

Kernel = Callable[[Callable[..., None]], MCMCKernel]
"""What turns a NumPyro model into a kernel, such as the class `numpyro.infer.NUTS`."""

Model = Callable[[Any], None]
"""A NumPyro model of one pytree of arrays."""

Position = Float[np.ndarray, " d"]
"""All parameters, side by side and without bounds."""

# For what is called some hundred times: optimising it would take longer than all of the calls.
_SOON_READY: dict[str, Any] = {"compiler_options": {"xla_backend_optimization_level": 0}}
# Of chains: more of it takes longer than it saves, and none makes every step six times as long.
_BRIEFLY_OPTIMISED: dict[str, Any] = {"compiler_options": {"xla_backend_optimization_level": 1}}
_MAX_ITERATIONS = 2000
_N_EXPECTATION_DRAWS = 10
_FIRST_LOG_SCALE, _MOST_LOG_SCALE = -1.0, 2.0
_LEAST_SCALE = 0.02
_LEAST_CURVATURE_OF_SCALES, _LEAST_CURVATURE = 0.25, 1e-3
_SEARCH = {"factor": 1.0, "eps": 0.01, "xtol": 0.02}  # of the scales
_DIFFERENCE = 0.2  # of logarithms of scales
_STEP = 1e-4  # of parameters whose scale is about one
_MOST_TOGETHER = 80  # effects; of more, each varies by itself given all other parameters
_N_PROBES = 8
_N_TOGETHER = 10  # draws of all chains
_TRAJECTORY, _ACCEPTANCE = 1.8, 0.8
_MOST_STEPS = 1024  # per draw, those of NumPyro's No-U-Turn sampler
_NO_PRIOR = "log_likelihood", "effect", "pair_effect"  # the effects are part of the model
# What Hamiltonian kernels report of each draw, and what ArviZ calls it.
_STATISTICS = {
    "diverging": "diverging",
    "energy": "energy",
    "num_steps": "n_steps",
    "accept_prob": "acceptance_rate",
    "adapt_state.step_size": "step_size",
}


class Chains(NamedTuple):
    """How many Markov chains are run, how long, and what makes their steps."""

    kernel: Kernel
    n_chains: int
    n_draws: int
    n_warmup: int


type Steps = tuple[Callable[..., Any], Callable[..., Any]]
"""How chains begin, and how they go on for a few draws."""


class Gaussian(NamedTuple):
    """A normal approximation of the posterior of the unconstrained parameters.

    Attributes
    ----------
    location
        The mean.
    shared
        What the first of as many standard normal coordinates as it has columns move.
    apart
        For each effect that varies by itself, the last parameters, what its coordinates move.
    """

    location: Float[AnyArray, " d"]
    shared: Float[AnyArray, "d c"]
    apart: Float[AnyArray, "n m m"]

    def at(self, x: Float[AnyArray, "*draws d"]) -> Float[AnyArray, "*draws d"]:
        """Return the parameters at standard normal coordinates."""
        n_shared = self.shared.shape[1]
        flat = self.location + x[..., :n_shared] @ self.shared.T
        if len(self.apart) == 0:
            return flat
        effects = x[..., n_shared:].reshape(*x.shape[:-1], *self.apart.shape[:2], 1)
        moved = (self.apart @ effects).reshape(*x.shape[:-1], -1)
        return flat + jnp.pad(moved, [(0, 0)] * (x.ndim - 1) + [(n_shared, 0)])


class Draws(NamedTuple):
    """Draws of all sites by chain, and what the sampler has to say about each draw."""

    sites: dict[str, Float[np.ndarray, "chain draw *site"]]
    sample_stats: dict[str, np.ndarray]


class Sampler:
    """A model and a shape of data, with everything that is compiled for them.

    Parameters are one flat vector on the whole line: the first ``n_scales`` are the logarithms of
    the scales (site ``spread``) of the site ``effect``, whose values come last. The site
    ``log_prior`` has the log density of all parameters but the effects. Of many effects,
    ``n_apart`` in number and of ``size_of_each``, each varies by itself given all that is shared.
    """

    def __init__(self, model: Model, data: Any):
        # Only shapes matter here; to run the model, each of its operations would be compiled.
        shapes = jax.eval_shape(partial(_any_parameters, model), jax.random.PRNGKey(0), data)
        start = jax.tree.map(lambda site: jnp.zeros(site.shape), shapes)
        scales, effect = start.pop("spread"), start.pop("effect")
        flat, self.unravel = ravel_pytree((scales, start, effect))
        self.model = model
        self._traced_potential = compiled(self.potential)  # NumPyro asks for it again and again
        self.size, self.n_scales = len(flat), scales.size
        self.n_apart = len(effect) if len(effect) > _MOST_TOGETHER else 0
        self.n_scaled, self.size_of_each = len(effect), effect.size // len(effect)
        given, options = (np.zeros(self.size), data), {} if self.n_apart else _SOON_READY
        self.value_and_gradient = _ahead(
            lowered(jax.value_and_grad(self.potential), *given, **options)
        )
        self._exact_products = compiled(self._many_products)
        self._sites_of_draws = jax.vmap(self._sites, in_axes=(0, None))
        self.sites = compiled(self._sites_of_draws, **_SOON_READY)
        self._programs: dict[Chains, tuple[Steps, Callable[..., Any]]] = {}

    def _parameters(self, flat: Float[Array, " d"]) -> dict[str, Array]:
        scales, others, effect = self.unravel(flat)
        return {"spread": scales, "effect": effect, **others}

    def potential(self, flat: Float[Array, " d"], data: Any) -> Float[Array, ""]:
        """Return minus the log posterior density, up to a constant."""
        return potential_energy(self.model, (data,), {}, self._parameters(flat))

    def gradient(self, flat: Position, data: Any) -> Position:
        """Return the derivatives of the potential."""
        return np.asarray(self.value_and_gradient(flat, data)[1])

    def hessian_products(
        self, flat: Position, data: Any, directions: Float[np.ndarray, "r d"]
    ) -> Float[np.ndarray, "r d"]:
        """Return the second derivatives of the potential times directions.

        Those of many pairs are exact. For few, it takes longer to compile what computes them than
        to take differences, which are right to some 1e-9.
        """
        if self.n_apart:
            return np.asarray(self._exact_products(flat, data, directions))
        steps = _STEP * directions
        rises = [self.gradient(flat + s, data) - self.gradient(flat - s, data) for s in steps]
        return np.array(rises) / (2 * _STEP)

    def _many_products(
        self, flat: Float[AnyArray, " d"], data: Any, directions: Float[AnyArray, "r d"]
    ) -> Float[Array, "r d"]:
        gradient = jax.grad(lambda x: self.potential(x, data))
        # One by one takes a tenth of the time of all at once, and less memory.
        return jax.lax.map(lambda x: jax.jvp(gradient, (flat,), (x,))[1], directions)

    def _sites(self, flat: Float[Array, " d"], data: Any) -> dict[str, Array]:
        sites = constrain_fn(
            self.model, (data,), {}, self._parameters(flat), return_deterministic=True
        )
        drawn = numpyro.handlers.substitute(self.model, sites)
        trace = numpyro.handlers.trace(drawn).get_trace(data).values()
        priors = [
            site["fn"].log_prob(site["value"]).sum()
            for site in trace
            if site["type"] == "sample" and site["name"].removeprefix("prior_of_") not in _NO_PRIOR
        ]
        return sites | {"log_prior": jnp.stack(priors).sum()}

    def whitened(self, data: Any, approximation: Gaussian) -> None:
        """Describe the posterior in coordinates in which the approximation is standard normal."""
        flat = dist.ImproperUniform(dist.constraints.real_vector, (), (self.size,))
        x = numpyro.sample("x", flat)
        with numpyro.handlers.block():  # the inner model's sites are no sites of this one
            potential = self._traced_potential(approximation.at(x), data)
        numpyro.factor("log_density", -potential)

    def steps(self, chains: Chains) -> Steps:
        """Return what runs the chains; JAX can compile or vectorize it."""
        kernel = chains.kernel(self.whitened)
        told = tuple(_STATISTICS) if isinstance(kernel, HMC) else ()

        def begin(key: Array, start: ParamInfo, data: Any, approximation: Gaussian) -> Any:
            keys = jax.random.split(key, chains.n_chains)
            at = start if isinstance(kernel, HMC) else start.z
            return kernel.init(keys, chains.n_warmup, at, (data, approximation), {})

        def go_on(state: Any, data: Any, approximation: Gaussian) -> tuple[Any, dict[str, Array]]:
            def step(state: Any, _: None) -> tuple[Any, dict[str, Array]]:
                state = kernel.sample(state, (data, approximation), {})
                fields = {name: attrgetter(name)(state) for name in told}
                return state, {"x": getattr(state, kernel.sample_field)["x"], **fields}

            return jax.lax.scan(step, state, length=_N_TOGETHER)

        return begin, go_on

    def programs(self, chains: Chains, data: Any) -> tuple[Steps, Callable[..., Any]]:
        """Return what runs chains, and what returns their sites; only the shapes of data matter.

        Other threads compile it until it is called.
        """
        if sys.flags.optimize > 1:
            raise RuntimeError("ArviZ, which checks chains, fails under python -OO: use -O")
        if chains in self._programs:
            return self._programs[chains]
        n, m = self.n_apart, self.size_of_each
        shared = np.zeros((self.size, self.size - n * m))
        given = data, Gaussian(np.zeros(self.size), shared, np.zeros((n, m, m)))
        x = {"x": np.zeros((chains.n_chains, self.size))}
        start = ParamInfo(x, np.zeros(chains.n_chains), x)
        first, others = self.steps(chains)
        begin = lowered(first, jax.random.PRNGKey(0), start, *given, **_SOON_READY)
        go_on = lowered(others, begin.out_info, *given, **_BRIEFLY_OPTIMISED)
        draws = np.zeros((chains.n_chains * chains.n_draws, self.size))
        sites = lowered(self._sites_of_draws, draws, data, **_SOON_READY)
        programs = (_ahead(begin), _ahead(go_on)), _ahead(sites)
        return self._programs.setdefault(chains, programs)


def _ahead(program: jax.stages.Lowered) -> Callable[..., Any]:
    """Have another thread compile a program until it is called.

    NumPyro, which is not made for several threads, has done its part by then.
    """
    future = in_background(program.compile)
    return double_precision(lambda *given: result_of(future)(*given))


def start_at(
    sampler: Sampler, x: Float[Array, "chain d"], data: Any, approximation: Gaussian
) -> ParamInfo:
    """Return where chains start, with potentials and gradients: what starts them has no model."""
    flat, pull_back = jax.vjp(approximation.at, x)
    evaluated = [sampler.value_and_gradient(chain, data) for chain in flat]
    potentials, gradients = (jnp.stack(parts) for parts in zip(*evaluated, strict=True))
    [gradient] = pull_back(gradients)
    return ParamInfo({"x": x}, potentials, {"x": gradient})


def run_chains(
    steps: Steps, chains: Chains, key: Array, start: ParamInfo, *given: Any
) -> dict[str, Float[np.ndarray, "draw chain *field"]]:
    """Return the draws ``x`` of chains and what their kernel tells, draw by draw.

    Programs do not end before they are through: after some draws, this asks for the next.
    """
    begin, go_on = steps
    state = begin(key, start, *given)
    samples = []
    parts = range(0, chains.n_warmup + chains.n_draws, _N_TOGETHER)
    for _ in track(parts, len(parts), "Posterior"):
        check_stopped()
        state, fields = go_on(state, *given)
        samples.append(jax.tree.map(np.asarray, fields))
    kept = slice(chains.n_warmup, chains.n_warmup + chains.n_draws)
    return jax.tree.map(lambda *parts: np.concatenate(parts)[kept], *samples)


def _any_parameters(model: Model, key: Array, data: Any) -> dict[str, Array]:
    seeded = numpyro.handlers.seed(model, key)
    drawn = numpyro.handlers.substitute(seeded, substitute_fn=init_to_uniform)
    trace = numpyro.handlers.trace(drawn).get_trace(data)
    values = {
        name: site["value"]
        for name, site in trace.items()
        if site["type"] == "sample" and not site["is_observed"]  # as factors are
    }
    return unconstrain_fn(model, (data,), {}, values)


_SAMPLERS: dict[Any, Sampler] = {}


def sampler_of(model: Model, data: Any) -> Sampler:
    """Return the sampler of a model and the shapes of its data, compiled at most once."""
    key = model, tuple(np.shape(leaf) for leaf in jax.tree.leaves(data))
    if key not in _SAMPLERS:
        _SAMPLERS[key] = Sampler(model, data)
    return _SAMPLERS[key]


@one_blas_thread()
def approximate(sampler: Sampler, data: Any) -> Gaussian:
    """Return the normal approximation at the mode of the parameters given their scales.

    A joint mode of parameters and their scale says little about either. The scales therefore
    maximise the density averaged over all other parameters: its slope is the average slope of the
    joint density (Fisher's identity) over draws from the normal approximation of those parameters.
    Where effects hardly differ there may be no maximum: scales are kept from zero.
    """
    n = sampler.n_scales
    flat = np.zeros(sampler.size)
    # Signs are on average right where normal noise is, and in squares of a coordinate always.
    noise = np.random.default_rng(0).choice([-1.0, 1.0], (_N_EXPECTATION_DRAWS, sampler.size))
    noise = np.concatenate([noise, -noise])  # no error in linear terms

    def within(scales: np.ndarray) -> np.ndarray:
        return scales.clip(np.log(_LEAST_SCALE), _MOST_LOG_SCALE)

    @cache  # SciPy asks three times where it starts
    def slope_at(*scales: float) -> np.ndarray:
        nonlocal flat  # the next mode is near
        start = within(np.array(scales))
        flat = _mode(sampler, np.append(start, flat[n:]), data)
        draws = np.asarray(_normal_at(sampler, flat, data).at(noise))
        gradients = np.array([sampler.gradient(draw, data) for draw in draws])
        return gradients[:, :n].mean(axis=0) + sampler.n_scaled * (scales - start)

    def slope(scales: np.ndarray) -> np.ndarray:
        return slope_at(*scales)

    scales = within(scipy.optimize.root(slope, np.full(n, _FIRST_LOG_SCALE), options=_SEARCH).x)
    rises = [slope(scales + step) - slope(scales - step) for step in _DIFFERENCE * np.eye(n)]
    curvature = np.array(rises) / (2 * _DIFFERENCE)
    flat = _mode(sampler, np.append(scales, flat[n:]), data)
    scale_factor = _inverse_square_root((curvature + curvature.T) / 2, _LEAST_CURVATURE_OF_SCALES)
    return _normal_at(sampler, flat, data, scale_factor)


def _normal_at(
    sampler: Sampler,
    flat: Position,
    data: Any,
    scale_factor: Float[np.ndarray, "h h"] | None = None,
) -> Gaussian:
    """Return the normal approximation about a mode given the scales.

    ``scale_factor`` maps standard normal coordinates to the scales; if None, these stay fixed.
    """
    n = sampler.n_scales
    shared, apart, between = _hessian_parts(sampler, flat, data)
    root = _inverse_square_root(apart)
    response = root @ root @ between.reshape(*apart.shape[:2], len(shared))
    response = response.reshape(between.shape)
    shared = shared - between.T @ response
    factor = np.zeros_like(shared)
    factor[n:, n:] = _inverse_square_root(shared[n:, n:])
    if scale_factor is not None:
        factor[:n, :n] = scale_factor
        factor[n:, :n] = -factor[n:, n:] @ factor[n:, n:] @ shared[n:, :n] @ scale_factor
    return Gaussian(flat, np.concatenate([factor, -response @ factor]), root)


def _hessian_parts(
    sampler: Sampler, flat: Position, data: Any
) -> tuple[Float[np.ndarray, "c c"], Float[np.ndarray, "n m m"], Float[np.ndarray, "e c"]]:
    """Return the second derivatives of all that is shared, of each effect, and of both.

    Many effects hardly depend on each other, and it would take their number squared to see how.
    Their own derivatives are seen by changing all of them at once by random signs, which cancels
    what they do to each other (Bekas, Kokiopoulou and Saad 2007).
    """
    n, m = sampler.n_apart, sampler.size_of_each
    n_shared = len(flat) - n * m
    shape = _N_PROBES if n else 0, m, n, m
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=shape) * np.eye(m)[:, None]
    probes = np.pad(signs.reshape(shape[0] * m, n * m), [(0, 0), (n_shared, 0)])
    directions = np.concatenate([np.eye(n_shared, len(flat)), probes])
    products = sampler.hessian_products(flat, data, directions)
    moved = products[n_shared:, n_shared:].reshape(shape)
    apart = np.einsum("pcnc,pcnk->nck", signs, moved) / _N_PROBES
    columns = products[:n_shared]
    return columns[:, :n_shared], (apart + apart.swapaxes(1, 2)) / 2, columns[:, n_shared:].T


def _mode(sampler: Sampler, start: Position, data: Any) -> Position:
    """Return the mode of all parameters given the scales."""
    scales = start[: sampler.n_scales]

    def objective(others: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = sampler.value_and_gradient(np.append(scales, others), data)
        return float(value), np.asarray(gradient)[len(scales) :]

    options = {"maxiter": _MAX_ITERATIONS, "maxcor": 30}
    optimum = scipy.optimize.minimize(
        objective, start[len(scales) :], jac=True, method="L-BFGS-B", options=options
    )
    return np.append(scales, optimum.x)


def _inverse_square_root(
    matrix: Float[np.ndarray, "*some d d"], least: float = _LEAST_CURVATURE
) -> Float[np.ndarray, "*some d d"]:
    """Return the symmetric F with ``F F = matrix^-1``, of eigenvalues that are at least so much."""
    values, vectors = np.linalg.eigh(matrix)
    return (vectors / np.sqrt(np.maximum(values, least))[..., None, :]) @ vectors.swapaxes(-1, -2)


def draw_from_gaussian(
    sampler: Sampler, data: Any, approximation: Gaussian, size: tuple[int, int], seed: int
) -> Draws:
    """Draw independently from the approximation; ``size`` counts chains and draws."""
    x = np.random.default_rng(seed).normal(size=(*size, sampler.size))
    return _to_sites(sampler.sites, data, approximation, x, {})


@one_blas_thread()
def draw_from_posterior(
    sampler: Sampler, data: Any, approximation: Gaussian, chains: Chains, seed: int
) -> Draws:
    """Draw by Markov chains that start in the approximation."""
    x = np.random.default_rng(seed).normal(size=(chains.n_chains, sampler.size))
    steps, sites = sampler.programs(chains, data)
    start = start_at(sampler, jnp.asarray(x), data, approximation)
    key = jax.random.PRNGKey(seed)
    samples = run_chains(steps, chains, key, start, data, approximation)
    by_chain = {name: values.swapaxes(0, 1) for name, values in samples.items()}
    x = by_chain.pop("x")
    statistics = {_STATISTICS[name]: values for name, values in by_chain.items()}
    return _to_sites(sites, data, approximation, x, statistics)


def _to_sites(
    sites_of: Callable[..., dict[str, Array]],
    data: Any,
    approximation: Gaussian,
    x: Float[AnyArray, "chain draw d"],
    statistics: dict[str, np.ndarray],
) -> Draws:
    sites = sites_of(approximation.at(x.reshape(-1, x.shape[-1])), data)
    return Draws(
        {name: np.asarray(s).reshape(*x.shape[:2], *s.shape[1:]) for name, s in sites.items()},
        statistics,
    )


class _BoundedHMC(HMC):  # type: ignore[misc]  # NumPyro has no types
    """Hamiltonian Monte Carlo with a least step size, for a most number of steps per draw.

    Where no step is accepted, NumPyro makes them smaller without end, and trajectories of as many
    more. Draws that need smaller ones than the least are rejected, and told as divergent.
    """

    def sample(self, state: HMCState, model_args: Any, model_kwargs: Any) -> HMCState:
        """Return the next state, as the one of `numpyro.infer.HMC`."""
        step_size = jnp.maximum(state.adapt_state.step_size, _TRAJECTORY / _MOST_STEPS)
        adapted = state.adapt_state._replace(step_size=step_size)
        return super().sample(state._replace(adapt_state=adapted), model_args, model_kwargs)


def default_kernel(model: Callable[..., None]) -> HMC:
    """Return Hamiltonian Monte Carlo, whose mass matrix is right from the start.

    In round coordinates nothing is left of the start after a quarter of a turn, pi / 2. A little
    more makes up for the directions that are longer than approximated, and takes about five steps;
    the No-U-Turn sampler, which finds out for itself, takes seven or more.
    """
    return _BoundedHMC(
        model,
        trajectory_length=_TRAJECTORY,
        adapt_mass_matrix=False,
        target_accept_prob=_ACCEPTANCE,
    )
