"""Thresholds, costs and class weights, chosen on data."""

import lazy_loader

# The stub `__init__.pyi` lists the public names and where each one lives.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
