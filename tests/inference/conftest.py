import pytest
from simulations import cyclic_scores

from dmfroc import Predictions


@pytest.fixture(scope="session")
def predictions():
    return Predictions.from_arrays(*cyclic_scores())
