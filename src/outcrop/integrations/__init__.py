"""Use of Outcrop in other tools; each needs the optional dependency of the same name.

`optuna` is a sampler for Optuna. The rest of the library imports nothing from here.
"""
