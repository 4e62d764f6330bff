// The playground: state in the address, the engine over it, answers below.
import engine from "engine.gz";
import { Book, RulebookError, catalogue, init } from "rulebook-wasm";
import { $, count, h } from "./dom.js";
import { dropped, read as readFiles } from "./drop.js";
import { described, problems } from "./file.js";
import { matrix } from "./matrix.js";
import { SAMPLES } from "./samples.js";
import { EMPTY, read, unpacked, write } from "./state.js";
import { watch, watched } from "./watched.js";

let state = { ...EMPTY };
let known;
let titles;
let playing;

/** Asks for everything that the page shows. */
const answer = async () => {
  const { files, tree, target, message, agent, stream, kind } = state;
  const book = await Book.ofTexts({ texts: files.filter(({ path }) => path), files: target ? [...tree, target] : tree });
  try {
    const input = { ...(target && { paths: [target] }), ...(message && { message }) };
    const question = { input, ...(agent && { for: agent }) };
    const { diagnostics } = book.diagnostics();
    const fixed = new Map(diagnostics.map(({ path }) => [path, book.file(path).fixed]));
    $("problems").replaceChildren(problems(diagnostics, (path) => fixed.get(path), apply, open));
    $("matrix").replaceChildren(matrix(book.explain(question).targets[0], known, open));
    const prompt = book.prompt(question);
    $("whom").textContent = agent ? `What Rulebook adds for ${titles.get(agent) ?? agent}` : "The prompt for an agent that reads no rules by itself";
    $("tokens").textContent = prompt.text ? `about ${count(prompt.tokens, "token")}` : "";
    $("prompt").replaceChildren(prompt.text ? h("pre", { tabindex: "0" }, prompt.text) : h("p.none", agent ? "Nothing: this agent reads by itself what applies." : "No rule applies to this work."));
    const session = book.session(agent || "playground", "playground");
    $("watched").replaceChildren(watched(watch(session, input, stream, kind, target || "file.txt"), stream, kind));
    session.close();
    const current = files[state.open];
    $("file").replaceChildren(current?.path ? described(book.file(current.path), current.text, titles, apply) : "");
    $("status").textContent = count(diagnostics.length, "problem");
  } catch (error) {
    if (!(error instanceof RulebookError)) throw error;
    failed(error.message);
  } finally {
    book.close();
  }
};

const failed = (message) => {
  $("failed").textContent = message;
  $("failed").hidden = false;
};

let timer;
/** Answers soon: while somebody types, not for every letter. The page says when it shows the last change. */
const changed = () => {
  clearTimeout(timer);
  document.body.dataset.answer = "pending";
  const mine = setTimeout(async () => {
    await answer().catch((error) => failed(String(error?.message ?? error)));
    const hash = await write(state);
    if (mine !== timer) return;
    history.replaceState(null, "", `#${hash}`);
    document.body.dataset.answer = "shown";
  }, 60);
  timer = mine;
};

/** Shows the state in the fields. Text that is being typed is not touched. */
const show = () => {
  const put = (id, value) => $(id).value !== value && ($(id).value = value);
  const file = state.files[state.open];
  for (const id of ["target", "message", "agent", "stream", "kind"]) put(id, state[id]);
  put("path", file?.path ?? "");
  put("text", file?.text ?? "");
  put("tree", state.tree.join("\n"));
  for (const id of ["path", "text", "remove"]) $(id).disabled = !file;
  $("tree-count").textContent = state.tree.length ? count(state.tree.length, "file") : "";
  $("targets").replaceChildren(...state.tree.slice(0, 200).map((path) => h("option", { value: path })));
  $("names").replaceChildren(...state.files.map(({ path }, at) =>
    h("li", h("button.name", { type: "button", "aria-pressed": String(at === state.open), onclick: () => set({ open: at }) }, path || "a file without a path"))));
};

const set = (change) => {
  state = { ...state, ...change };
  $("failed").hidden = true;
  show();
  changed();
};

