"""Uncertainty: everything here takes functions of weights, and nothing knows any measure."""
