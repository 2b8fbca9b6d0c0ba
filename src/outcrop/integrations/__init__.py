"""Outcrop inside other tools; each module needs the extra that is named like it.

`optuna` is a sampler for Optuna. Nothing here is imported by the rest of the library.
"""
