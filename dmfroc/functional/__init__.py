"""Measures as pure functions of arrays for JAX, which can be jitted, mapped and differentiated.

``dmfroc.functional.hand_till(y, scores, weights, n_classes=3)`` is the number that
``dmfroc.hand_till_score`` returns, by JAX: `jax.jit`, `jax.vmap` and `jax.grad` apply. Classes are
integers from 0, shapes are fixed by the numbers of rows and classes. Derivatives are those in the
weights, and in the rates, cell weights and shrinkage of the curve. Scores have a derivative in
`brier_score` and `log_loss` only; everywhere else asking for it is an error. All is computed with
64 bits; results have the float type of the user's configuration.
"""

from dmfroc._kit.stub import names_of_stub

# The stub `__init__.pyi` lists the public names and where each one lives.
__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
