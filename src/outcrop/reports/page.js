"use strict";
// Draws the figures and the table of trials from the JSON in the page. All text is set as text.
(function () {
  const content = JSON.parse(document.getElementById("content").textContent);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const PAGE = 200; // rows that are added to the table at a time

  function themed(layout) {
    const text = getComputedStyle(document.documentElement).getPropertyValue("--text").trim();
    const line = getComputedStyle(document.documentElement).getPropertyValue("--line").trim();
    const base = {
      margin: { l: 55, r: 15, t: 50, b: 45 },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: line, activecolor: text },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { color: text },
      legend: { orientation: "h", x: 0, y: 1, yanchor: "top", yref: "container" },
      hovermode: "closest",
    };
    const result = Object.assign(base, structuredClone(layout));
    for (const name of ["xaxis", "yaxis"]) {
      result[name] = Object.assign({ gridcolor: line, zerolinecolor: line }, result[name]);
    }
    return result;
  }

  function draw() {
    for (const [id, figure] of Object.entries(content.figures)) {
      Plotly.react(id, figure.data, themed(figure.layout), { responsive: true, displaylogo: false });
    }
  }

  function compare(a, b) {
    if (a === null || b === null) return (a === null) - (b === null);
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b));
  }

  const { columns, rows, best } = content.trials;
  const table = document.querySelector("#trials table");
  const filter = document.getElementById("filter");
  const count = document.getElementById("count");
  const more = document.getElementById("more");
  let sorted = { column: 0, way: 1 };
  let limit = PAGE;

  function header() {
    const row = table.createTHead().insertRow();
    columns.forEach((name, index) => {
      const cell = document.createElement("th");
      const button = document.createElement("button");
      cell.scope = "col";
      button.type = "button";
      button.textContent = name;
      button.addEventListener("click", () => {
        sorted = { column: index, way: sorted.column === index ? -sorted.way : 1 };
        fill();
      });
      cell.append(button);
      row.append(cell);
    });
  }

  function fill() {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = rows.filter((row) => {
      const text = row.map((cell) => (cell === null ? "" : String(cell))).join("\t").toLowerCase();
      return words.every((word) => text.includes(word));
    });
    const { column, way } = sorted;
    const empty = (row) => row[column] === null;
    found.sort((a, b) => (empty(a) || empty(b) ? 1 : way) * compare(a[column], b[column]));
    const body = document.createElement("tbody");
    for (const row of found.slice(0, limit)) {
      const line = body.insertRow();
      if (row[0] === best) line.className = "best";
      for (const cell of row) {
        const place = line.insertCell();
        place.textContent = cell === null ? "" : String(cell);
        if (typeof cell === "number") place.className = "number";
      }
    }
    table.tBodies[0]?.remove();
    table.append(body);
    table.querySelectorAll("th").forEach((cell, index) => {
      cell.ariaSort = index !== column ? "none" : way > 0 ? "ascending" : "descending";
    });
    count.textContent = `${found.length} of ${rows.length} trials`;
    more.hidden = found.length <= limit;
  }

  header();
  fill();
  filter.addEventListener("input", () => { limit = PAGE; fill(); });
  more.addEventListener("click", () => { limit += PAGE; fill(); });
  draw();
  dark.addEventListener("change", draw);
})();
