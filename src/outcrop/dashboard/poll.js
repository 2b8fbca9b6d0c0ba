"use strict";
// Asks again and again for what is new since the version that is shown.

const AGAIN = 3000; // milliseconds after which a server that did not answer is asked again
const MINUTE = 60000; // a server answers long before

async function poll(address, use) {
  let version = 0;
  let state = ["", false]; // what is said while the server answers
  for (;;) {
    await untilSeen();
    try {
      const separator = address.includes("?") ? "&" : "?";
      const signal = AbortSignal.timeout(MINUTE);
      const answer = await fetch(`${address}${separator}since=${version}`, { signal });
      if (!answer.ok) throw new Error(await answer.text());
      const changes = await answer.json();
      await new Promise((done) => setTimeout(done)); // so that reading and showing are two tasks
      if (changes.version !== version) use(changes);
      version = changes.version;
      if (changes.problem) state = [changes.problem, true];
      else if (changes.problem === null) state = [`live, last change at ${clock(Date.now())}`, false];
      say(...state);
    } catch (error) {
      say(`No answer (${error.message.trim()}); asking again.`, true);
      await new Promise((done) => setTimeout(done, AGAIN));
    }
  }
}

function say(text, isProblem) {
  const status = document.getElementById("status");
  status.textContent = text;
  status.classList.toggle("problem", isProblem);
}

// A page that nobody sees asks for nothing.
function untilSeen() {
  if (!document.hidden) return undefined;
  return new Promise((done) => document.addEventListener("visibilitychange", done, { once: true }));
}

function clock(milliseconds) {
  return new Date(milliseconds).toLocaleTimeString();
}
