// Puts parts and trials into the page: of a report from the JSON in it, of the dashboard whenever
// something has changed.

const shownHtml = new Map(); // by the name of a part
const isReport = document.getElementById("content") !== null;
let updateTrials = null;

function updatePage(changes) {
  for (const [name, part] of Object.entries(changes.parts ?? {})) {
    if (part.html !== undefined && part.html !== shownHtml.get(name)) {
      shownHtml.set(name, part.html);
      replaceBody(document.querySelector(`#part-${name} > .body`), part.html);
    }
    for (const [id, figure] of Object.entries(part.figures)) setFigure(id, figure);
  }
  if (changes.trials) {
    setTimeout(() => { // in a task of its own
      updateTrials ??= trialTable(!isReport);
      updateTrials(changes.trials);
      document.documentElement.dataset.filled = "yes";
    });
  }
}

// Figures that are still there keep their elements, and with them their zoom.
function replaceBody(body, html) {
  const before = new Map([...body.querySelectorAll(".plot")].map((place) => [place.id, place]));
  const fresh = document.createElement("template");
  fresh.innerHTML = html;
  for (const place of fresh.content.querySelectorAll(".plot")) {
    const old = before.get(place.id);
    if (old) place.replaceWith(old);
    before.delete(place.id);
  }
  before.forEach(forgetFigure);
  body.replaceChildren(fresh.content);
}

if (isReport) setTimeout(() => updatePage(JSON.parse(document.getElementById("content").textContent)));
