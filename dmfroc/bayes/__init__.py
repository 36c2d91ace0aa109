"""Posterior distributions: of the multiclass ROC curve, and of measures of hard labels.

What draws from them imports NumPyro and ArviZ, which takes seconds.
"""

from dmfroc._kit.stub import names_of_stub

# The stub `__init__.pyi` lists the public names and where each one lives; what takes the names of
# measures is in a room above.
__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
