// The table of trials: sorted by a column, filtered by words, a hundred rows at a time. All text
// is set as text.

const PAGE = 100; // rows that are added at a time
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

  // The places of rows in the order of a column: numbers, then texts, then empty cells. Of texts, only
  // different ones are compared, since that takes long.
  function places(found, column) {
    const cells = found.map((row) => row.cells[column]);
    const texts = [...new Set(cells.filter((cell) => typeof cell === "string"))].sort(collator.compare);
    const ranks = new Map(texts.map((text, rank) => [text, rank]));
    const kind = (cell) => (cell === null ? 2 : typeof cell === "string" ? 1 : 0);
    return new Map(found.map((row, i) => [row, { kind: kind(cells[i]), at: ranks.get(cells[i]) ?? cells[i] }]));
  }

  function ordered(found) {
    const column = Math.max(keys.indexOf(sorted.key), 0);
    const place = places(found, column);
    return found.sort((a, b) => {
      const [one, other] = [place.get(a), place.get(b)];
      return one.kind - other.kind || sorted.way * (one.at - other.at) || a.cells[0] - b.cells[0];
    });
  }

  function text(row) {
    row.text ??= row.cells.map((cell) => (cell === null ? "" : String(cell))).join("\t").toLowerCase();
    return row.text;
  }

  function fill() {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = [...rows.values()].filter((row) => words.every((word) => text(row).includes(word)));
    const column = Math.max(keys.indexOf(sorted.key), 0);
    ordered(found);
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
