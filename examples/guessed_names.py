"""An objective with conditional parameters, by the names that one guesses.

python examples/guessed_names.py
"""

import outcrop as oc

SPACE = oc.Space(
    {
        "lr": oc.Float(1e-4, 1.0, log=True),
        "model": oc.Choice(
            {
                "linear": {},
                "mlp": {"layers": oc.Int(1, 4), "width": oc.Int(8, 64, log=True)},
                "cnn": {"layers": oc.Int(1, 4)},
            }
        ),
    }
)


def linear():
    return 1.0


def mlp(layers, width):
    return 0.1 * abs(layers - 2) + abs(width - 32) / 100


def cnn(layers):
    return 0.5 + 0.1 * layers


MODELS = {"linear": linear, "mlp": mlp, "cnn": cnn}


def loss(p):
    depth = p.get("layers", 0)  # of the mlp or of the cnn, whichever it is
    model = MODELS[p["model"]]
    return model(**p.kwargs("model")) + abs(p["lr"] - 0.01) + 0.01 * depth


def main(n_trials=25, method="auto"):
    result = oc.minimize(loss, SPACE, n_trials=n_trials, method=method, seed=0, progress=False)
    best = result.best_params
    print(f"best: {best.nested}")
    if best["model"] == "mlp":
        print(f"the same: mlp(**{best.kwargs('model.mlp')}), {best['layers']} layers")
    for key in ("depth", "layres"):
        try:
            print(best[key])
        except KeyError as error:
            print(error)
    return result


if __name__ == "__main__":
    main()
