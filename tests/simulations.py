"""Data on which the tests agree: scores of known quality."""

import numpy as np
from scipy.stats import norm


def normal_scores(seed, n, n_classes, shift=1.0, prior=None):
    """Draw normal scores whose column of the true class is shifted upwards.

    Without a prior the classes are as even as n allows, in random order. Every A(i|j) of the
    population is `area_of_shift(shift)`.
    """
    generator = np.random.default_rng(seed)
    if prior is None:
        classes = generator.permutation(np.arange(n) % n_classes)
    else:
        classes = generator.choice(n_classes, size=n, p=prior)
        classes[:n_classes] = np.arange(n_classes)  # no class is left out
    scores = generator.normal(size=(n, n_classes))
    scores[np.arange(n), classes] += shift
    return classes, scores


def cyclic_scores(n=240, n_classes=3, shift=1.2, seed=0):
    """Draw normal scores of classes that take turns, from the first to the last."""
    classes = np.arange(n) % n_classes
    noise = np.random.default_rng(seed).normal(size=(n, n_classes))
    return classes, noise + shift * np.eye(n_classes)[classes]


def area_of_shift(shift):
    return norm.cdf(shift / np.sqrt(2))


def tied_probabilities(seed, n, n_classes, levels=10, prior=None):
    """Draw class probabilities that are multiples of 1/levels, with many ties; rows sum to one."""
    classes, scores = normal_scores(seed, n, n_classes, 1.5, prior)
    probabilities = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    generator = np.random.default_rng(seed + 1)
    return classes, generator.multinomial(levels, probabilities) / levels


def classifiers(seed=1, n=60, n_classes=3, shifts=(1.5, 1.0)):
    """Draw classes and correlated scores of classifiers of falling quality, by name."""
    classes, noise = normal_scores(seed, n, n_classes, 0)
    generator = np.random.default_rng(seed + 1)
    scores = {}
    for name, shift in zip("abcdef", shifts, strict=False):
        own = noise + generator.normal(size=noise.shape)
        scores[name] = own + shift * np.eye(n_classes)[classes]
    return classes, scores
