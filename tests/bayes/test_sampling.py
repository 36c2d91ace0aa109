"""The normal approximation that chains start from, and what makes up for overlapping columns."""

import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from unittest import mock

import arviz
import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import pytest
from jax.random import PRNGKey
from numpyro.infer import MCMC
from simulations import normal_scores

from dmfroc import Predictions
from dmfroc._kit.compiled import in_double_precision
from dmfroc._kit.threads import Stopped, become_worker
from dmfroc.bayes import bayesian_roc, sampling
from dmfroc.bayes.models import Priors, model_of
from dmfroc.bayes.pairs import areas
from dmfroc.bayes.roc import _overlap_of_cells, _overlap_of_columns, pairwise_counts
from dmfroc.bayes.sampling import (
    Chains,
    Sampler,
    approximate,
    default_kernel,
    draw_from_posterior,
)
from dmfroc.measures.bound import values_and_influences
from dmfroc.multiclass.curve import area
from dmfroc.multiclass.rates import CurveOptions

SD_OF_LOG_SPREAD, SD_OF_ERROR = 0.7, 0.5


def normal_effects(observed):
    """Observe normal effects of unknown spread with normal error: the marginal is known."""
    spread = numpyro.sample("spread", dist.LogNormal(0, SD_OF_LOG_SPREAD))
    effect = numpyro.sample("effect", dist.Normal(0, 1).expand([len(observed)]).to_event(1))
    numpyro.factor("data", -(((observed - spread * effect) / SD_OF_ERROR) ** 2).sum() / 2)
    numpyro.deterministic("total", spread * effect.sum())


def log_density_of_spread(log_spread, observed):
    variance = np.exp(2 * log_spread) + SD_OF_ERROR**2
    of_data = -(np.log(variance) + observed**2 / variance).sum() / 2
    return of_data - (log_spread / SD_OF_LOG_SPREAD) ** 2 / 2


@pytest.mark.slow
@pytest.mark.parametrize(("n_effects", "n_apart"), [(5, 0), (60, 0), (60, 60)])
def test_spread_is_at_the_mode_of_its_marginal_density(n_effects, n_apart):
    observed = 0.8 * np.random.default_rng(n_effects).normal(size=n_effects)
    grid = np.linspace(-3, 2, 5001)
    log_density = np.array([log_density_of_spread(x, observed) for x in grid])
    mode = grid[log_density.argmax()]
    curvature = -np.gradient(np.gradient(log_density, grid), grid)[log_density.argmax()]
    most = 0 if n_apart else n_effects
    with mock.patch.object(sampling, "_MOST_TOGETHER", most), in_double_precision():
        problem = Sampler(normal_effects, jnp.asarray(observed))
        found = approximate(problem, jnp.asarray(observed))
    assert problem.n_apart == n_apart
    sd = np.linalg.norm(found.shared[0])
    assert found.location[0] == pytest.approx(mode, abs=0.02 * sd)
    assert sd == pytest.approx(curvature**-0.5, rel=0.02)


def sd_of_area(problem, counts, approximation):
    """Return the standard deviation of the area by the delta method."""
    area = jax.grad(lambda x: problem._sites(approximation.at(x), counts)["auc"])
    return np.linalg.norm(area(jnp.zeros(problem.size)))


@pytest.mark.slow
@pytest.mark.parametrize("structure", ["rank_one", "hierarchical"])
def test_effects_that_vary_by_themselves_have_the_covariance_of_all_together(structure):
    sample = Predictions.from_arrays(*normal_scores(5, 300, 7))
    model = model_of(structure, "ordinal", Priors())
    found = []
    for most in (42, 0):
        with mock.patch.object(sampling, "_MOST_TOGETHER", most), in_double_precision():
            counts = pairwise_counts(CurveOptions(n_thresholds=9)(sample), sample)
            counts = counts._replace(tempering=1 / 6)
            problem = Sampler(model, counts)
            approximation = approximate(problem, counts)
            moved = np.asarray(approximation.at(np.eye(problem.size)) - approximation.location)
            of_area = sd_of_area(problem, counts, approximation)
        sds = np.linalg.norm(moved, axis=0)
        found.append((np.asarray(approximation.location), sds, of_area))
    (location, sds, of_area), (location_apart, sds_apart, of_area_apart) = found
    assert np.abs(location_apart - location).max() < 0.05 * sds.min()
    np.testing.assert_allclose(sds_apart, sds, rtol=0.02)
    assert of_area_apart == pytest.approx(of_area, rel=0.002)


@pytest.mark.slow
def test_approximate_spread_of_many_pairs_is_near_that_of_the_chains():
    classes, scores = normal_scores(7, 400, 8)
    chains, normal = (
        np.log(
            bayesian_roc(
                classes, scores, n_thresholds=9, n_chains=2, n_draws=300, algorithm=algorithm
            ).posterior["posterior"]["spread"]
        )
        for algorithm in ("mcmc", "laplace")
    )
    assert float(normal.mean()) == pytest.approx(
        float(chains.mean()), abs=0.4 * float(chains.std())
    )
    assert float(normal.std()) == pytest.approx(float(chains.std()), rel=0.2)
    assert float(arviz.rhat(chains.to_numpy(), chain_axis=0, draw_axis=1)) < 1.02


