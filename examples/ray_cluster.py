"""A search whose evaluations run on a Ray cluster.

Here the cluster is two processes of this machine. On a machine of a cluster of your own, write
`ray.init("auto")`; the rest stays as it is.
"""

from __future__ import annotations

import outcrop as oc

SPACE = oc.Space({"lr": oc.Float(1e-4, 1.0, log=True), "layers": oc.Int(1, 4)})


def loss(params: dict[str, float]) -> float:
    return abs(params["lr"] - 0.01) ** 0.5 + 0.1 * abs(params["layers"] - 2)


def main(n_trials: int = 20) -> oc.Result:
    import ray

    from outcrop.integrations.ray import RayExecutor

    if not ray.is_initialized():
        ray.init(num_cpus=2, include_dashboard=False)
    study = oc.Study(SPACE, seed=0)
    with RayExecutor(num_cpus=1) as executor:  # num_gpus=1 for a GPU each
        result = study.optimize(loss, n_trials, executor=executor, progress=False)
    print(f"best value {result.best_value:.4f} at {dict(result.best_params)}")
    return result


if __name__ == "__main__":
    main()
