"""Speed and regret beside peers; `python -m benchmarks --help`."""

import os

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"  # here, so before NumPy is imported: BLAS reads them once
