"""Uncertainty of any function of weights; no module asks which measure it is."""
