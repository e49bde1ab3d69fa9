// Pages with live numbers are updated while they are visible.
"use strict";

const EVERY_MS = 4000;

const nameOf = (node) => node.getAttribute("href") || node.getAttribute("aria-label");

async function refresh() {
  if (document.visibilityState !== "visible") return;
  const main = document.getElementById("main");
  if (main.contains(document.activeElement) && document.activeElement.tagName === "INPUT") return;
  try {
    const response = await fetch(location.href, { credentials: "same-origin" });
    if (!response.ok || response.redirected) return;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const fresh = page.getElementById("main");
    if (fresh && fresh.innerHTML !== shown) {
      shown = fresh.innerHTML;
      const focused = main.contains(document.activeElement) ? nameOf(document.activeElement) : null;
      main.replaceChildren(...fresh.childNodes);
      if (focused) [...main.querySelectorAll("a, [tabindex]")].find((node) => nameOf(node) === focused)?.focus({ preventScroll: true });
      document.title = page.title;
    }
  } catch {
    // The server does not answer now; the next try may work.
  }
}

let shown = document.getElementById("main").innerHTML;
setInterval(refresh, EVERY_MS);
