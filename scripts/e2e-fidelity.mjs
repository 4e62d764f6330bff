// The comparison of scripts/e2e-fidelity: an agent starts in a project of generated rules and reads one file per session; each rule is a
// mark, so its requests show which rules it loaded for that file. `rulebook explain --as AGENT` must name the same ones. One more
// session reads all files: each request must have the rules of the files before it and no others, so no reading depends on
// another one.
//
// Prints what differs, and leaves what was recorded in target/e2e/fidelity/CLIENT.tsv, in the form of crates/rulebook/tests/agents.
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promptAgent } from "./e2e-agent.mjs";
import { CLIENTS } from "./e2e-clients.mjs";
import { imports, mark, order, paths, rules, seed, written } from "./e2e-fidelity-cases.mjs";

const E2E = process.env.E2E;
// Agents compare a file with the folder they run in, whose path has no links.
const WORK = join(realpathSync(E2E), "fidelity");
const words = process.argv.slice(2);
const option = (name, otherwise) => (words.includes(name) ? Number(words.splice(words.indexOf(name), 2)[1]) : otherwise);
const [SEED, RULES, JOBS] = [option("--seed", 1), option("--rules", 300), option("--jobs", 2)];
// Headers as JSON strings, one per line, to look into instead of generated ones.
const GIVEN = words.includes("--headers") && readFileSync(words.splice(words.indexOf("--headers"), 2)[1], "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
const headers = (form) => (GIVEN ? written(GIVEN, form) : rules(RULES, form));

const ANCHOR = [/[ \t]&a/, "an anchor"];
// `read`: the call that reads a file. `files`: the generated files. `known`: differences that docs/agents.md explains.
const AGENTS = {
  claude: {
    view: "claude",
    read: (file) => ({ name: "Read", arguments: { file_path: file } }),
    // A pattern that this version cannot compile stops all rules for paths. docs/agents.md names it.
    files: () => headers({ key: "paths", also: "globs", file: (n) => `.claude/rules/r${n}.md`, refused: /\[[^\]\n'"]*[*{][^\]\n]*\]/ }),
    known: [ANCHOR, [/\t- |^\t/m, "tabs"]],
  },
  copilot: {
    view: "copilot-cli",
    read: (file) => ({ name: "view", arguments: { path: file } }),
    files: () => headers({ key: "applyTo", also: "paths", file: (n) => `.github/instructions/r${n}.instructions.md` }),
    known: [ANCHOR, [/\n"applyTo"[^]*\n----\n/, "a key in quotes in a header with another end"], [/["']# note/, "a comment right after a quote"], [/\t- |^\t/m, "tabs"]],
  },
  gemini: {
    view: "gemini",
    read: (file) => ({ name: "read_file", arguments: { file_path: file } }),
    files: (read, root) => imports(RULES, read, "GEMINI.md", root),
    known: [],
  },
  qwen: {
    view: "qwen",
    read: (file) => ({ name: "read_file", arguments: { file_path: file, absolute_path: file } }),
    files: () => headers({ key: "paths", also: "globs", file: (n) => `.qwen/rules/r${n}.md` }),
    known: [],
  },
};

/** A project of one worker: workers run side by side, so each has its own home and port. */
const project = (client, agent, worker) => {
  const folder = join(WORK, client.name, String(worker));
  rmSync(folder, { recursive: true, force: true });
  const port = 18960 + worker;
  const at = { url: `http://127.0.0.1:${port}`, home: join(folder, "home"), project: join(folder, "project"), clients: join(E2E, "clients") };
  for (const made of [at.home, at.project, join(folder, "tmp")]) mkdirSync(made, { recursive: true });
  seed(SEED);
  const read = paths();
  const cases = agent.files(read, at.project);
  for (const { path, body } of [...read.map((path) => ({ path, body: "A file.\n" })), ...cases]) {
    mkdirSync(dirname(join(at.project, path)), { recursive: true });
    writeFileSync(join(at.project, path), body);
  }
  spawnSync("git", ["init", "--quiet"], { cwd: at.project });
  const bin = join(at.clients, client.name, "node_modules/.bin");
  const env = { PATH: `${bin}:${process.env.PATH}`, HOME: at.home, TMPDIR: join(folder, "tmp"), TERM: "dumb", LANG: "C.UTF-8", ...client.env(at) };
  client.prepare?.(at);
  return { client, agent, folder, port, at, env, read, cases, all: order(read) };
};

/** The rules in each request of a session that reads these files. */
const session = async (run, files, name) => {
  const { client, agent, at, env, port, folder } = run;
  const [script, log] = [join(folder, `${name}.script.json`), join(folder, `${name}.jsonl`)];
  const turns = [...files.map((file) => ({ text: "I read it.", calls: [agent.read(join(at.project, file))] })), { text: "Done." }];
  const { output, requests } = await promptAgent({ client, at, env, port, turns, prompt: "Please have a look", script, log });
  if (requests.length !== files.length + 1) throw new Error(`${client.name}: ${requests.length} requests for ${files}: ${output.slice(-400)}`);
  rmSync(log);
  return requests.map((one) => {
    const text = JSON.stringify(one);
    return new Set(run.cases.map((_, n) => n).filter((n) => text.includes(mark(n))));
  });
};

/** What the view says is in context after reading each file. */
const predicted = (run) => {
  const { view } = run.agent;
  const version = run.client.package.split("@").at(-1);
  const asked = ["explain", "--json", "--as", view, "--set", `agents.${view}.version=${version}`, "--", ...run.read.map((path) => `./${path}`)];
  const done = spawnSync(join(E2E, "../debug/rulebook"), asked, { cwd: run.at.project, env: { PATH: process.env.PATH, HOME: run.at.home }, encoding: "utf8", maxBuffer: 2 ** 30 });
  if (done.status !== 0) throw new Error(`rulebook: ${done.stderr}`);
  const numbers = new Map(run.cases.map(({ path }, n) => [path, n]));
  return new Map(JSON.parse(done.stdout).targets.map(({ path, agents }) => {
    const native = agents[view].rules.filter(({ state }) => state === "native");
    return [path, new Set(native.map(({ source }) => numbers.get(source)).filter((n) => n !== undefined))];
  }));
};

const compare = async (name) => {
  const [client, agent] = [CLIENTS.find((one) => one.name === name), AGENTS[name]];
  const runs = Array.from({ length: JOBS }, (_, worker) => project(client, agent, worker));
  const [{ read, cases, all }] = runs;
  const [before, loaded, queue] = [new Map(), new Map(), [...read]];
  let chain;
  await Promise.all(runs.map(async (run, worker) => {
    if (worker === 0) chain = await session(run, all, "all");
    for (let path; (path = queue.shift()) !== undefined;) {
      const [first, last] = await session(run, [path], "one");
      before.set(path, first);
      loaded.set(path, last);
    }
  }));
  const faults = [];
  // A session starts with the same rules whatever it will read, and a request adds the rules of the file that was just read.
  const start = chain[0];
  for (const path of read) if ([...before.get(path)].join() !== [...start].join()) faults.push(`a session for ${path} starts with other rules`);
  all.forEach((path, at) => {
    const wanted = new Set([...chain[at], ...loaded.get(path)]);
    const other = [...wanted].filter((n) => !chain[at + 1].has(n)).concat([...chain[at + 1]].filter((n) => !wanted.has(n)));
    if (other.length) faults.push(`read after others, ${path} differs in ${other.map((n) => cases[n].path).join(" ")}`);
  });
  const view = predicted(runs[0]);
  const row = (found) => (n) => (read.every((path) => found.get(path).has(n)) ? "always" : read.map((path) => (found.get(path).has(n) ? "x" : ".")).join(""));
  const [real, said] = [row(loaded), row(view)];
  const lines = cases.map(({ text }, n) => `${JSON.stringify(text)}\t${start.has(n) ? "always" : real(n).replace("always", "x".repeat(read.length))}`);
  writeFileSync(join(WORK, `${name}.tsv`), `#!\t${read.join("\t")}\n${lines.join("\n")}\n`);
  const differing = cases.map((one, n) => ({ ...one, n })).filter(({ n }) => real(n) !== said(n));
  const reason = ({ text }) => agent.known.find(([form]) => form.test(text))?.[1];
  const unknown = differing.filter((one) => !reason(one));
  const always = cases.filter((_, n) => start.has(n)).length;
  const some = cases.filter((_, n) => !start.has(n) && read.some((path) => loaded.get(path).has(n))).length;
  console.log(`\n${client.package}: ${cases.length} rules × ${read.length} files; ${always} always, ${some} for some files, ${cases.length - always - some} never; ${unknown.length} differ, ${differing.length - unknown.length} for known reasons`);
  for (const one of unknown) console.log(`  ${one.path} ${JSON.stringify(one.text)}\n    loaded ${real(one.n)}\n    view   ${said(one.n)}`);
  for (const one of differing.filter(reason)) console.log(`  known: ${reason(one)}: ${JSON.stringify(one.text)}`);
  for (const fault of faults) console.log(`  ${fault}`);
  return unknown.length + faults.length;
};

let failed = 0;
for (const name of words.length ? words : Object.keys(AGENTS)) failed += await compare(name);
process.exit(failed ? 1 : 0);
