"""A search whose evaluations run on a Dask cluster.

Here the cluster is made of two processes of this machine. On a cluster of your own, write
`Client("tcp://scheduler:8786")`, or make one with dask-jobqueue or dask-kubernetes; the rest stays
as it is.
"""

from __future__ import annotations

import outcrop as oc

SPACE = oc.Space({"lr": oc.Float(1e-4, 1.0, log=True), "layers": oc.Int(1, 4)})


def loss(params: dict[str, float]) -> float:
    return abs(params["lr"] - 0.01) ** 0.5 + 0.1 * abs(params["layers"] - 2)


def main(n_trials: int = 20) -> oc.Result:
    from dask.distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        study = oc.Study(SPACE, seed=0)
        # As many trials at once as the cluster has threads; n_workers= would set their number.
        result = study.optimize(loss, n_trials, executor=client.get_executor(), progress=False)
    print(f"best value {result.best_value:.4f} at {dict(result.best_params)}")
    return result


if __name__ == "__main__":
    main()
