// The explorer calculates while the visitor types: it fetches the page that the form would load.
"use strict";

const WAIT_MS = 250;
const form = document.getElementById("explorer");
const busy = document.getElementById("busy");
let timer = null;
let running = null;

async function calculate() {
  if (running) running.abort();
  const mine = new AbortController();
  running = mine;
  const address = `/plan?${new URLSearchParams(new FormData(form))}`;
  busy.textContent = "Calculating…";
  try {
    const response = await fetch(address, { credentials: "same-origin", signal: mine.signal });
    if (response.status === 204) return; // a newer request is being calculated
    if (response.redirected) { location.assign(address); return; }
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const result = page.getElementById("result");
    if (!result) { location.assign(address); return; } // an error, which the page itself shows
    const opened = Boolean(document.querySelector("#result details[open]"));
    document.getElementById("result").replaceWith(result);
    const details = document.querySelector("#result details");
    if (details) details.open = opened;
    for (const field of form.elements) {
      const fresh = field.name && page.getElementById(field.id);
      if (!fresh) continue;
      if (fresh.hasAttribute("aria-invalid")) field.setAttribute("aria-invalid", "true");
      else field.removeAttribute("aria-invalid");
    }
    history.replaceState(null, "", address);
    busy.textContent = "";
    prepareCopying();
  } catch (error) {
    if (error.name !== "AbortError") busy.textContent = "The server does not answer.";
  }
}

function prepareCopying() {
  const button = document.getElementById("copy");
  if (!button) return;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const text = document.getElementById("script-text");
    const said = document.getElementById("copied");
    try {
      await navigator.clipboard.writeText(text.textContent);
      said.textContent = "Copied.";
    } catch {
      getSelection().selectAllChildren(text);
      said.textContent = "Selected: press Ctrl-C to copy.";
    }
  });
}

form.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(calculate, WAIT_MS);
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(timer);
  calculate();
});
document.getElementById("calculate").classList.add("hidden");
prepareCopying();
