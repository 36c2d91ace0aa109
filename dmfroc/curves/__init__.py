"""Curves as data: exact points, areas, hulls and isometrics, with NumPy alone.

Every function of classes and scores returns one curve: that of the second of two classes, or of
the class ``pos_label``, against the rest. With ``multi_class="ovr"`` it returns a dictionary with a
curve of each class against the rest, with ``"ovo"`` of each ordered pair of classes.
"""

from dmfroc._kit.stub import names_of_stub

# The stub `__init__.pyi` lists the public names and where each one lives; what has bands rests on
# inference, a room above.
__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
