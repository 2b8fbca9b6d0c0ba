"""Where runs are made: on processes of this machine, or on any executor that searches can use.

An executor is what `study.optimize(executor=)` takes: it has `submit`, and its futures have `done`,
`result` and `cancel`.
"""

from __future__ import annotations

__all__ = ["Processes", "opened"]

import importlib
import multiprocessing
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from outcrop.study.running.protocol import Executor, Future

ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


class Processes:
    """Processes that are started anew; one that dies loses its own run only."""

    def __init__(self, jobs: int) -> None:
        from pebble import ProcessPool

        os.environ.update(ONE_THREAD)  # read by NumPy in processes that are started, not forked
        self._pool: Any = ProcessPool(jobs, context=multiprocessing.get_context("spawn"))

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future:
        future: Future = self._pool.schedule(function, args=arguments)
        return future

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *raised: object) -> None:
        self._pool.stop()
        self._pool.join()


@contextmanager
def opened(text: str, jobs: int) -> Iterator[Executor]:
    """The executor that a command names; without a name, `jobs` processes.

    `dask:tcp://scheduler:8786` and `ray:auto` are clusters that run already, with an address as
    Dask and Ray expect it. `MODULE:NAME` is a function without arguments that makes an executor,
    such as `mpi4py.futures:MPIPoolExecutor`.
    """
    kind, _, rest = text.partition(":")
    if not text:
        with Processes(jobs) as processes:
            yield processes
    elif kind == "dask":
        distributed: Any = importlib.import_module("dask.distributed")
        with distributed.Client(rest) as client:
            yield client.get_executor(pure=False)
    elif kind == "ray":
        import ray

        from outcrop.integrations.ray import RayExecutor

        ray.init(rest or "auto")
        try:
            with RayExecutor() as executor:
                yield executor
        finally:
            ray.shutdown()
    else:
        made = getattr(importlib.import_module(kind), rest)()
        if isinstance(made, AbstractContextManager):
            with made as executor:
                yield executor
        else:
            yield made
