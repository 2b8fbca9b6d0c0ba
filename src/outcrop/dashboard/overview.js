// The table of all studies. All text is set as text.

const COLUMNS = ["study", "trials", "running", "best value", "last activity"];
const NUMBERS = ["trials", "running", "best value"];

function showStudies(changes) {
  if (!changes.studies) return;
  const table = document.querySelector("#studies table");
  table.tHead ?? addHeader(table);
  const body = document.createElement("tbody");
  for (const study of changes.studies) {
    const line = body.insertRow();
    const link = document.createElement("a");
    link.href = `/study?name=${encodeURIComponent(study.name)}`;
    link.textContent = study.name;
    line.insertCell().append(link);
    if (study.problem) {
      line.insertCell().textContent = study.problem;
      line.cells[1].colSpan = COLUMNS.length - 1;
      continue;
    }
    const best = study.best ?? null;
    add(line, study.trials);
    add(line, study.running);
    add(line, best === null ? best : Number(best.toPrecision(6)));
    add(line, study.active ? new Date(1000 * study.active).toLocaleString() : null);
  }
  table.tBodies[0]?.remove();
  table.append(body);
}

function addHeader(table) {
  const line = table.createTHead().insertRow();
  for (const name of COLUMNS) {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.textContent = name;
    cell.classList.toggle("number", NUMBERS.includes(name));
    line.append(cell);
  }
}

function add(line, value) {
  const cell = line.insertCell();
  cell.textContent = value ?? "";
  if (typeof value === "number") cell.className = "number";
}

poll("/studies", showStudies);
