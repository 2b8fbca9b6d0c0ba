import signal

import numpy as np
import pytest

# Programs that are started in the background ignore these, and so would every process that a test
# starts and then interrupts.
for ignored in (signal.SIGINT, signal.SIGTERM):
    if signal.getsignal(ignored) is signal.SIG_IGN:
        handler = signal.default_int_handler if ignored is signal.SIGINT else signal.SIG_DFL
        signal.signal(ignored, handler)


@pytest.fixture
def rng():
    return np.random.default_rng(20)
