// The table of trials: sorted by a column, filtered by words, some hundred rows at a time. All text
// is set as text.

const PAGE = 200; // rows that are added at a time
const collator = new Intl.Collator();

function trialTable(newestFirst) {
  const table = document.querySelector("#trials table");
  const filter = document.getElementById("filter");
  const count = document.getElementById("count");
  const more = document.getElementById("more");
  let columns = [];
  let keys = []; // of columns: their names, and a number if a parameter is named as another column
  let rows = new Map(); // by the number of the trial: { cells, text }
  let best = null;
  let sorted = { key: "trial 0", way: newestFirst ? -1 : 1 };
  let limit = PAGE;
  let shown = []; // the rows in the table

  function header() {
    table.tHead?.remove();
    const line = table.createTHead().insertRow();
    columns.forEach((name, index) => {
      const cell = document.createElement("th");
      const button = document.createElement("button");
      cell.scope = "col";
      button.type = "button";
      button.textContent = name;
      button.addEventListener("click", () => {
        sorted = { key: keys[index], way: sorted.key === keys[index] ? -sorted.way : 1 };
        fill();
      });
      cell.append(button);
      line.append(cell);
    });
  }

  function compare(a, b, way) {
    if (a === null || b === null) return (a === null) - (b === null); // empty cells are last
    if (typeof a === "number" && typeof b === "number") return way * (a - b);
    return way * collator.compare(String(a), String(b));
  }

  function text(row) {
    row.text ??= row.cells.map((cell) => (cell === null ? "" : String(cell))).join("\t").toLowerCase();
    return row.text;
  }

  function fill() {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = [...rows.values()].filter((row) => words.every((word) => text(row).includes(word)));
    const column = Math.max(keys.indexOf(sorted.key), 0);
    found.sort((a, b) => compare(a.cells[column], b.cells[column], sorted.way) || a.cells[0] - b.cells[0]);
    count.textContent = `${found.length} of ${rows.size} trials`;
    more.hidden = found.length <= limit;
    table.querySelectorAll("th").forEach((cell, index) => {
      const filled = found.find((row) => row.cells[index] !== null);
      cell.classList.toggle("number", typeof filled?.cells[index] === "number");
      cell.ariaSort = index !== column ? "none" : sorted.way > 0 ? "ascending" : "descending";
    });
    show(found.slice(0, limit));
  }

  // Rows that stay are the same elements; nothing is touched if nothing has changed.
  function show(wanted) {
    if (wanted.length === shown.length && wanted.every((row, index) => row === shown[index])) return;
    shown = wanted;
    const body = table.tBodies[0] ?? table.createTBody();
    const { scrollTop, scrollLeft } = table.parentElement;
    body.replaceChildren(...wanted.map((row) => (row.line ??= lineOf(row))));
    Object.assign(table.parentElement, { scrollTop, scrollLeft });
    markBest();
  }

  function lineOf(row) {
    const line = document.createElement("tr");
    for (const cell of row.cells) {
      const place = line.insertCell();
      place.textContent = cell === null ? "" : String(cell);
      if (typeof cell === "number") place.className = "number";
    }
    return line;
  }

  function markBest() {
    for (const row of shown) row.line.classList.toggle("best", row.cells[0] === best);
  }

  function update(changes) {
    if (changes.columns) { // all of the table is new
      columns = changes.columns;
      keys = columns.map((name, index) => `${name} ${columns.slice(0, index).filter((n) => n === name).length}`);
      rows = new Map();
      header();
    }
    for (const cells of changes.rows) rows.set(cells[0], { cells });
    best = changes.best;
    fill();
    markBest();
  }

  filter.addEventListener("input", () => { limit = PAGE; fill(); });
  more.addEventListener("click", () => { limit += PAGE; fill(); });
  return update;
}
