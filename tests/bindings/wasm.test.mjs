// The library for WebAssembly: the table of cases, streams, errors and memory. Started by scripts/bindings.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Book, RulebookError, catalogue } from "rulebook-wasm";
import { TEXTS, cases, collect, refuses, run, staysSmall, watches } from "./cases.mjs";

const open = () => Book.ofTexts({ texts: TEXTS, files: ["web/a.tsx"] });

test(`${cases.length} cases have the answers of Rust`, async () => {
  assert(cases.length > 80);
  for (const one of cases) {
    const { name, texts, files, settings } = one;
    assert.deepEqual(await run(await Book.ofTexts({ texts, files, settings }), one, RulebookError), one.answers, name);
  }
});

test("a watched stream shows what is safe, stops, and is closed", () => watches(open));

test("arguments of a wrong type are errors", () => refuses(open));

test("errors are exceptions with a code", async () => {
  const book = await open();
  assert.throws(() => book.read("nosuch"), (error) => error instanceof RulebookError && error.code === "UNKNOWN_RULE" && /nosuch/.test(error.message));
  assert.throws(() => book.explain({ nosuch: 1 }), { code: "BAD_REQUEST" });
  await assert.rejects(Book.ofTexts({ texts: [{ path: "../a.md", text: "" }] }), { code: "OUTSIDE_ROOT" });
  await assert.rejects(Book.ofTexts({ roots: ["."] }), { code: "BAD_REQUEST" });
  const session = book.session("my-agent", "three");
  assert.throws(() => session.text("early"), { code: "NO_TURN" });
  session.turn();
  await assert.rejects(collect(session.watch([{ type: "image" }])), { code: "BAD_REQUEST" });
  session.close();
  assert.throws(() => session.text("late"), { code: "CLOSED" });
  book.close();
  assert.throws(() => book.prompt(), { code: "CLOSED" });
});

test("hostile texts are answers or errors, and the engine goes on", async () => {
  const nested = `---\nwhen: ${"not (".repeat(2000)}\n---\nDeep.`;
  for (const text of ["---\n".repeat(5000), nested, "\0\ufeff\u202e", "---\nglobs: '".padEnd(100_000, "{a,") + "'\n---\n"]) {
    const book = await Book.ofTexts({ texts: [{ path: ".rulebook/rules/a.md", text }, { path: ".cursor/rules/b.mdc", text }], files: ["a".repeat(5000)] });
    assert.equal(book.prompt({ input: { message: text } }).version, 1);
    assert.equal(book.file(".cursor/rules/b.mdc").version, 1);
    book.close();
  }
  assert.equal((await open()).diagnostics().version, 1);
});

test("many folders are walked without threads", async () => {
  const files = Array.from({ length: 3000 }, (_, at) => `part${at}/a.ts`);
  const rules = [{ path: ".cursor/rules/a.mdc", text: "---\nglobs: part7/**\n---\nA." }];
  const book = await Book.ofTexts({ texts: rules, files });
  assert.deepEqual(book.file(".cursor/rules/a.mdc").rules[0].files, ["part7/a.ts"]);
});

test("the catalogue names agents and states", async () => {
  const { agents, states } = await catalogue();
  assert(agents.some(({ name, title }) => name === "claude" && title === "Claude Code"));
  assert(states.some(({ state, symbol }) => state === "native" && symbol === "✓"));
});

test("books and sessions give their memory back", { timeout: 120_000 }, () => staysSmall(open, 100));
