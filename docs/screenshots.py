"""Makes the pictures of docs/report.md and docs/dashboard.md, in Chromium (`make chromium`).

python docs/screenshots.py
"""

from __future__ import annotations

__all__ = ["main"]

import sys
import threading
import time
from io import BytesIO
from math import log2, log10
from pathlib import Path
from tempfile import TemporaryDirectory

import uvicorn
from PIL import Image

import outcrop as oc
from outcrop.dashboard.server import application
from outcrop.dashboard.watcher import Watcher
from outcrop.study.storage import Memory
from outcrop.typing import Params

IMAGES = Path(__file__).parent / "images"
sys.path.insert(0, str(IMAGES.parents[1]))
COLOURS = 256  # of a picture, which makes it small
IS_READY = """
const { filled, waiting } = document.documentElement.dataset;
const computed = document.querySelector(".computed");
return filled === "yes" && waiting === "" && (!computed || computed.textContent !== "");
"""
PICTURES = {  # width and height in pixels, dark, and the part at the top of the window
    "light": (1400, 1250, False, ""),
    "dark": (1400, 1250, True, "part-parallel"),
    "narrow": (400, 1100, False, ""),
    "narrow_dark": (400, 1100, True, "part-maps"),
}


def loss(params: Params) -> float:
    depth = params.get("model.mlp.layers", 0)
    return (
        0.1 * (log10(params["lr"]) + 3) ** 2
        + 0.05 * abs(log2(params["batch"]) - 6)
        + 0.06 * (params["act"] == "tanh")
        + 0.08 * abs(depth - 2)
        + 0.2 * params["dropout"] ** 2
    )


def searched(store: Memory) -> oc.Study:
    """A study of 60 trials with three workers, one failure in ten, and two trials that run."""
    space = oc.Space(
        {
            "lr": oc.Float(1e-5, 1e-1, log=True),
            "batch": oc.Int(8, 512, log=True),
            "act": oc.Categorical(["relu", "tanh", "gelu"]),
            "dropout": oc.Float(0.0, 0.5),
            "model": oc.Choice({"linear": {}, "mlp": {"layers": oc.Int(1, 4)}}),
        }
    )
    study = oc.Study(space, "mlp-digits", store, method="tree", seed=0)
    for number in range(60):
        trial = study.ask(worker=f"node-{number % 3}")
        if trial.params["lr"] > 0.03:
            study.fail(trial, "diverged: the loss is nan")
        else:
            study.tell(trial, loss(trial.params))
    study.ask(2, worker="node-0")
    branin = oc.problems.get("branin")
    other = oc.Study(branin.space, "branin", store, seed=0)
    other.optimize(branin, n_trials=12, progress=False)
    oc.Study(branin.space, "not begun", store, seed=0)
    return study


def main() -> None:
    from benchmarks.chromium import Chromium

    store = Memory()
    study = searched(store)
    watcher = Watcher(store)
    config = uvicorn.Config(application(watcher), port=0, lifespan="off", log_level="warning")
    server = uvicorn.Server(config)
    threading.Thread(target=server.run, daemon=True).start()
    watcher.start()
    while not server.started:
        time.sleep(0.01)
    base = f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    with TemporaryDirectory() as folder, Chromium() as browser:
        report = Path(folder) / "report.html"
        oc.report(study, report)
        pages = {"report": report.as_uri(), "dashboard": f"{base}/study?name=mlp-digits"}
        for page, address in pages.items():
            for name, (width, height, dark, part) in PICTURES.items():
                browser.set_dark(dark)
                browser.resize(width, height)
                browser.open(address)
                browser.wait_for(IS_READY)
                if part:
                    browser.run("document.getElementById(arguments[0]).scrollIntoView()", part)
                browser.wait_for(IS_READY)
                saved(browser.picture(), f"{page}_{name}")
        browser.set_dark(False)
        browser.resize(1400, 300)
        browser.open(base)
        browser.wait_for("return document.querySelectorAll('#studies tbody tr').length === 3")
        saved(browser.picture(), "dashboard_studies")


def saved(picture: bytes, name: str) -> None:
    path = IMAGES / f"{name}.png"
    image = Image.open(BytesIO(picture)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    image.save(path, optimize=True)
    print(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
