// The labelling page: keys and buttons, examples loaded ahead, answers sent in their order.
//
// The tab holds a few examples that nobody else gets. It holds them for the time of a lease, and
// renews that. If the lease may have ended (a tab in the background, a sleeping machine), the page
// asks the server before it accepts a key.
"use strict";

const byId = (id) => document.getElementById(id);
const labelling = byId("labelling");
const QUEUE = `easeci-queue ${labelling.dataset.by}`; // every labeller who signs in here has a queue
const TAB = "easeci-tab";
const SINGLE_KEYS = 9;
const RETRY_MS = 1500;
const LOOK_MS = 3000;
const AWAY_MS = 180000;
const RENEW_MS = 40000; // the lease is renewed this long before it ends
const RECORDED = "Nothing to take back: recorded answers stay.";

const state = {
  ...thisTab(), // tab: its name; message: how many messages it has sent
  held: [], // { ticket, node }: the first is shown
  classes: [],
  declared: true,
  references: false, // answers are free texts, not classes
  given: 0,
  typed: "",
  unsettled: false,
  undoable: null, // the ticket of the labeller's last answer, also after a reload
  leaseUntil: 0,
  lastSeen: Date.now(),
  answered: [], // tickets, the last one at the end
  queue: kept(), // answers that are not sent yet
  sending: false,
  leaving: false,
};

// A tab keeps its name only over a reload and over signing in again. A duplicated tab gets a copy of
// sessionStorage, and two tabs must not have one name.
function thisTab() {
  const kept = JSON.parse(sessionStorage.getItem(TAB));
  sessionStorage.removeItem(TAB);
  const [loaded] = performance.getEntriesByType("navigation");
  if (kept && (kept.back || loaded.type === "reload")) return { tab: kept.tab, message: kept.message };
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return { tab: Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(""), message: 0 };
}

// Answers that are not sent yet survive a reload.
function kept() {
  return JSON.parse(sessionStorage.getItem(QUEUE) || "[]");
}

function unsent() {
  return state.queue.filter((job) => job.path !== "/label/take");
}

const isUnsent = (ticket) => state.queue.some((job) => job.fields.ticket === ticket);

function keep() {
  const answers = unsent();
  sessionStorage.setItem(QUEUE, JSON.stringify(answers));
  labelling.dataset.unsent = answers.length;
}

// -- talking to the server

// Messages are numbered, because requests can overtake each other.
function sender() {
  state.message += 1;
  return { by: labelling.dataset.by, tab: state.tab, message: state.message };
}

async function post(path, fields) {
  const body = new URLSearchParams({ ...sender(), unsettled: state.unsettled ? "yes" : "", ...fields });
  const asked = Date.now();
  const response = await fetch(path, {
    method: "POST", body, credentials: "same-origin", keepalive: true,
  });
  if (response.status === 401) { // signed out, or signed in as somebody else in another tab
    state.leaving = true; // answers that are not sent yet are kept
    location.assign("/sign-in?next=/label");
    throw new Error("Signed out.");
  }
  const reply = await response.json();
  if (!response.ok) {
    const error = new Error(plain(reply.hint ? `${sentence(reply.error)} ${reply.hint}` : sentence(reply.error)));
    error.status = response.status;
    error.final = response.status < 500 && response.status !== 403; // 403: signed in with another role
    throw error;
  }
  if (reply.lease) state.leaseUntil = asked + reply.lease * 1000;
  return reply;
}

const sentence = (words) => `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
const plain = (words) => words.replaceAll("`", "");

