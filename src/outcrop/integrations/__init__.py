"""Use of Outcrop in other tools; each needs the optional dependency of the same name.

`optuna` is a sampler for Optuna, `sklearn` a search over the parameters of scikit-learn's
estimators, and `ray` an executor. The rest of the library imports nothing from here.
"""
