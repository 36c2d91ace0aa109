"""Simulated populations and classifiers of known quality, real data sets, and studies of them."""

from dmfroc.simulation import datasets, study
from dmfroc.simulation.populations import (
    LabelRule,
    MultinomialPopulation,
    MultinomialSample,
    SimulatedClassifier,
    simulate_predictions,
)

__all__ = [
    "LabelRule",
    "MultinomialPopulation",
    "MultinomialSample",
    "SimulatedClassifier",
    "datasets",
    "simulate_predictions",
    "study",
]
