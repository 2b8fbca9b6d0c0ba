import subprocess
import sys

import pytest

from outcrop import problems
from outcrop.errors import ParamsError


@pytest.mark.parametrize("name", problems.names())
def test_a_listed_problem_has_the_name_it_is_listed_under(name):
    assert problems.get(name).name == name


def test_names_are_unique_and_sorted():
    names = problems.names()
    assert len({name.lower() for name in names}) == len(names)
    assert names == sorted(names, key=str.lower)


def test_case_does_not_matter():
    assert problems.get("FUNC-2c").name == "func-2C"


def test_a_family_comes_in_any_dimension():
    assert problems.get("ackley-20").dimension == 20


@pytest.mark.parametrize(
    ("typo", "hint"), [("brannin", "branin"), ("ackley", "ackley-2"), ("func2C", "func-2C")]
)
def test_an_unknown_name_is_answered_with_near_ones(typo, hint):
    with pytest.raises(ParamsError, match=f"no problem is called '{typo}'; did you mean .*{hint}"):
        problems.get(typo)


def test_a_name_like_no_other_is_answered_with_where_to_look():
    with pytest.raises(ParamsError, match=r"problems.names\(\) lists them all"):
        problems.get("??")


def test_importing_problems_loads_no_scipy():
    code = "import sys, outcrop.problems; sys.exit('scipy.optimize' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
