"""A Ray cluster as an executor, for `optimize(executor=)` (extra `ray`)."""

from __future__ import annotations

__all__ = ["RayExecutor", "RayFuture"]

from collections.abc import Callable
from concurrent.futures import CancelledError
from typing import Any

from outcrop.errors import MethodError, MissingExtra
from outcrop.study.argument_checks import checked_count

RETRIES = 3  # how often Ray runs a task again whose process or machine was lost


class RayExecutor:
    """Runs each call as a task of the Ray cluster that this process is connected to.

        ray.init()                                  # or ray.init("auto"), on a cluster
        with RayExecutor(num_cpus=4) as executor:
            study.optimize(train, n_trials=100, executor=executor)

    `max_workers` is how many tasks run at once, by default as many as the resources of the cluster
    allow now. `options` are those of Ray's tasks, such as `num_cpus`, `num_gpus`, `resources`,
    `memory` and `runtime_env`. A task whose worker process or machine is lost is run again,
    `max_retries` times; one that fails for good fails alone.
    """

    def __init__(
        self, max_workers: int | None = None, *, max_retries: int = RETRIES, **options: Any
    ) -> None:
        ray = _ray()
        if not ray.is_initialized():
            raise MethodError("RayExecutor: this process has no Ray cluster; call ray.init() first")
        self._options = {"num_cpus": 1, **options, "max_retries": max_retries}
        self._task = ray.remote(_called).options(**self._options)
        most = self._capacity() if max_workers is None else max_workers
        self._max_workers = checked_count(most, "max_workers")
        self._futures: list[RayFuture] = []
        self._is_shut_down = False

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> RayFuture:
        """Start a call; its future."""
        if self._is_shut_down:
            raise RuntimeError("cannot schedule new futures after shutdown")
        if not _ray().is_initialized():  # otherwise Ray would start a cluster of its own
            raise RuntimeError("the Ray cluster is shut down")
        future = RayFuture(self._task.remote(function, args, kwargs))
        self._futures = [each for each in self._futures if not each.done()] + [future]
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more calls; the Ray cluster itself goes on."""
        self._is_shut_down = True
        for future in self._futures:
            if cancel_futures:
                future.cancel()
        if wait:
            for future in self._futures:
                future.exception()

    def __enter__(self) -> RayExecutor:
        return self

    def __exit__(self, *raised: object) -> None:
        self.shutdown(cancel_futures=True)

    def _capacity(self) -> int:
        """How many tasks the cluster can run at once."""
        total = _ray().cluster_resources()
        needed = {"CPU": self._options["num_cpus"], "GPU": self._options.get("num_gpus", 0)}
        needed |= self._options.get("resources") or {}
        fitting = [total.get(name, 0) // need for name, need in needed.items() if need]
        count = int(min(fitting, default=1))
        if count < 1:
            raise MethodError(
                f"RayExecutor: a task needs {needed}, but the cluster has {total}; ask for less, "
                "add machines, or set max_workers= if machines will come"
            )
        return count


class RayFuture:
    """A task of Ray with the methods of a future of `concurrent.futures`."""

    def __init__(self, reference: Any) -> None:
        self._reference = reference

    def done(self) -> bool:
        """Whether the task has ended, in whichever way."""
        try:
            ready, _ = _ray().wait([self._reference], timeout=0, fetch_local=False)
        except Exception:  # the cluster is gone, as `result` will say
            return True
        return bool(ready)

    def result(self, timeout: float | None = None) -> Any:
        """What the call returned or raised; `TimeoutError` if it runs after `timeout` seconds."""
        ray = _ray()
        try:
            return ray.get(self._reference, timeout=timeout)
        except ray.exceptions.TaskCancelledError:
            raise CancelledError from None
        except ray.exceptions.GetTimeoutError:
            raise TimeoutError from None

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """What the call raised, or None."""
        try:
            self.result(timeout)
        except TimeoutError:
            raise
        except BaseException as error:
            return error
        return None

    def cancel(self) -> bool:
        """End the task, also one that runs, with its process."""
        if self.done():
            return False
        _ray().cancel(self._reference, force=True)
        return True


def _called(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return function(*args, **kwargs)


def _ray() -> Any:
    """Ray, which is imported where it is used: few have it."""
    try:
        import ray
    except ImportError:
        raise MissingExtra("RayExecutor needs Ray: pip install 'outcrop[ray]'") from None
    return ray
