from .populations import LabelRule as LabelRule
from .populations import MultinomialPopulation as MultinomialPopulation
from .populations import MultinomialSample as MultinomialSample
from .populations import SimulatedClassifier as SimulatedClassifier
from .populations import simulate_predictions as simulate_predictions
from .published import PublishedFigures as PublishedFigures
