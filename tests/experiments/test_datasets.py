import numpy as np
import pytest

datasets = pytest.importorskip("experiments.datasets")  # an sdist has the tests without the data

FOLDERS = [
    "binary_classification",
    "boston_housing",
    "climate_crashes",
    "geostatistics",
    "hpnnet_convex",
    "hpo_grids",
    "yacht_hydrodynamics",
]

ROWS_FEATURES_POSITIVES = {
    "a1a": (1605, 123, 395),
    "banknote": (1372, 4, 610),
    "breast_cancer_wisconsin": (683, 9, 239),
    "credit_approval": (666, 15, 367),
    "german_credit": (1000, 20, 700),
    "heart_scale": (270, 13, 120),
    "ilpd_liver": (583, 10, 167),
    "ionosphere": (351, 34, 225),
    "kc2": (522, 21, 107),
    "parkinsons": (195, 22, 147),
    "pc1": (1109, 21, 77),
    "pima_diabetes": (768, 8, 268),
    "sonar": (208, 60, 97),
    "svmguide1": (3089, 4, 2000),
    "svmguide1_test": (4000, 4, 2000),
    "svmguide3": (1243, 21, 296),
    "svmguide3_test": (41, 21, 41),
}


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_folder_states_source_and_licence(folder):
    text = (datasets.DATA / folder / "README.md").read_text("utf-8").lower()
    assert "licence" in text
    assert "source" in text or "uci" in text
    for file in (datasets.DATA / folder).glob("*.csv"):
        assert file.name in text or len(list(file.parent.glob("*.csv"))) == 1


def test_no_folder_is_forgotten():
    assert sorted(path.name for path in datasets.DATA.iterdir() if path.is_dir()) == FOLDERS


def test_binary_sets_have_the_stated_sizes():
    assert datasets.binary_names() == sorted(ROWS_FEATURES_POSITIVES)
    for name, size in ROWS_FEATURES_POSITIVES.items():
        X, y = datasets.binary_classification(name)
        assert set(np.unique(y)) <= {0.0, 1.0}
        assert (*X.shape, int(y.sum())) == size


@pytest.mark.parametrize(
    ("load", "shape"),
    [
        ("boston_housing", (506, 13)),
        ("yacht_hydrodynamics", (308, 6)),
        ("climate_crashes", (540, 18)),
    ],
)
def test_tables_have_the_stated_sizes(load, shape):
    X, y = getattr(datasets, load)()
    assert X.shape == shape
    assert y.shape == shape[:1]
    assert np.isfinite(X).all()
    assert np.isfinite(y).all()


def test_climate_crashes_are_scaled_and_rare():
    X, y = datasets.climate_crashes()
    assert X.min() >= 0
    assert X.max() <= 1
    assert (y == 0).sum() == 46
    assert datasets.climate_crashes(bookkeeping=True)[0].shape == (540, 20)


def test_columns_can_be_picked_by_name():
    picked = datasets.columns("boston_housing/boston_housing.csv", ["medv", "crim"])
    assert list(picked) == ["medv", "crim"]
    assert picked["crim"][0] == 0.00632
