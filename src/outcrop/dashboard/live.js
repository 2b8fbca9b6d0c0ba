// The page of one study: updates it whenever something is new.

function showModel(model) {
  if (!model) return;
  const text = `computed at ${clock(1000 * model.at)} from ${model.trials} trials in ${model.seconds.toFixed(1)} s`;
  for (const line of document.querySelectorAll(".computed")) line.textContent = text;
}

const studyName = new URLSearchParams(location.search).get("name") ?? "";
poll(`/changes?name=${encodeURIComponent(studyName)}`, (changes) => {
  updatePage(changes);
  showModel(changes.model);
});
