"""Simulated populations and classifiers of known quality, real data sets, and studies of them."""

from dmfroc.simulation import datasets, study
from dmfroc.simulation.populations import (
    LabelRule,
    MultinomialPopulation,
    MultinomialSample,
    SimulatedClassifier,
    simulate_predictions,
)
from dmfroc.simulation.published import PublishedFigures

__all__ = [
    "LabelRule",
    "MultinomialPopulation",
    "MultinomialSample",
    "PublishedFigures",
    "SimulatedClassifier",
    "datasets",
    "simulate_predictions",
    "study",
]
