"use strict";
// Figures by the ids of their places. Each is drawn in a task of its own: those in sight first, the
// others when the browser is idle. One that changes out of sight is drawn again once it is seen.

const MOST_POINTS = 1500; // markers of a trace that are drawn at once
const HEIGHT = 360; // of a figure without one of its own, in pixels
const NEAR = "300px"; // how far below the window a figure counts as seen
const NEEDED_CHARTS = ["bar", "heatmap"]; // besides scatter
const NARROW = 600; // pixels of a window in which buttons would cover legends
const BUTTONS = [["toImage", "zoom2d", "pan2d", "resetScale2d"]];

const known = new Map(); // by id: { place, figure, isDrawn, isCurrent, isSeen }
let drawing = false; // whether a task for the next figure is waiting
let plotlyIsReady = false;

const sight = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    const each = known.get(entry.target.id);
    if (each) each.isSeen = entry.isIntersecting;
  }
  drawSoon();
}, { rootMargin: `${NEAR} 0px` });

function setFigure(id, figure) {
  const place = document.getElementById(id);
  place.style.height = `${figure.layout.height ?? HEIGHT}px`;
  const before = known.get(id);
  if (before && before.place === place) {
    Object.assign(before, { figure, isCurrent: false });
  } else {
    known.set(id, { place, figure, isDrawn: false, isCurrent: false, isSeen: false });
    sight.observe(place);
  }
  drawSoon();
}

function forgetFigure(place) {
  sight.unobserve(place);
  known.delete(place.id);
  if (plotlyIsReady) Plotly.purge(place);
}

function drawSoon() {
  if (drawing || !plotlyIsReady) return;
  const waiting = [...known.values()].filter((each) => !each.isCurrent);
  const next = waiting.find((each) => each.isSeen) ?? waiting.find((each) => !each.isDrawn);
  document.documentElement.dataset.waiting = next ? (next.isSeen ? "in sight" : "out of sight") : "";
  if (!next) return;
  drawing = true;
  const now = () => {
    drawing = false;
    if (known.get(next.place.id) === next && !next.isCurrent) draw(next);
    drawSoon();
  };
  if (next.isSeen || !window.requestIdleCallback) setTimeout(now);
  else requestIdleCallback(now, { timeout: 1000 });
}

function draw(each) {
  const { place, figure } = each;
  const range = place.layout?.xaxis?.autorange === false ? place.layout.xaxis.range : null;
  const traces = figure.data.map((trace) => thinned(trace, range));
  const bar = window.innerWidth < NARROW ? false : "hover";
  const settings = { responsive: true, displaylogo: false, displayModeBar: bar, modeBarButtons: BUTTONS };
  Plotly.react(place, traces, themed(figure.layout), settings);
  if (!each.isDrawn) place.on("plotly_relayout", () => zoomed(each));
  sayHowMany(place, figure.data, traces);
  each.isDrawn = each.isCurrent = true;
}

// Of many points, others are drawn after the range of x has changed.
function zoomed(each) {
  if (!each.figure.data.some(isLarge)) return;
  each.isCurrent = false;
  drawSoon();
}

function isLarge(trace) {
  return trace.mode === "markers" && trace.x.length > MOST_POINTS;
}

function thinned(trace, range) {
  if (!isLarge(trace)) return trace;
  let chosen = trace.x.map((_, index) => index);
  if (range) chosen = chosen.filter((i) => trace.x[i] >= range[0] && trace.x[i] <= range[1]);
  if (chosen.length > MOST_POINTS) {
    const step = (chosen.length - 1) / (MOST_POINTS - 1);
    chosen = Array.from({ length: MOST_POINTS }, (_, i) => chosen[Math.round(i * step)]);
  }
  const result = { ...trace };
  for (const key of ["x", "y", "text"]) {
    if (Array.isArray(trace[key])) result[key] = chosen.map((index) => trace[key][index]);
  }
  return result;
}

function sayHowMany(place, all, drawn) {
  const isThinned = all.some((trace, index) => trace !== drawn[index]);
  let line = place.nextElementSibling;
  if (!line?.classList.contains("drawn")) {
    if (!isThinned) return;
    line = document.createElement("p");
    line.className = "note drawn";
    place.after(line);
  }
  const total = (traces) => traces.filter((each, i) => isLarge(all[i])).reduce((n, each) => n + each.x.length, 0);
  line.textContent = isThinned ? `${total(drawn)} of ${total(all)} points are drawn; zoom in for the others.` : "";
}

function themed(layout) {
  const style = getComputedStyle(document.documentElement);
  const text = style.getPropertyValue("--text").trim();
  const line = style.getPropertyValue("--line").trim();
  const base = {
    margin: { l: 55, r: 15, t: 50, b: 45 },
    modebar: { bgcolor: "rgba(0,0,0,0)", color: line, activecolor: text },
    paper_bgcolor: "rgba(0,0,0,0)",
    plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: text },
    legend: { orientation: "h", x: 0, y: 1, yanchor: "top", yref: "container" },
    hovermode: "closest",
    uirevision: "kept", // zoom and hidden traces stay as they are
  };
  const result = Object.assign(base, structuredClone(layout));
  for (const name of ["xaxis", "yaxis"]) {
    result[name] = Object.assign({ gridcolor: line, zerolinecolor: line }, result[name]);
  }
  return result;
}

function drawAllAgain() {
  for (const each of known.values()) each.isCurrent = false;
  drawSoon();
}

// The program is in the page or beside it. As a script with an address it is compiled in the background.
function loadPlotly() {
  const text = document.getElementById("plotly")?.textContent;
  const script = document.createElement("script");
  script.async = true;
  script.src = text ? URL.createObjectURL(new Blob([text], { type: "text/javascript" })) : "/plotly.js";
  script.addEventListener("load", () => setTimeout(registerCharts, 0, new Set(NEEDED_CHARTS)));
  document.head.append(script);
}

function registerCharts(needed) {
  const next = needed.size ? Plotly.unregistered?.shift() : undefined;
  if (next) {
    const chart = next();
    Plotly.register(chart);
    needed.delete(chart.name);
    setTimeout(registerCharts, 0, needed);
  } else {
    plotlyIsReady = true;
    drawSoon();
  }
}

window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAllAgain);
window.addEventListener("beforeprint", () => {
  if (plotlyIsReady) [...known.values()].filter((each) => !each.isCurrent).forEach(draw);
});
loadPlotly();
