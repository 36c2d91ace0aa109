"""What analyses return, and how it is written: text, data frames, JSON."""

from dmfroc._kit.stub import names_of_stub

# The stub `__init__.pyi` lists the public names and where each one lives: most results are defined
# with the analyses that return them, in rooms above.
__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
