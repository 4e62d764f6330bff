// The addon for Node: the table of cases, streams, errors and memory. Started by scripts/bindings.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { Book, RulebookError } from "rulebook-node";

const top = mkdtempSync(join(tmpdir(), "rulebook-node-"));
after(() => rmSync(top, { recursive: true }));
process.env.HOME = join(top, "home");
process.env.XDG_STATE_HOME = join(top, "state");

const HERE = new URL(".", import.meta.url);
const table = (file) => JSON.parse(readFileSync(file, "utf8"));
const answers = new Map(table(new URL("answers.json", HERE)).map(({ name, answers }) => [name, answers]));
const cases = [
  ...table(new URL("cases.json", HERE)).cases.map((one) => ({ ...one, answers: answers.get(one.name) })),
  ...table(process.env.RULEBOOK_PAGES).cases,
];

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

/** The answers of the steps of a case. */
const run = async (book, { steps }) => {
  let session;
  const found = [];
  for (const { call, with: words } of steps) {
    try {
      const [target, method] = call.startsWith("session.") ? [session, call.slice(8)] : [book, call];
      const answer = await target[method](...words);
      if (call === "session") session = answer;
      found.push(call === "session" ? null : (answer ?? null));
    } catch (error) {
      assert(error instanceof RulebookError, error);
      found.push({ error: error.code });
    }
  }
  await session?.close();
  book.close();
  return found;
};

test(`${cases.length} cases have the answers of Rust, on disk and in memory`, async () => {
  assert(cases.length > 80);
  for (const one of cases) {
    const { name, texts, files, settings } = one;
    assert.deepEqual(await run(await onDisk(one), one), one.answers, name);
    assert.deepEqual(await run(await Book.ofTexts({ texts, files, settings }), one), one.answers, name);
  }
});

const TEXTS = [
  { path: ".clinerules/web.md", text: "---\npaths: ['web/**']\n---\nUse React." },
  { path: ".rulebook/rules/no-any.md", text: "---\ncondition: ': any\\b'\n---\nNo any." },
  { path: ".rulebook/rules/no-hack.md", text: "---\ncondition: 'just hack'\nscope: thinking\n---\nPlan first." },
];
const inMemory = () => Book.ofTexts({ texts: TEXTS, files: ["web/a.tsx"] });
const collect = async (events) => {
  const found = [];
  for await (const event of events) found.push(event);
  return found;
};

test("a watched stream shows what is safe, stops, and is closed", async () => {
  const session = await (await inMemory()).session("my-agent", "one");
  await session.turn({ message: "fix web/a.tsx" });
  let isClosed = false;
  const stream = async function* () {
    try {
      yield { type: "thinking", text: "hm" };
      yield "let a";
      yield { type: "text", text: ": any = 1" };
      assert.fail("the stream is read after the retry");
    } finally {
      isClosed = true;
    }
  };
  const first = await collect(session.watch(stream()));
  assert.deepEqual(first.map(({ type }) => type), ["thinking", "text", "retry"]);
  assert.deepEqual(first[2].rules, ["no-any"]);
  assert(first[2].text.includes("No any."));
  assert(isClosed);
  const tool = (delta) => ({ type: "tool", id: "1", name: "write", delta });
  const second = await collect(session.watch([{ type: "text", text: "let a: A" }, tool('{"path": "web/'), tool('a.tsx"}')]));
  const text = second.filter(({ type }) => type === "text").map((event) => event.text).join("");
  assert.equal(text, "let a: A");
  assert.deepEqual(second.at(-1), { type: "tool", id: "1", name: "write", input: '{"path": "web/a.tsx"}' });
  await session.sent();
  assert.equal((await session.turn({ message: "web/a.tsx" })).added, "");
});

test("a tool call that a rule forbids is not an event", async () => {
  const session = await (await inMemory()).session("my-agent", "two");
  await session.turn({ message: "fix web/a.tsx" });
  const stream = [{ type: "tool", id: "1", name: "write", delta: '{"path": "web/a.ts", "content": "a: any = 1"}' }];
  const events = await collect(session.watch(stream));
  assert.deepEqual(events.map(({ type }) => type), ["retry"]);
});

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

test("books and sessions give their memory back", { timeout: 120_000 }, async () => {
  const open = async (times) => {
    for (let at = 0; at < times; at += 1) {
      const book = await inMemory();
      const session = await book.session("my-agent", `leak${at}`);
      await session.turn({ message: "fix web/a.tsx" });
      for (let delta = 0; delta < 50; delta += 1) session.text("some text of the answer ");
      // Every second one is left to the garbage collector.
      if (at % 2) {
        await session.close();
        book.close();
      }
    }
    for (let at = 0; at < 4; at += 1) {
      global.gc();
      await new Promise((resolve) => setImmediate(resolve));
    }
    return process.memoryUsage.rss();
  };
  await open(300);
  const [before, later] = [await open(300), await open(600)];
  const grown = (later - before) / 600;
  assert(grown < 10_000, `${grown} bytes stay for each book and session`);
});
