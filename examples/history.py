"""A search that begins with a spreadsheet of earlier results, and goes on elsewhere.

python examples/history.py
"""

import tempfile
from pathlib import Path

import outcrop as oc

SPACE = oc.Space(
    {
        "temperature": oc.Float(100, 300, step=5),
        "stir": oc.Categorical([True, False]),
        "catalyst": oc.Choice({"none": {}, "zinc": {"grams": oc.Float(0.1, 2.0)}}),
    }
)

# As a spreadsheet of a country with decimal commas saves it. Two of the runs are still to be made,
# one went wrong, and one temperature was read off a thermometer.
SPREADSHEET = """\
temperature;stir;catalyst;catalyst.zinc.grams;value;state;reason;who
150;TRUE;none;;0,41;;;Ada
152,6;TRUE;zinc;0,5;0,62;;;Ada
200;FALSE;zinc;1,0;0,7;;;Max
300;FALSE;none;;;failed;boiled over;Max
180;TRUE;none;;;;;
220;TRUE;zinc;1,5;;running;;Ada
"""


def measured(p):
    """Stands for the laboratory."""
    dose = p.get("grams", 0.0)
    return 0.9 - abs(p["temperature"] - 210) / 300 + 0.1 * p["stir"] - 0.2 * abs(dose - 1.2)


def main(n_trials=8):
    file = Path(tempfile.mkdtemp()) / "history.csv"
    file.write_text(SPREADSHEET, encoding="utf-8-sig")
    study = oc.Study(SPACE, direction="maximize", seed=0)
    try:
        study.add(file)
    except oc.errors.ParamsError as error:
        print(f"refused: {error}")
    print(f"added: {len(study.add(file, snap=True))} results")
    study.optimize(measured, n_trials=n_trials, progress=False)
    print(f"best: {study.best_value:.3f} at {study.best_params.nested}")

    copy = oc.Study(SPACE, direction="maximize", seed=1)
    copy.add(study.trials)
    assert [trial.value for trial in copy.trials] == [trial.value for trial in study.trials]
    return study


if __name__ == "__main__":
    main()
