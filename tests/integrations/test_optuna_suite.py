"""The tests that Optuna publishes for samplers."""

import pytest

pytest.importorskip("optuna")

from optuna.testing import pytest_samplers as suite

from outcrop.integrations.optuna import OutcropSampler


@pytest.fixture
def sampler():
    return lambda: OutcropSampler(seed=0)


class TestBasics(suite.BasicSamplerTestCase):
    @pytest.fixture
    def sampler(self, sampler):
        return sampler


class TestRelativeSampling(suite.RelativeSamplerTestCase):
    test_sample_relative_numerical = pytest.mark.slow(  # 36 pairs of ranges
        suite.RelativeSamplerTestCase.test_sample_relative_numerical
    )

    @pytest.fixture
    def sampler(self, sampler):
        return sampler


class TestSingleObjectives(suite.SingleOnlySamplerTestCase):
    @pytest.fixture
    def sampler(self, sampler):
        return sampler
