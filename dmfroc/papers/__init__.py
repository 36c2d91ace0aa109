"""The bootstrap of Wang and Carvalho, which only their paper needs."""

from dmfroc._kit.stub import names_of_stub

# The stub `__init__.pyi` lists the public names and where each one lives.
__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
