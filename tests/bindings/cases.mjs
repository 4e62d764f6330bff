// The table of cases for the libraries of JavaScript, and what their tests have in common.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

const HERE = new URL(".", import.meta.url);
const table = (file) => JSON.parse(readFileSync(file, "utf8"));
const answers = new Map(table(new URL("answers.json", HERE)).map(({ name, answers }) => [name, answers]));

/** Calls with the answers of Rust: of the table, and of the spec pages. */
export const cases = [
  ...table(new URL("cases.json", HERE)).cases.map((one) => ({ ...one, answers: answers.get(one.name) })),
  ...table(process.env.RULEBOOK_PAGES).cases,
];

/** The answers of the steps of a case. */
export const run = async (book, { steps }, RulebookError) => {
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

export const TEXTS = [
  { path: ".clinerules/web.md", text: "---\npaths: ['web/**']\n---\nUse React." },
  { path: ".rulebook/rules/no-any.md", text: "---\ncondition: ': any\\b'\n---\nNo any." },
  { path: ".rulebook/rules/no-hack.md", text: "---\ncondition: 'just hack'\nscope: thinking\n---\nPlan first." },
];

export const collect = async (events) => {
  const found = [];
  for await (const event of events) found.push(event);
  return found;
};

/** How a library watches: what is safe is shown, the stream stops and is closed, and forbidden calls are no events. */
export const watches = async (open) => {
  const session = await (await open()).session("my-agent", "one");
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

  const other = await (await open()).session("my-agent", "two");
  await other.turn({ message: "fix web/a.tsx" });
  const forbidden = [{ type: "tool", id: "1", name: "write", delta: '{"path": "web/a.ts", "content": "a: any = 1"}' }];
  assert.deepEqual((await collect(other.watch(forbidden))).map(({ type }) => type), ["retry"]);
};

/** Arguments of a wrong type are errors with a code, for every library; what was open stays usable. */
export const refuses = async (open) => {
  const book = await open();
  const session = await book.session("my-agent", "types");
  await session.turn(null);
  const deltas = [null, undefined, 3, {}, { type: "text" }, { type: "text", text: 3 }, { type: "tool", id: 1, name: "w", delta: "{" }, { type: "tool", id: "1", name: "w" }];
  const calls = [
    () => book.read(), () => book.read(3), () => book.file(null), () => book.session("a"), () => book.session(undefined, "b"), () => book.prompt("x"), () => book.prompt(() => 1),
    () => session.text(), () => session.thinking(3), () => session.tool("1", "w"), ...deltas.map((delta) => () => collect(session.watch([delta]))),
  ];
  for (const call of calls) await assert.rejects(async () => call(), { name: "RulebookError", code: "BAD_REQUEST" }, String(call));
  await session.begin();
  assert.equal(session.text("fine").show + session.end().show, "fine");
};

/** Opens many books and sessions. Every second one is left to the garbage collector. */
export const staysSmall = async (open, many) => {
  const use = async (times) => {
    for (let at = 0; at < times; at += 1) {
      const book = await open();
      const session = await book.session("my-agent", `leak${at}`);
      await session.turn({ message: "fix web/a.tsx" });
      for (let delta = 0; delta < 50; delta += 1) session.text("some text of the answer ");
      if (at % 2) {
        await session.close();
        book.close();
      }
      // Finalizers run between the tasks of the event loop.
      if (at % 50 === 0) {
        global.gc();
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    for (let at = 0; at < 4; at += 1) {
      global.gc();
      await new Promise((resolve) => setImmediate(resolve));
    }
    return process.memoryUsage.rss();
  };
  await use(many);
  const [before, later] = [await use(many), await use(2 * many)];
  const grown = (later - before) / (2 * many);
  assert(grown < 10_000, `${grown} bytes stay for each book and session`);
};
