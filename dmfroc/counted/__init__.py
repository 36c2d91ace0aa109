"""Predictions beyond memory: statistics of batches that are merged, in three passes."""
