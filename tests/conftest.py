import signal

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from outcrop.study import argument_checks
from tests.browsing import SKIPPED_BROWSER, chromium  # noqa: F401  # fixture
from tests.postgresql import SKIPPED, postgresql, postgresql_url  # noqa: F401  # fixtures

# Programs that are started in the background ignore these, and so would every process that a test
# starts and then interrupts.
for ignored in signal.valid_signals() & {signal.SIGINT, signal.SIGTERM, 1}:  # 1 is SIGHUP
    if signal.getsignal(ignored) is signal.SIG_IGN:
        handler = signal.default_int_handler if ignored is signal.SIGINT else signal.SIG_DFL
        signal.signal(ignored, handler)

# No example has a deadline: how long one takes depends on what else the machine does.
settings.register_profile(
    "busy machine", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("busy machine")


@pytest.fixture(autouse=True, scope="session")
def without_the_usual_limit_of_time():
    """A slow machine cuts no suggestion, so that two searches can be compared."""
    checked, usual = argument_checks.checked_ask_seconds, argument_checks.ASK_SECONDS

    def unless_usual(seconds):
        return None if seconds == usual else checked(seconds)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(argument_checks, "checked_ask_seconds", unless_usual)
        yield


@pytest.fixture
def rng():
    return np.random.default_rng(20)


def pytest_terminal_summary(terminalreporter):
    for reason in SKIPPED:
        terminalreporter.section("tests with a real PostgreSQL server were SKIPPED", red=True)
        terminalreporter.line(reason)
    for reason in SKIPPED_BROWSER:
        terminalreporter.section("tests with a real browser were SKIPPED", red=True)
        terminalreporter.line(reason)
