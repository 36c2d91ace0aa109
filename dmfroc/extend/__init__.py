"""What applications build on: results, checks, evidence, contrasts and intervals.

The page "Write your own application" explains them. Every application in `dmfroc.applications`
imports names of this room and of the other rooms, and nothing else.
"""

from dmfroc._kit.stub import names_of_stub

# The stub `__init__.pyi` lists the public names and where each one lives.
__getattr__, __dir__, __all__ = names_of_stub(__name__, __file__)
