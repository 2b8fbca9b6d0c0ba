import outcrop as oc
from tests.html_pages import read_html

SPACE = oc.Space(
    {
        "lr": oc.Float(1e-5, 0.1, log=True, input_std=0.25),
        "steps": oc.Int(0, 100, step=20),
        "<script>alert(1)</script>": oc.Categorical(["<b>", "a&b", None]),
        "size": oc.Ordinal(["s", "m", "l"]),
        "model": oc.Choice({"linear": {}, "mlp": {"layers": oc.Int(1, 4)}}),
        "many": oc.Categorical([f"c{i}" for i in range(40)]),
        "seed": oc.Fixed(7),
    }
)


def test_a_space_is_a_table_of_its_parameters():
    tags, text = read_html(SPACE._repr_html_())
    assert "table" in tags
    assert text.startswith("Space of 8 parameters")
    for piece in (
        "lrFloat1e-05 to 0.1log, input noise 0.25",
        "stepsInt0 to 100step 20",
        "<script>alert(1)</script>Categorical<b>, a&b, None",
        "sizeOrdinals < m < l",
        "modelChoicelinear, mlp",
        "model.mlp.layersInt1 to 4model = mlp",
        "c11, … and 28 more",
        "seedFixed7",
    ):
        assert piece in text


def test_a_column_that_is_empty_is_left_out():
    _, text = read_html(oc.Space({"a": oc.Int(1, 3), "c": oc.Categorical([1, 2])})._repr_html_())
    assert (
        text
        == "Space of 2 parameters, 6 configurationsparametertypevaluesaInt1 to 3cCategorical1, 2"
    )


def test_constraints_are_listed():
    space = oc.Space({"a": oc.Float(0, 1), "b": oc.Float(0, 1)}, constraints=["a + b < 1"])
    assert read_html(space._repr_html_())[1].endswith("constraint: 'a + b < 1'")