async function send() {
  if (state.sending) return;
  state.sending = true;
  try {
    while (state.queue.length) {
      const job = state.queue[0];
      try {
        const reply = await post(job.path, job.fields);
        state.queue.shift();
        keep();
        byId("trouble").hidden = true;
        accept(reply);
      } catch (error) {
        if (error.final) {
          state.queue.shift(); // the server refuses it, so sending it again is useless
          keep();
          if (job.path === "/label/take") { trouble("Not just now", error.message); return; }
          say(error.message);
          if (!state.queue.length) state.queue.push({ path: "/label/take", fields: {} });
          continue;
        }
        if (state.leaving) return;
        if (error.status) trouble("Not just now", error.message); // for example 503: the testset is labelled in a terminal
        else trouble("Not connected", "The server does not answer.");
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  } finally {
    state.sending = false;
  }
}

function enqueue(path, fields = {}) {
  state.queue.push({ path, fields });
  keep();
  send();
}

function ask() {
  if (state.queue.length) send(); // for example what the page had not sent before a reload
  else enqueue("/label/take");
}

function trouble(title, words) {
  byId("trouble-title").textContent = title;
  byId("trouble-words").textContent = words;
  byId("trouble").hidden = false;
  byId("nothing").hidden = true;
}

// -- what comes back

function accept(reply) {
  state.classes = reply.classes;
  state.declared = reply.declared;
  state.references = reply.references;
  state.undoable = reply.undoable;
  if (!state.undoable) state.answered = state.answered.filter((ticket) => isUnsent(ticket)); // recorded
  if (reply.undone === true) {
    state.given = Math.max(state.given - 1, 0);
    say("Taken back: answer again.");
  } else if (reply.undone === false) say(RECORDED);
  const before = new Map(state.held.map((held) => [held.ticket, held]));
  if (state.unsettled && !reply.questions.length) {
    state.unsettled = false; // no skipped examples are left: go on with wanted ones
    setTimeout(ask);
  }
  // The server does not know the answers that are still in the queue.
  state.held = reply.questions
    .filter((question) => !isUnsent(question.ticket))
    .map((question) => before.get(question.ticket) || { ticket: question.ticket, node: drawn(question) });
  if (reply.given === "already answered") say("Somebody has answered this example already.");
  byId("more").textContent = state.held.length ? reply.more : "";
  show(reply);
}

function drawn(question) {
  const list = document.createElement("dl");
  const only = question.fields.length === 1;
  for (const field of question.fields) {
    const row = document.createElement("div");
    const name = document.createElement("dt");
    name.textContent = field.name;
    if (only) name.className = "hidden";
    const value = document.createElement("dd");
    value.append(content(question.ticket, field));
    if (field.kind === "number") value.className = "value";
    row.append(name, value);
    list.append(row);
  }
  if (only) list.className = (question.fields[0].text || "").length > 120 ? "lone long" : "lone";
  if (!question.fields.length) list.textContent = "(an example without columns)";
  return list;
}

function content(ticket, field) {
  if (field.kind === "text" || field.kind === "number") {
    const more = field.cut ? `… (${field.cut.toLocaleString("en")} more characters)` : "";
    return document.createTextNode(field.text + more);
  }
  const query = new URLSearchParams({ tab: state.tab, column: field.name });
  const address = `/label/files/${encodeURIComponent(ticket)}?${query}`;
  if (field.kind === "image") {
    const image = new Image();
    image.alt = `${field.name} of this example`;
    image.addEventListener("load", () => image.classList.toggle("tiny", image.naturalWidth < 96));
    image.src = address;
    return image;
  }
  if (field.kind === "sound") {
    const sound = document.createElement("audio");
    sound.controls = true;
    sound.preload = "auto";
    sound.src = address;
    return sound;
  }
  const link = document.createElement("a");
  link.href = address;
  link.download = "";
  link.textContent = "Open the file";
  return link;
}

// -- the screen

function show(reply) {
  const held = state.held[0];
  labelling.hidden = !held;
  byId("nothing").hidden = Boolean(held);
  if (!held) {
    if (reply) nothing(reply);
    byId("example").replaceChildren();
    return;
  }
  const example = byId("example");
  if (example.firstChild !== held.node) {
    example.replaceChildren(held.node);
    example.dataset.ticket = held.ticket;
    document.dispatchEvent(new CustomEvent("example-shown"));
  }
  byId("count").textContent = `Label ${state.given + 1} of this session`;
  byId("undo").disabled = !(state.undoable || state.answered.length);
  drawClasses();
}

function drawClasses() {
  const box = byId("classes");
  const wanted = JSON.stringify(state.classes);
  if (box.dataset.drawn !== wanted) {
    box.dataset.drawn = wanted;
    box.replaceChildren(...state.classes.map((name, index) => {
      const button = document.createElement("button");
      button.type = "button";
      const key = document.createElement("kbd");
      key.textContent = index + 1;
      const words = document.createElement("span");
      words.textContent = name;
      button.append(key, words);
      button.addEventListener("click", () => answer("label", name));
      return button;
    }));
    byId("all-classes").replaceChildren(...state.classes.map((name) => new Option(name, name)));
  }
  byId("reference").hidden = !state.references;
  byId("other").hidden = state.references || (state.declared && state.classes.length <= SINGLE_KEYS);
  const first = "The first class, in your own words";
  const words = state.declared ? "Class by name" : state.classes.length ? "Another class" : first;
  byId("other-name").placeholder = words;
  byId("other-label").textContent = words;
}

function nothing(reply) {
  const [title, words] = reply.recording
    ? ["One moment", "These labels are being recorded."]
    : reply.more === "no more"
      ? ["No labels are wanted", "When a commit waits for labels, its examples appear here automatically."]
      : ["One moment", "Other labellers have all examples that are wanted now. If one of them has left, you get theirs within a minute."];
  byId("nothing-title").textContent = title;
  byId("nothing-words").textContent = words;
  byId("again").hidden = !(reply.unsettled && reply.more === "no more");
}

const say = (words) => { byId("said").textContent = words; };

// -- what the labeller does

function answer(kind, label) {
  const held = state.held[0];
  if (!held) return;
  if (state.queue.some((job) => job.path === "/label/undo")) { // the question that comes back is not here yet
    say("One moment: the example that you took back is not here yet.");
    return;
  }
  if (Date.now() > state.leaseUntil) { // another labeller may have it by now
    say("Checking that this example is still yours…");
    ask();
    return;
  }
  state.held.shift();
  state.given += 1;
  state.answered.push(held.ticket);
  state.typed = "";
  say(`Last: ${kind === "label" ? label.slice(0, 40) : kind === "skipped" ? "skipped" : "can’t tell"}`);
  if (state.held.length) show();
  else byId("example").replaceChildren();
  const fields = { ticket: held.ticket, state: kind };
  if (kind === "label") fields.label = label;
  enqueue("/label/answer", fields);
}

function undo() {
  const ticket = state.answered.pop() || state.undoable;
  if (!ticket) { say(RECORDED); return; }
  state.undoable = null;
  say("Taking it back…");
  enqueue("/label/undo", { undone: ticket });
}

function digit(key) {
  if (state.classes.length <= SINGLE_KEYS) {
    const name = state.classes[Number(key) - 1];
    if (name === undefined) say("There is no class with this number.");
    else answer("label", name);
  } else {
    state.typed = (state.typed + key).slice(0, 4);
    say(`Class ${state.typed} … Enter`);
  }
}

function choose() {
  const name = state.classes[Number(state.typed) - 1];
  state.typed = "";
  if (name === undefined) say("There is no class with this number.");
  else answer("label", name);
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
  if (/^(INPUT|TEXTAREA|SELECT|AUDIO)$/.test(event.target.tagName)) return;
  if (labelling.hidden && event.key !== "u") return; // undo works without an example
  if (/^[0-9]$/.test(event.key)) digit(event.key);
  else if (event.key === "Enter" && state.typed) choose();
  else if (event.key === "Backspace" && state.typed) { state.typed = state.typed.slice(0, -1); say(state.typed); }
  else if (event.key === "c") answer("cannot tell");
  else if (event.key === "s") answer("skipped");
  else if (event.key === "u") undo();
  else return;
  event.preventDefault();
});

byId("cannot-tell").addEventListener("click", () => answer("cannot tell"));
byId("skip").addEventListener("click", () => answer("skipped"));
byId("undo").addEventListener("click", undo);
byId("again").addEventListener("click", () => { state.unsettled = true; ask(); });
byId("other").addEventListener("submit", (event) => {
  event.preventDefault();
  const name = byId("other-name").value.trim();
  if (!name) return;
  const known = state.classes.includes(name);
  if (!known && state.declared) { say("The script has no such class."); return; }
  if (!known && !confirm(`A new class “${name}”?`)) return;
  byId("other-name").value = "";
  byId("other-name").blur();
  answer("label", name);
});

byId("reference").addEventListener("submit", (event) => {
  event.preventDefault();
  const text = byId("reference-text").value;
  if (!text.trim()) return;
  byId("reference-text").value = "";
  byId("reference-text").blur();
  answer("label", text);
});

// -- leases

// A labeller who has gone home and left the page open must not keep examples from others.
function isThere() {
  const listening = [...document.querySelectorAll("audio")].some((sound) => !sound.paused);
  if (listening) state.lastSeen = Date.now();
  return document.visibilityState === "visible" && Date.now() - state.lastSeen < AWAY_MS;
}

for (const sign of ["keydown", "pointerdown", "pointermove", "wheel", "scroll"]) {
  document.addEventListener(sign, () => {
    const away = Date.now() > state.leaseUntil && Date.now() - state.lastSeen > LOOK_MS;
    state.lastSeen = Date.now();
    if (away) ask();
  }, { capture: true, passive: true });
}

setInterval(() => {
  const held = state.held.length > 0;
  const left = state.leaseUntil - Date.now();
  if (held ? isThere() && left < RENEW_MS : document.visibilityState === "visible") ask();
}, LOOK_MS);
document.addEventListener("visibilitychange", () => { if (document.visibilityState === "visible") ask(); });

function leave() {
  if (unsent().length) return; // answers must still be sent: the lease ends by itself
  navigator.sendBeacon("/label/leave", new URLSearchParams(sender()));
}

window.addEventListener("pagehide", () => {
  leave();
  sessionStorage.setItem(TAB, JSON.stringify({ tab: state.tab, message: state.message, back: state.leaving }));
});
// After signing out, the page could not give back its examples.
for (const form of document.querySelectorAll('form[action="/sign-out"]')) form.addEventListener("submit", leave);
window.addEventListener("beforeunload", (event) => {
  // A labeller who was signed out comes back to this tab, which keeps the answers.
  if (!state.leaving && state.queue.some((job) => job.path === "/label/answer")) event.preventDefault();
});
window.addEventListener("pageshow", (event) => {
  if (!event.persisted) return;
  sessionStorage.removeItem(TAB);
  state.leaseUntil = 0; // another labeller may have this example by now
  ask();
});
ask();
