"""Predictions beyond memory: statistics of batches that are merged, in three passes."""

from dmfroc._kit.stub import names_of_stub

# The stub `__init__.pyi` lists the public names and where each one lives; what evaluates batches is
# in a room above.
__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
