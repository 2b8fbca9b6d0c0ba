"""A search whose evaluations run on processes of MPI.

mpiexec -n 4 python -m mpi4py.futures examples/mpi_workers.py

The first process searches, the other three evaluate.
"""

from __future__ import annotations

import outcrop as oc

SPACE = oc.Space({"lr": oc.Float(1e-4, 1.0, log=True), "layers": oc.Int(1, 4)})


def loss(params: dict[str, float]) -> float:
    return abs(params["lr"] - 0.01) ** 0.5 + 0.1 * abs(params["layers"] - 2)


def main(n_trials: int = 20) -> oc.Result:
    from mpi4py.futures import MPIPoolExecutor

    with MPIPoolExecutor() as executor:
        study = oc.Study(SPACE, seed=0)
        result = study.optimize(loss, n_trials, executor=executor, progress=False)
    print(f"best value {result.best_value:.4f} at {dict(result.best_params)}")
    return result


if __name__ == "__main__":
    main()
