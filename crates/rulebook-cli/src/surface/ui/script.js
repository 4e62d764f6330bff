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

const describe = (one) =>
  [one.tagName, one.getAttribute("href"), one.closest("form")?.querySelector("[name=id]")?.value, one.parentElement.id].join("\n");

function refresh(address) {
  const request = ++requests;
  return fetch(address).then((response) => response.ok && show(response, request)).catch(() => {});
}

// Filtering while typing.
function addressOf(form) {
  const values = [...new FormData(form)].filter(([, value]) => value !== "");
  const query = new URLSearchParams(values).toString();
  return form.getAttribute("action") + (query && `?${query}`);
}

let waiting;
document.addEventListener("input", (event) => {
  const form = event.target.closest("form[data-live]");
  if (event.target.dataset.complete) complete(event.target);
  if (!form) return;
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    const address = addressOf(form);
    history.replaceState(null, "", address);
    refresh(address);
  }, 120);
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

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  navigator.clipboard?.writeText(new URL(button.dataset.copy, location.href).href).then(() => {
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy link"), 1500);
  });
});

// `/` focuses the search field, arrow keys move through a list, Escape leaves the search field.
document.addEventListener("keydown", (event) => {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
    const search = document.querySelector("[data-slash]");
    if (!search) return;
    event.preventDefault();
    search.focus();
    search.select();
  } else if (event.key === "Escape" && typing) {
    event.target.blur();
  } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && !event.target.hasAttribute("list")) {
    const rows = [...document.querySelectorAll("[data-rows] a.rule, [data-rows] a.session")];
    const at = rows.indexOf(document.activeElement);
    const next = rows[at + (event.key === "ArrowDown" ? 1 : -1)];
    if (!next || (typing && event.target.tagName !== "INPUT") || (at < 0 && !typing)) return;
    event.preventDefault();
    next.focus();
  }
});

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
