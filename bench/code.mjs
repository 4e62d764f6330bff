// The measurements of bench/code: whole processes, in instructions (callgrind) and in milliseconds (the median of rounds in which each
// command runs once).
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const [target, work, rounds] = process.argv.slice(2);
const rulebook = join(target, "rulebook");
const tool = join(target, "examples/measure");
const home = join(work, "home");
const env = { HOME: home, PATH: process.env.PATH };

const write = (file, text) => {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
};
/** Code of about this many bytes. */
const code = (length) => {
  let text = "";
  for (let at = 0; text.length < length; at++) {
    text += `export function f${at}(a: string, b: number) {\n  // new Set(${at})\n  const list = [a, "text ${at}"].map((x) => x.trim());\n  if (list.length > b) { return new Other(list, ${at}); }\n  return null;\n}\n`;
  }
  return text;
};

const run = (command, input, cwd, wrap = []) => {
  const [program, ...words] = [...wrap, ...command];
  const done = spawnSync(program, words, { env, cwd, input, encoding: "utf8", maxBuffer: 1 << 26 });
  if (done.status !== 0) throw new Error(`${command.join(" ")}: ${done.stderr}`);
  return done;
};
const instructions = ({ command, input, cwd }) => {
  const { stderr } = run(command, input, cwd, ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]);
  return Number(/Collected : (\d+)/.exec(stderr)[1]) / 1e6;
};
/** Measures commands in turn. */
const measure = (commands) => {
  const times = commands.map(() => []);
  for (let round = 0; round < Number(rounds); round++) {
    commands.forEach(({ command, input, cwd }, at) => {
      const started = process.hrtime.bigint();
      run(command, input, cwd);
      times[at].push(Number(process.hrtime.bigint() - started) / 1e6);
    });
  }
  const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];
  return commands.map((one, at) => ({ ...one, millions: instructions(one), ms: median(times[at]) }));
};
const row = (name, { millions, ms }, base, goal) =>
  console.log(`${name.padEnd(46)} ${millions.toFixed(1).padStart(9)} M ${ms.toFixed(1).padStart(8)} ms   ${base ? `${(millions / base.millions).toFixed(2)} × (instructions), ${(ms / base.ms).toFixed(2)} × (time)` : ""}${goal ? `; goal ${goal}` : ""}`);

// ---- Syntax rules in a hook.

const LANGUAGES = ["ts", "py", "go", "rust", "js"];
const ast = (at) => `---\nglobs: "**/*.{ts,py,go,rs,js}"\nast: {language: ${LANGUAGES[at % 5]}, pattern: "unwanted${at}($$$A)"}\n---\nDo not call unwanted${at}.\n`;
const plain = (at) => `---\nglobs: "**/*.{ts,py,go,rs,js}"\ncondition: "unwanted${at}Call"\n---\nDo not call unwanted${at}.\n`;
const workspace = (name, rules) => {
  const cwd = join(work, name);
  rules.forEach((text, at) => write(join(cwd, `.rulebook/rules/rule${at}.md`), text));
  for (const size of [5, 100]) write(join(cwd, `src/code${size}.ts`), code(size * 1000));
  mkdirSync(join(cwd, ".git"));
  return cwd;
};
const numbers = Array.from({ length: 50 }, (_, at) => at);
const without = workspace("without", numbers.map(plain));
const among = workspace("ast", numbers.map(ast));
const matching = workspace("matching", numbers.map((at) => (at === 0 ? ast(0).replace("unwanted0(", "new Other(") : ast(at))));
/** An edit of one line, with a session of its own. */
const edit = (cwd, size) => {
  const input = { file_path: join(cwd, `src/code${size}.ts`), old_string: "(a: string, b: number) {\n  // new Set(0)", new_string: "(a: string, c: number) {\n  // new Set(0)" };
  return { command: [rulebook, "hook", "claude"], cwd, input: JSON.stringify({ session_id: `${size}`, cwd, hook_event_name: "PreToolUse", tool_name: "Edit", tool_input: input }) };
};
const [bare, none, small, large, small0, large0, two, one] = measure([
  edit(without, 5), edit(among, 5), edit(matching, 5), edit(matching, 100), edit(without, 5), edit(without, 100),
  { command: [tool, "parse", join(without, "src/code100.ts"), "2"], cwd: work },
  { command: [tool, "parse", join(without, "src/code5.ts"), "1"], cwd: work },
]);
const together = { millions: small0.millions + one.millions, ms: small0.ms + one.ms };
console.log("hook with 50 rules, an edit of one line");
row("50 rules with conditions, 5 KB", bare);
row("50 ast rules, none matching, 5 KB", none, bare, "≤ 1.1 ×");
row("a bare parse, 5 KB", one, small0);
row("50 ast rules, one is parsed for, 5 KB", small, together, "≤ 1.1 × 50 conditions and a bare parse");
row("50 rules with conditions, 100 KB", large0);
row("two bare parses, 100 KB", two);
row("50 ast rules, one is parsed for, 100 KB", large, two, "≤ 1.3 ×");

// ---- Order: sessions of many events.

console.log("\nhook with 500 sequence rules, before a command that 250 of them guard");
const ordered = join(work, "ordered");
for (let at = 0; at < 500; at++) {
  write(join(ordered, `.rulebook/rules/order${at}.md`), `---\nrequires: {do: {command: "lint${at}*"}, after: {edit: "lib${at}/**"}, before: {command: "${at % 2 ? "git commit*" : `publish${at}*`}"}}\n---\nLint first.\n`);
}
mkdirSync(join(ordered, ".git"));
const session = (events) => {
  const lines = [{ is: "began", version: 1, host: "claude", session: `s${events}`, agent: null, root: ordered }];
  for (let at = 0; lines.length < events; at++) {
    const call = at % 3 === 0 ? { name: "Edit", paths: [`lib${at % 500}/a.go`] } : at % 3 === 1 ? { name: "Bash", paths: [], command: `lint${at % 500} && echo ok` } : { name: "Read", paths: [`src/f${at}.go`] };
    lines.push({ is: "tool", ...call, pending: true }, { is: "tool", ...call, pending: false });
  }
  const file = join(home, `.local/state/rulebook/sessions/claude/s${events}/main.jsonl`);
  write(file, lines.map((line) => JSON.stringify({ at: 1700000000, ...line }) + "\n").join(""));
  return { command: [rulebook, "hook", "claude"], cwd: ordered, input: JSON.stringify({ session_id: `s${events}`, cwd: ordered, hook_event_name: "PreToolUse", tool_name: "Bash", tool_input: { command: "git commit -m x" } }) };
};
const sessions = [1250, 2500, 5000, 10000].map((events) => ({ events, ...session(events) }));
const measured = measure(sessions);
measured.forEach((one, at) => row(`${one.events} events`, one, measured[at - 1], at ? "≤ 2 × half of the events" : ""));

// ---- In process: streams until a call ends, and an edit of a file whose tree is kept.

console.log("\nin process");
console.log(run([tool, "stream"], "", work).stdout.trim());
const file = join(without, "src/code100.ts");
const [once, again, edited] = ["once", "twice", "edit"].map((how) => instructions({ command: [tool, how, file], cwd: work }));
console.log(`a full parse of 100 KB: ${(again - once).toFixed(2)} M; an edit of a text whose tree is kept: ${(edited - once).toFixed(3)} M, 1/${((again - once) / (edited - once)).toFixed(0)}; goal 1/100`);
