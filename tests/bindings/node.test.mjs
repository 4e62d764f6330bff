// The addon for Node: the table of cases, streams, errors and memory. Started by scripts/bindings.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { Book, RulebookError, hook } from "rulebook-node";
import { TEXTS, cases, collect, refuses, run, staysSmall, watches } from "./cases.mjs";

const top = mkdtempSync(join(tmpdir(), "rulebook-node-"));
after(() => rmSync(top, { recursive: true }));
process.env.HOME = join(top, "home");
process.env.XDG_STATE_HOME = join(top, "state");

let count = 0;
const onDisk = ({ texts, files, settings }) => {
  const root = join(top, `case${(count += 1)}`);
  mkdirSync(root);
  for (const { path, text } of [...texts, ...files.map((path) => ({ path, text: "" }))]) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return Book.open({ roots: [root], home: false, settings });
};

test(`${cases.length} cases have the answers of Rust, on disk and in memory`, async () => {
  assert(cases.length > 80);
  for (const one of cases) {
    const { name, texts, files, settings } = one;
    assert.deepEqual(await run(await onDisk(one), one, RulebookError), one.answers, name);
    assert.deepEqual(await run(await Book.ofTexts({ texts, files, settings }), one, RulebookError), one.answers, name);
  }
});

const inMemory = () => Book.ofTexts({ texts: TEXTS, files: ["web/a.tsx"] });

test("a watched stream shows what is safe, stops, and is closed", () => watches(inMemory));

test("arguments of a wrong type are errors", () => refuses(inMemory));

test("errors are exceptions with a code", async () => {
  const book = await inMemory();
  await assert.rejects(book.read("nosuch"), (error) => error instanceof RulebookError && error instanceof Error && error.code === "UNKNOWN_RULE" && /nosuch/.test(error.message));
  await assert.rejects(book.explain({ nosuch: 1 }), { code: "BAD_REQUEST" });
  await assert.rejects(Book.open({ roots: ["/nosuch/folder"] }), { code: "CANNOT_OPEN" });
  const session = await book.session("my-agent", "three");
  assert.throws(() => session.text("early"), { code: "NO_TURN" });
  await session.turn();
  await assert.rejects(collect(session.watch([{ type: "image" }])), { code: "BAD_REQUEST" });
  const closing = session.close();
  await closing;
  assert.throws(() => session.text("late"), { code: "CLOSED" });
  book.close();
  await assert.rejects(book.prompt(), { code: "CLOSED" });
});

test("calls that use the disk do not block, and run in their order", async () => {
  const book = await onDisk({ texts: TEXTS, files: [], settings: {} });
  let ticks = 0;
  const ticking = setInterval(() => (ticks += 1), 0);
  await Promise.all(Array.from({ length: 20 }, () => book.prompt({ input: { message: "fix web/a.tsx" } })));
  clearInterval(ticking);
  assert(ticks > 0, "the event loop ran");
  const session = await book.session("my-agent", "four");
  const turn = session.turn({ message: "fix web/a.tsx" });
  const sent = session.sent();
  const next = session.turn({ message: "web/a.tsx again" });
  assert.notEqual((await turn).added, "");
  await sent;
  assert.equal((await next).added, "");
});

test("a session on disk is resumed", async () => {
  const root = join(top, "kept");
  mkdirSync(join(root, ".clinerules"), { recursive: true });
  writeFileSync(join(root, ".clinerules/a.md"), "Two spaces.");
  for (const isNew of [true, false]) {
    const book = await Book.open({ roots: [root] });
    const session = await book.session("my-agent", "kept");
    const { added } = await session.turn({ message: "hello" });
    assert.equal(added !== "", isNew);
    assert.equal(session.lost, null);
    await session.sent();
    await session.close();
  }
});

test("CommonJS gets the same", () => {
  const library = createRequire(import.meta.url)("rulebook-node");
  assert.equal(library.Book, Book);
});

test("books and sessions give their memory back", { timeout: 120_000 }, () => staysSmall(inMemory, 300));

test("events of agents are answered without a process, by the library alone and by an extension that finds it", async () => {
  const root = join(top, "wired");
  const plugins = join(root, ".opencode/plugin");
  mkdirSync(join(root, ".git"), { recursive: true });
  mkdirSync(join(root, ".clinerules"));
  mkdirSync(join(root, "node_modules"));
  mkdirSync(plugins, { recursive: true });
  writeFileSync(join(root, ".clinerules/web.md"), "---\npaths: ['web/**']\n---\nUse React.");
  const event = (sessionID) => ({
    event: "chat.message", directory: root, input: { sessionID },
    output: { message: { id: "m" }, parts: [{ type: "text", text: "fix web/a.ts" }] },
  });
  assert.match((await hook("opencode", event("one"))).context, /Use React\./);
  assert.equal((await hook("opencode", event("one")))?.context, undefined, "once per session");
  assert.equal(await hook("nobody", event("one")), null);
  await assert.rejects(hook("opencode"), { code: "BAD_REQUEST" });

  const template = readFileSync(new URL("../../crates/rulebook-cli/src/surface/install/templates/opencode.js", import.meta.url), "utf8");
  const plugin = join(plugins, "rulebook.mjs");
  writeFileSync(plugin, template.replace("@PROGRAM@", '"/nonexistent"'));
  symlinkSync(dirname(createRequire(import.meta.url).resolve("rulebook-node/package.json")), join(root, "node_modules/rulebook-node"));
  const { Rulebook } = await import(plugin);
  const shown = [];
  const client = { tui: { showToast: async ({ body }) => shown.push(body.message) } };
  const { input, output } = event("two");
  await (await Rulebook({ client, directory: root }))["chat.message"](input, output);
  assert.match(output.parts[1].text, /Use React\./);
  assert.match(shown[0], /web/);
});