const edit = (change) => set({ files: state.files.map((file, at) => (at === state.open ? { ...file, ...change } : file)) });

const open = (path) => {
  const at = state.files.findIndex((file) => file.path === path);
  if (at >= 0) set({ open: at });
};

const apply = (path, change) => {
  const { title: _, ...file } = change;
  set({ files: state.files.map((found) => (found.path === path ? { ...found, ...file } : found)) });
};

/** Adds files, which replace those of the same path. */
const add = ({ files, tree }) => {
  const paths = new Set(files.map(({ path }) => path));
  const all = [...state.files.filter(({ path }) => !paths.has(path)), ...files];
  set({ files: all, tree: [...new Set([...state.tree, ...tree])], open: Math.max(0, all.length - files.length) });
};

/** Writes the answer again, letter by letter. */
const play = () => {
  clearInterval(playing);
  const text = state.stream;
  let at = 0;
  playing = setInterval(() => {
    at += 1;
    set({ stream: text.slice(0, at) });
    if (at >= text.length) clearInterval(playing);
  }, 80);
};

const wire = () => {
  for (const id of ["target", "message", "agent", "kind"]) $(id).addEventListener("input", () => set({ [id]: $(id).value }));
  $("stream").addEventListener("input", () => (clearInterval(playing), set({ stream: $("stream").value })));
  $("path").addEventListener("input", () => edit({ path: $("path").value.trim() }));
  $("text").addEventListener("input", () => edit({ text: $("text").value }));
  $("tree").addEventListener("input", () => set({ tree: $("tree").value.split("\n").map((line) => line.trim()).filter(Boolean) }));
  $("add").addEventListener("click", () => {
    set({ files: [...state.files, { path: "", text: "" }], open: state.files.length });
    $("path").focus();
  });
  $("remove").addEventListener("click", () => set({ files: state.files.filter((_, at) => at !== state.open), open: Math.max(0, state.open - 1) }));
  $("sample").addEventListener("change", () => {
    const { name: _, ...sample } = SAMPLES[$("sample").value] ?? {};
    if (sample.files) set(sample);
    $("sample").value = "";
  });
  $("play").addEventListener("click", play);
  $("share").addEventListener("click", async () => {
    history.replaceState(null, "", `#${await write(state)}`);
    const isCopied = await navigator.clipboard?.writeText(location.href).then(() => true, () => false);
    $("share").textContent = isCopied ? "Copied" : "The link is in the address bar";
  });
  $("choose").addEventListener("click", () => $("chosen").click());
  $("chosen").addEventListener("change", async () => add(await readFiles([...$("chosen").files].map((file) => ({ path: file.name, file })))));
  const drop = $("drop");
  for (const name of ["dragenter", "dragover"]) drop.addEventListener(name, (event) => (event.preventDefault(), drop.classList.add("over")));
  for (const name of ["dragleave", "drop"]) drop.addEventListener(name, () => drop.classList.remove("over"));
  drop.addEventListener("drop", async (event) => {
    event.preventDefault();
    add(await dropped(event.dataTransfer));
  });
  window.addEventListener("hashchange", async () => set((await read(location.hash)) ?? {}));
};

const start = async () => {
  await init(await unpacked(engine));
  known = await catalogue();
  titles = new Map(known.agents.map(({ name, title }) => [name, title]));
  $("agent").append(...known.agents.map(({ name, title }) => h("option", { value: name }, title)));
  $("sample").append(h("option", { value: "" }, "choose…"), ...SAMPLES.map(({ name }, at) => h("option", { value: at }, name)));
  wire();
  const found = await read(location.hash);
  const isBroken = !found && location.hash.length > 1;
  const { name: _, ...first } = SAMPLES[0];
  set(found ?? first);
  if (isBroken) failed("The link cannot be read: a part of it is missing.");
};

start().catch((error) => failed(`The engine did not start: ${error.message}`));