@pytest.mark.parametrize("pair_weights", ["equal", "prevalence"])
@pytest.mark.parametrize(("n_classes", "is_tied"), [(2, False), (3, True), (6, False)])
def test_overlap_is_that_of_the_influences_on_every_pair(n_classes, is_tied, pair_weights):
    classes, scores = normal_scores(9, 120, n_classes)
    generator = np.random.default_rng(1)
    sample = Predictions.from_arrays(
        classes,
        np.round(2 * scores) if is_tied else scores,
        sample_weight=generator.exponential(size=len(classes)),
    )
    bound = CurveOptions(pair_weights, 9)(sample)
    _, of_pairs = values_and_influences(
        bound, lambda table, xp: areas(table.rates(xp), xp), sample.sample_weight
    )
    positive = np.asarray(bound.counted).reshape(-1, 2)[-len(of_pairs) :, 0]
    is_positive = sample.true == positive[:, None]
    weights = np.where(is_positive, *bound.cell_weights[..., 0].T[..., None])
    apart = (weights * of_pairs**2).sum()
    together = ((weights * of_pairs).sum(axis=0) ** 2).sum()
    counts = pairwise_counts(bound, sample)
    found = _overlap_of_columns(bound, counts, sample)
    assert found == pytest.approx(apart / together, rel=1e-10)


@pytest.mark.parametrize("pair_weights", ["equal", "prevalence"])
def test_overlap_of_cells_is_the_variance_of_independent_cells_over_that_of_influences(
    pair_weights,
):
    sample = Predictions.from_arrays(*normal_scores(9, 240, 3, prior=[0.5, 0.3, 0.2]))
    bound = CurveOptions(pair_weights, 9)(sample)
    counts = pairwise_counts(bound, sample)
    table = bound.count(sample.sample_weight, np)
    of_value = np.empty(table.counts.shape)
    for cell in np.ndindex(*table.counts.shape):
        moved = []
        for step in (1e-4, -1e-4):
            changed = np.array(table.counts)
            changed[cell] += step * table.totals[table.counted[cell[:3]]]
            moved.append(area(table._replace(counts=changed), np))
        of_value[cell] = (moved[0] - moved[1]) / 2e-4
    sizes = np.asarray(counts.sizes)[..., None]
    rates = np.asarray(counts.above) / sizes
    apart = (of_value.reshape(rates.shape) ** 2 * rates * (1 - rates) / sizes).sum()
    _, influences = values_and_influences(bound, area, sample.sample_weight)
    found = _overlap_of_cells(bound, counts, sample)
    assert found == pytest.approx(apart / (influences**2).sum(), rel=1e-4)


@pytest.mark.slow
def test_chains_end_where_no_step_is_accepted():
    """Steps become smaller there, and trajectories of constant length would have ever more."""

    def stuck(data):
        x = numpyro.sample("x", dist.Normal(0, 1))
        numpyro.factor("nowhere", jnp.where(x == 0.5, data, 0.0))

    driver = MCMC(default_kernel(stuck), num_warmup=100, num_samples=20, progress_bar=False)
    with in_double_precision():
        start = {"x": jnp.array(0.5)}
        driver.run(PRNGKey(0), 1e6, init_params=start, extra_fields=("num_steps", "diverging"))
        fields = driver.get_extra_fields()
    assert np.asarray(fields["num_steps"]).max() == 1024
    assert np.asarray(fields["diverging"]).all()


@pytest.mark.slow
def test_chains_end_once_nobody_waits_for_them():
    stop = threading.Event()
    stop.set()
    observed = jnp.linspace(-1, 1, 5)
    chains = Chains(default_kernel, n_chains=1, n_draws=50, n_warmup=50)

    def draw():
        with in_double_precision():
            problem = Sampler(normal_effects, observed)
            return draw_from_posterior(problem, observed, approximate(problem, observed), chains, 0)

    assert np.isfinite(draw().sites["total"]).all()
    with ThreadPoolExecutor(1, initializer=become_worker, initargs=(stop, True)) as executor:
        future = executor.submit(draw)
    with pytest.raises(Stopped):
        future.result()


def test_chains_are_refused_without_docstrings(monkeypatch):
    """ArviZ would fail after the chains have run."""
    monkeypatch.setattr(
        "dmfroc.bayes.sampling.sys", SimpleNamespace(flags=SimpleNamespace(optimize=2))
    )
    y, scores = np.arange(30) % 3, np.random.default_rng(0).normal(size=(30, 3))
    with pytest.raises(RuntimeError, match="fails under python -OO"):
        bayesian_roc(y, scores, n_thresholds=9, n_draws=20)
