// Progressive enhancement: filtering while typing, switches, live sessions, keyboard shortcuts. The pages work without it.
"use strict";

const part = () => document.getElementById("live");
let requests = 0;

// Replaces the live part of this page with that of the response; keeps open details and the focus.
async function show(response, request) {
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const fresh = page.getElementById("live");
  const old = part();
  if (request !== requests || !fresh || !old) return;
  for (const open of old.querySelectorAll("details[open][id]")) {
    fresh.querySelector(`#${open.id}`)?.setAttribute("open", "");
  }
  const focused = old.contains(document.activeElement) ? describe(document.activeElement) : null;
  old.replaceChildren(...fresh.childNodes);
  Object.assign(old.dataset, fresh.dataset);
  times();
  if (focused) [...old.querySelectorAll("a, button, summary")].find((one) => describe(one) === focused)?.focus();
}

// A row's link changes its address when the row opens.
const describe = (one) =>
  [one.tagName, one.matches("[data-open]") ? one.title : one.getAttribute("href"), one.closest("form")?.querySelector("[name=id]")?.value, one.parentElement.id].join("\n");

function refresh(address) {
  const request = ++requests;
  return fetch(address).then((response) => response.ok && show(response, request)).catch(() => {});
}

// Filtering while typing. The first change adds an entry to the history, so that "back" returns to the unfiltered list.
function addressOf(form) {
  const values = [...new FormData(form)].filter(([, value]) => value !== "");
  const query = new URLSearchParams(values).toString();
  return form.getAttribute("action") + (query && `?${query}`);
}

let waiting, editing;
document.addEventListener("input", (event) => {
  const form = event.target.closest("form[data-live]");
  if (event.target.dataset.complete) complete(event.target);
  if (!form) return;
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    const address = addressOf(form);
    history[editing === event.target ? "replaceState" : "pushState"](null, "", address);
    editing = event.target;
    refresh(address);
  }, 120);
});

addEventListener("popstate", () => location.reload());

// Choosing an agent opens the same view for it.
document.addEventListener("change", (event) => {
  if (event.target.closest("form.for")) event.target.form.requestSubmit();
});

// A row opens in place.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-open]");
  if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  history.pushState(null, "", link.href);
  refresh(link.href);
});

// Suggests files for a path that is being typed.
let completions = 0;
async function complete(input) {
  const request = ++completions;
  const response = await fetch(`${input.dataset.complete}?q=${encodeURIComponent(input.value)}`).catch(() => null);
  if (!response?.ok || request !== completions) return;
  const { files } = await response.json();
  const option = (file) => Object.assign(document.createElement("option"), { value: file });
  document.getElementById(input.getAttribute("list")).replaceChildren(...files.map(option));
}

// Switches work without leaving the page.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post" || !part()?.contains(form)) return;
  event.preventDefault();
  const request = ++requests;
  fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) })
    .then((response) => (response.ok ? show(response, request) : location.reload()))
    .catch(() => {});
});

// Buttons that copy a link or a command.
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy], [data-copy-link]");
  if (!button) return;
  const { copy, copyLink } = button.dataset;
  navigator.clipboard?.writeText(copy ?? new URL(copyLink, location.href).href).then(() => {
    const text = button.textContent;
    if (text === "Copied") return;
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = text), 1500);
  });
});

// Keys; the dialog `#keys` lists them.
const ROWS = "[data-rows] a.file, [data-rows] a.rule, [data-rows] a.session";

function move(by, from) {
  const rows = [...document.querySelectorAll(ROWS)];
  const at = rows.findIndex((row) => row.closest("tr, li") === from?.closest?.("tr, li"));
  const next = rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : at + by];
  next?.focus();
  return Boolean(next);
}

function focusOn(selector) {
  const found = document.querySelector(selector);
  found?.focus();
  found?.select?.();
  return Boolean(found);
}

const KEYS = {
  "/": () => focusOn("[data-slash]"),
  j: () => move(1, document.activeElement),
  k: () => move(-1, document.activeElement),
  a: () => focusOn(".for select"),
  "?": () => (document.getElementById("keys").showModal(), true),
};

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || target.closest("dialog")) return;
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName) && target.type !== "checkbox";
  if (key === "Escape" && typing) return target.blur();
  const arrow = { ArrowDown: 1, ArrowUp: -1 }[key];
  const inList = target.closest("[data-rows]") || (target.type === "search" && key === "ArrowDown");
  if (arrow ? inList && move(arrow, target) : !typing && KEYS[key]?.()) event.preventDefault();
});

document.addEventListener("click", (event) => event.target.closest("[data-keys]") && KEYS["?"]());

// Adds the exact time to "3 min ago".
function times() {
  for (const time of document.querySelectorAll("time[data-at]")) {
    const moment = new Date(time.dataset.at * 1000);
    time.dateTime = moment.toISOString();
    time.title = moment.toLocaleString();
  }
}

// Live sessions: the server sends its version, and a page with another version refreshes itself. A hidden page does not listen.
let source;
function listen() {
  const address = part()?.dataset.events;
  if (!address) return;
  if (document.hidden) {
    source?.close();
    source = null;
  } else if (!source) {
    source = new EventSource(address);
    source.addEventListener("change", (event) => event.data !== part().dataset.version && refresh(location.href));
  }
}

document.addEventListener("visibilitychange", listen);
times();
listen();
