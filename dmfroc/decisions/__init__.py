"""Thresholds, costs and class weights, chosen on data."""
