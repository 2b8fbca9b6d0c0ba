"""Bayesian optimisation of objectives that misbehave."""
