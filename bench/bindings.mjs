// The cost of each library over Rust, for 500 rules: `node bindings.mjs ROUNDS FOLDER`. Started by bench/bindings.
// Each round starts every program once, one after the other, so a busy machine affects all of them. Compare the ratios.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));
const QUESTIONS = 20;
const DELTAS = 4000;
const REQUEST = { input: { message: "fix src/part7/a.ts" } };

const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];

/** The median time of a call in microseconds, after a tenth of the calls as warm-up. */
const timed = async (times, call) => {
  for (let at = 0; at < times / 10; at += 1) await call();
  const found = [];
  for (let at = 0; at < times; at += 1) {
    const start = process.hrtime.bigint();
    await call();
    found.push(Number(process.hrtime.bigint() - start) / 1000);
  }
  return median(found);
};

/** The times of a library of JavaScript. */
const measure = async (book) => {
  const prompt = await timed(QUESTIONS, () => book.prompt(REQUEST));
  const explain = await timed(QUESTIONS, () => book.explain(REQUEST));
  const session = await book.session("bench", "one");
  await session.turn(REQUEST.input);
  await session.begin();
  const delta = await timed(DELTAS / 100, () => {
    for (let at = 0; at < 100; at += 1) session.text("some text of the answer ");
  });
  return { prompt, explain, delta: delta / 100 };
};

/** 500 rules in three formats, 5 stream rules, and the files they are for. */
const texts = () => {
  const rule = (at) => {
    const body = `Rule ${at}. ${"Keep functions short and name things after what they are. ".repeat(6)}`;
    if (at % 100 === 0) return { path: `.rulebook/rules/stream${at}.md`, text: `---\ncondition: 'never${at}|TODO${at}'\n---\n${body}` };
    const folder = [".cursor/rules", ".clinerules", ".rulebook/rules"][at % 3];
    const key = at % 3 === 0 ? "globs: " : "paths: ";
    return { path: `${folder}/rule${at}.${at % 3 === 0 ? "mdc" : "md"}`, text: `---\n${key}["src/part${at % 50}/**/*.{ts,tsx}"]\n---\n${body}` };
  };
  return Array.from({ length: 500 }, (_, at) => rule(at));
};

const [first, second] = process.argv.slice(2);
if (first === "node") {
  const { Book } = createRequire(import.meta.url)("../crates/rulebook-node/index.js");
  console.log(JSON.stringify(await measure(await Book.open({ roots: [second], home: false }))));
} else if (first === "wasm") {
  const { Book } = await import(pathToFileURL(join(process.env.RULEBOOK_WASM, "index.js")));
  console.log(JSON.stringify(await measure(await Book.ofTexts({ texts: JSON.parse(readFileSync(second, "utf8")) }))));
} else {
  const [root, file] = [join(second, "workspace"), join(second, "texts.json")];
  const all = texts();
  for (const { path, text } of all) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  writeFileSync(file, JSON.stringify(all));
  const counts = [String(QUESTIONS), String(DELTAS)];
  const self = fileURLToPath(import.meta.url);
  const PROGRAMS = {
    rust: [process.env.OVERHEAD, root, ...counts],
    node: [process.execPath, self, "node", root],
    python: ["python3", join(HERE, "bindings.py"), root, ...counts],
    "rust, in memory": [process.env.OVERHEAD, file, ...counts],
    wasm: [process.execPath, self, "wasm", file],
  };
  const rounds = Array.from({ length: Number(first) }, () => {
    const times = Object.entries(PROGRAMS).map(([name, [program, ...words]]) => [name, JSON.parse(execFileSync(program, words, { encoding: "utf8" }))]);
    return Object.fromEntries(times);
  });
  // The shortest time of each: what the machine does beside only adds.
  const best = (name, call) => Math.min(...rounds.map((round) => round[name][call]));
  const GOALS = { node: ["rust", 1.3, 3], python: ["rust", 1.3, 3], wasm: ["rust, in memory", 4, 4] };
  console.log("| library | call | µs | Rust µs | ratio | goal |\n|---|---|---|---|---|---|");
  for (const [name, [base, question, delta]] of Object.entries(GOALS)) {
    for (const call of ["prompt", "explain", "delta"]) {
      const [took, rust] = [best(name, call), best(base, call)];
      console.log(`| ${name} | ${call} | ${took.toFixed(2)} | ${rust.toFixed(2)} | ${(took / rust).toFixed(2)} | ${call === "delta" ? delta : question} |`);
    }
  }
}
