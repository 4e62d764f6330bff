// The checks of scripts/e2e: real agents run one prompt after the other against a scripted model, and its requests are inspected.
// The text of each rule is a unique mark, so a request contains a rule as often as it contains the mark.
import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { CLIENTS, STOPPING, edits, says, stopped } from "./e2e-clients.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const E2E = process.env.E2E;
const [task, ...names] = process.argv.slice(2);
const chosen = CLIENTS.filter((client) => !names.some((name) => !name.startsWith("-")) || names.includes(client.name));

// ---- The project: two rules of each format, for apps/web and for db, and rules that must never be delivered.

const RULES = {
  ".cursor/rules/cursor-web.mdc": "---\nglobs: apps/web/**\n---\nMARK-CURSOR-WEB",
  ".cursor/rules/cursor-db.mdc": "---\nglobs: db/**\n---\nMARK-CURSOR-DB",
  ".cursor/rules/cursor-api.mdc": "---\nglobs: apps/api/**\n---\nMARK-NEVER-CURSOR",
  ".clinerules/cline-web.md": '---\npaths: ["apps/web/**"]\n---\nMARK-CLINE-WEB',
  ".clinerules/cline-db.md": '---\npaths: ["db/**"]\n---\nMARK-CLINE-DB',
  ".windsurf/rules/windsurf-web.md": "---\ntrigger: glob\nglobs: apps/web/**\n---\nMARK-WINDSURF-WEB",
  ".windsurf/rules/windsurf-db.md": "---\ntrigger: glob\nglobs: db/**\n---\nMARK-WINDSURF-DB",
  ".opencode/rules/opencode-web.md": '---\ndescription: web\npriority: 50\nglobs: ["apps/web/**"]\n---\nMARK-OPENCODE-WEB',
  ".opencode/rules/opencode-db.md": '---\ndescription: db\npriority: 50\nglobs: ["db/**"]\n---\nMARK-OPENCODE-DB',
  ".opencode/rules/opencode-api.md": '---\ndescription: api\npriority: 50\nglobs: ["apps/api/**"]\n---\nMARK-NEVER-OPENCODE',
  ".rulebook/rules/native-web.md": "---\npaths: apps/web/**\n---\nMARK-NATIVE-WEB",
  ".rulebook/rules/native-db.md": "---\npaths: db/**\n---\nMARK-NATIVE-DB",
  ".rulebook/rules/native-always.md": "---\nalwaysApply: true\n---\nMARK-NATIVE-ALWAYS",
  ".rulebook/rules/no-drop.md": "---\ncondition: DROP TABLE\nscope: tool\n---\nMARK-STREAM",
};
const FILES = { "apps/web/x.tsx": "export const x = 1;\n", "apps/web/y.tsx": "export const y = 1;\n", "db/schema.sql": "CREATE TABLE a (id int);\n", "README.md": "A project.\n" };
const marks = (part) => Object.values(RULES).flatMap((text) => text.match(/MARK-[A-Z-]+/)).filter((mark) => mark.includes(part));
const [WEB, DB, ALWAYS, STREAM] = ["-WEB", "-DB", "ALWAYS", "STREAM"].map(marks);
const OWN = "MARK-OWN-DB";
const ALL = [...marks("MARK"), OWN];

/** The marks that are not in a request as often as they should be. */
const wrong = (body, wanted, times = {}) => {
  const text = JSON.stringify(body);
  const often = (mark) => Object.entries(times).find(([part]) => mark.endsWith(part))?.[1] ?? 1;
  return ALL.map((mark) => [mark.slice(5), text.split(mark).length - 1, wanted.includes(mark) ? often(mark) : 0])
    .filter(([, found, want]) => found !== want)
    .map(([mark, found, want]) => `${mark} ${found}× not ${want}×`);
};

// ---- Running an agent.

/** Installs an npm package, or several; or, with a version after `==`, a package of Python in an environment of its own. */
const fetch = (name, wanted) => {
  const folder = join(E2E, "clients", name);
  const stamp = join(folder, "installed");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), "{}");
  console.error(`installing ${wanted}`);
  const steps = wanted.includes("==")
    ? [["python3", "-m", "venv", "."], ["bin/pip", "install", "--quiet", wanted]]
    : [["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", ...wanted.split(" ")]];
  for (const [program, ...words] of steps) {
    if (spawnSync(program, words, { cwd: folder, stdio: "inherit" }).status !== 0) process.exit(2);
  }
  writeFileSync(stamp, wanted);
};

/** Starts a scripted model; its script and its log are files that begin with `name`. */
const model = async (turns, name) => {
  const [script, log] = [`${name}.script.json`, `${name}.requests.jsonl`];
  writeFileSync(script, JSON.stringify(turns));
  const child = spawn(join(E2E, "../debug/scripted-model"), ["--script", script, "--log", log, "--port", "18900"], { stdio: ["ignore", "pipe", "inherit"] });
  await new Promise((resolve, reject) => {
    child.stdout.once("data", resolve);
    child.once("exit", () => reject(new Error("the scripted model did not start")));
  });
  return {
    stop: () => new Promise((resolve) => { child.once("exit", resolve); child.kill(); }),
    requests: () => readFileSync(log, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line)),
  };
};

class Run {
  constructor(client) {
    this.client = client;
    this.count = 0;
    // Agents name files by the real path of their folder.
    this.folder = join(realpathSync(E2E), "run", client.name);
    rmSync(this.folder, { recursive: true, force: true });
    const at = { url: "http://127.0.0.1:18900", home: join(this.folder, "home"), project: join(this.folder, "project"), clients: join(E2E, "clients") };
    this.at = at;
    for (const folder of [at.home, at.project, join(this.folder, "tmp"), join(this.folder, "bin")]) mkdirSync(folder, { recursive: true });
    for (const [file, text] of Object.entries({ ...RULES, ...FILES, ...client.own })) {
      mkdirSync(dirname(join(at.project, file)), { recursive: true });
      writeFileSync(join(at.project, file), text);
    }
    cpSync(join(E2E, "../debug/rulebook"), join(this.folder, "bin/rulebook"));
    const path = [join(this.folder, "bin"), join(at.clients, client.name, "node_modules/.bin"), join(at.clients, client.name, "bin"), process.env.PATH].join(":");
    this.env = { PATH: path, HOME: at.home, TMPDIR: join(this.folder, "tmp"), TERM: "dumb", LANG: "C.UTF-8", ...client.env(at) };
    spawnSync("git", ["init", "--quiet"], { cwd: at.project });
    // Agents show their model what git reports: it must not depend on what is installed.
    writeFileSync(join(at.project, ".git/info/exclude"), "*\n");
    client.prepare?.(at);
    for (const [program, ...words] of client.before?.(at) ?? []) spawnSync(program, words, { cwd: at.project, env: this.env });
  }

  get hosts() {
    return this.client.wired ?? [this.client.name];
  }

  wire(task, host) {
    this.rulebook(task, host, "--command", join(this.folder, "bin/rulebook"), ...(this.client.options ?? []));
  }

  /** The file that the calls edit, as it was or with a text. */
  schema(text) {
    const file = join(this.at.project, "db/schema.sql");
    if (text) writeFileSync(file, text);
    return readFileSync(file, "utf8");
  }

  /** Runs a prompt whose answer edits a file, and returns the requests. */
  async change(text, again) {
    this.schema(FILES["db/schema.sql"]);
    return this.prompt(text, [...edits(this.client, this.at), says(this.client, "Edited.")], again);
  }

  rulebook(...words) {
    const done = spawnSync("rulebook", words, { cwd: this.at.project, env: this.env, encoding: "utf8" });
    if (done.status !== 0) throw new Error(`rulebook ${words.join(" ")}: ${done.stderr}`);
    return done.stdout;
  }

  hook(event) {
    spawnSync("rulebook", ["hook", this.client.name], { cwd: this.at.project, env: this.env, input: JSON.stringify(event) });
  }

  /** Runs one prompt, and returns the requests of the conversation. */
  async prompt(text, turns, again) {
    const name = join(this.folder, String(++this.count));
    const server = await model(turns, name);
    const [program, ...words] = this.client.run(this.at, text, { again });
    const child = spawn(program, words, { cwd: this.at.project, env: this.env, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    child.stdout.on("data", (part) => (output += part));
    child.stderr.on("data", (part) => (output += part));
    // A safety net: ends an agent that hangs.
    const timer = setTimeout(() => child.kill("SIGKILL"), 600_000);
    const status = await new Promise((resolve) => child.once("close", resolve));
    clearTimeout(timer);
    await server.stop();
    writeFileSync(`${name}.output.txt`, output);
    this.output = output;
    const main = server.requests().filter((request) => request.role === "main");
    if (status !== 0 || (main.length === 0 && !text.startsWith("/"))) throw new Error(`${program} ended with ${status} after ${main.length} requests: ${output.slice(-400)}`);
    return main.map((request) => (this.client.seen ?? ((body) => body))(request.body));
  }

  /** Every file of the project, and the agent's own settings, with their bytes. */
  files() {
    const found = {};
    const config = this.client.config && join(this.at.home, this.client.config);
    if (config) found[config] = readFileSync(config, "base64");
    const walk = (folder) => {
      for (const name of readdirSync(folder).sort()) {
        const path = join(folder, name);
        if (name === "node_modules" || name === ".git" || this.client.leaves?.test(name)) continue;
        if (statSync(path).isDirectory()) walk(path);
        else found[relative(this.at.project, path)] = readFileSync(path, "base64");
      }
    };
    walk(this.at.project);
    return found;
  }
}

const sorted = (value) =>
  value && typeof value === "object" && !Array.isArray(value)
    ? Object.fromEntries(Object.keys(value).sort().map((key) => [key, sorted(value[key])]))
    : Array.isArray(value) ? value.map(sorted) : value;

/** A request without the parts that differ between runs. */
const settled = (body) =>
  JSON.stringify(sorted(body))
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "ID")
    .replace(/(toolu|call|msg|ses|prt|resp|fc|rs)_[0-9a-zA-Z]+/g, "ID")
    .replace(/[a-z_]+_\d{13}_\d+/g, "ID")
    .replace(/[0-9a-f]{32,}/g, "HASH")
    .replace(/cch=[0-9a-f]+/g, "HASH")
    .replace(/\w+day, \w+ \d+, \d{4}|\d{4}-\d\d-\d\d(?!T)/g, "DAY")
    .replace(/DAY \d\d:\d\d:\d\d/g, "TIME")
    .replace(/unix_ms\W+\d+/g, "TIME")
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z?/g, "TIME");

// ---- The checks, in order. Each is a name and a function that returns what is wrong.

/** Where two lists of requests differ. */
const difference = (former, later) => {
  if (former.length !== later.length) return [`${later.length} requests, not ${former.length}`];
  const texts = former.map((body, at) => [settled(body), settled(later[at])]);
  return texts.filter(([a, b]) => a !== b).slice(0, 1).map(([a, b]) => {
    let at = 0;
    while (a[at] === b[at]) at++;
    return `differs: …${a.slice(at - 40, at + 40)}… and …${b.slice(at - 40, at + 40)}…`;
  });
};

const FIRST = "Please improve apps/web/x.tsx and then the tables";
/** Checks of every agent. */
const BEFORE = [
  ["before: no rule of other agents", async (run) => {
    run.plain = await run.change("Please look at README.md");
    run.schema(FILES["db/schema.sql"]);
    run.before = run.files();
    return wrong(run.plain[0], run.client.loads ?? []);
  }],
  ["install", async (run) => {
    for (const host of run.hosts) run.wire("install", host);
    return JSON.stringify(run.files()) === JSON.stringify(run.before) ? ["no file was written"] : [];
  }],
];
const AFTER = [
  ["uninstall: files as before", async (run) => {
    for (const host of run.hosts.toReversed()) run.wire("uninstall", host);
    run.schema(FILES["db/schema.sql"]);
    const [before, after] = [run.before, run.files()];
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((file) => before[file] !== after[file]);
  }],
  ["uninstall: requests as before", async (run) => difference(run.plain, await run.change("Please look at README.md"))],
];

/** A program in place of ours that fails. */
const FAILURES = {
  "program missing": undefined,
  "program fails": "#!/bin/sh\necho oops >&2\nexit 2\n",
  "program crashes": "#!/bin/sh\nkill -SEGV $$\n",
};
const failing = Object.entries(FAILURES).map(([name, script]) => [`${name}: as if not installed`, async (run) => {
  const program = join(run.folder, "bin/rulebook");
  rmSync(program);
  if (script) writeFileSync(program, script, { mode: 0o755 });
  try {
    const bodies = await run.change("Please look at README.md");
    // The files that it moves are not loaded by the agent any more.
    const plain = run.client.options?.includes("--move-rules") ? bodies : run.plain;
    const done = run.schema().includes("bigint") ? [] : ["the file was not edited"];
    const settle = run.client.settle ?? ((body) => body);
    return [...done, ...difference(plain.map(settle), bodies.map(settle))];
  } finally {
    rmSync(program, { force: true });
    cpSync(join(E2E, "../debug/rulebook"), program);
  }
}]);

/** Checks of agents with hooks, in order. */
const HOOKS = [
  ["prompt: web rules, once", async (run) => {
    run.all = [...WEB, ...DB, ...ALWAYS, ...(run.client.own ? [OWN] : [])];
    run.edit = await run.change(FIRST);
    return wrong(run.edit[0], run.client.late ? [] : [...WEB, ...ALWAYS]);
  }],
  ["edit: db rules too, once", async (run) => {
    const done = run.schema().includes("bigint");
    return [...(done ? [] : ["the file was not edited"]), ...wrong(run.edit.at(-1), run.client.late ? run.all.filter((mark) => !WEB.includes(mark)) : run.all)];
  }],
  ["second turn: nothing twice", async (run) => {
    if (run.client.late) return undefined;
    const [body] = await run.prompt("Now apps/web/y.tsx, please", [{ text: "Looks fine." }], true);
    return wrong(body, run.all);
  }],
  ["compaction: delivered again", async (run) => {
    if (!run.client.compact) return undefined;
    // The agent adds its own rule when it next uses that file.
    const wanted = run.all.filter((mark) => mark !== OWN);
    return wrong((await compact(run)).at(-1), wanted, run.client.times);
  }],
  ["sub-agent: its own rules, once", async (run) => {
    if (!run.client.helper) return undefined;
    const turns = run.client.helper(run.at).map((call) => ({ text: "I look.", calls: [call] }));
    const bodies = await run.prompt("Have a helper look around", [...turns, { text: "Looked." }, { text: "Done." }]);
    return [...wrong(bodies[2], [...WEB, ...ALWAYS]), ...wrong(bodies[3], ALWAYS).map((fault) => `then: ${fault}`)];
  }],
  ["stream rule: refused, finished", async (run) => {
    run.schema(FILES["db/schema.sql"]);
    const calls = [...run.client.calls(run.at, "DROP TABLE a;"), run.client.calls(run.at).at(-1)];
    const bodies = await run.prompt("Please change the tables", [...calls.map((call) => ({ text: "I edit it.", calls: [call] })), { text: "Finished." }]);
    const text = JSON.stringify(bodies.at(-1));
    return [
      [run.schema().includes("DROP"), "the call was carried out"],
      [!run.schema().includes("bigint"), "the task was not finished"],
      [!run.output.includes("Finished."), "the agent did not end with the last answer"],
      [text.split(STREAM[0]).length !== 2, `the rule is in the conversation ${text.split(STREAM[0]).length - 1}×`],
    ].filter(([is]) => is).map(([, fault]) => fault);
  }],
  ["syntax, shell, order: refused once", async (run) => {
    if (!run.client.shell) return undefined;
    for (const [file, text] of Object.entries(STOPPING)) writeFileSync(join(run.at.project, file), text);
    try {
      await run.prompt("Please write the library", stopped(run.client, run.at));
      const [session] = JSON.parse(run.rulebook("sessions", "--json")).sessions;
      const { facts, requirements } = JSON.parse(run.rulebook("explain", "--session", session.session, "--json")).sessions[0];
      const refused = (name) => facts.filter((fact) => fact.action === "refuse" && fact.rule.startsWith(`${name}@`)).length;
      const written = existsSync(join(run.at.project, "lib/a.ts")) ? readFileSync(join(run.at.project, "lib/a.ts"), "utf8") : "";
      return [
        ...["code", "shell", "order"].filter((name) => refused(name) !== 1).map((name) => `${name} refused ${refused(name)}×`),
        ...(written.trim() === "export const a = {};" ? [] : [`lib/a.ts has ${JSON.stringify(written)}`]),
        ...(existsSync(join(run.at.project, "done.txt")) ? [] : ["the last command did not run"]),
        ...(requirements.some((one) => one.rule.startsWith("order@") && one.state === "met") ? [] : ["the requirement is not met"]),
        ...(run.output.includes("Finished.") ? [] : ["the agent did not end with the last answer"]),
      ];
    } finally {
      for (const file of [...Object.keys(STOPPING), "lib", "done.txt"]) rmSync(join(run.at.project, file), { recursive: true, force: true });
    }
  }],
  ...failing,
];

/** Checks of agents that read the files in a list. */
const READS = [
  ["reads: what always applies, once", async (run) => wrong((await run.change("Please look at README.md"))[0], ALWAYS)],
];

/** Checks of agents whose model asks the MCP server. */
const ASKS = [
  ["rules_for: the rules, once", async (run) => {
    const ask = { name: run.client.asks, arguments: { paths: ["apps/web/x.tsx"] } };
    const [first, ...bodies] = await run.prompt("Please improve the web", [ask, ask].map((call) => ({ text: "I ask.", calls: [call] })).concat({ text: "Done." }));
    return [...wrong(first, []), ...wrong(bodies.at(-1), [...WEB, ...ALWAYS])];
  }],
  ...failing,
];

/** Compacts the context and continues; returns the requests after it. */
const compact = async (run) => {
  const { command, tokens, event } = run.client.compact;
  if (event) {
    const [session] = JSON.parse(run.rulebook("sessions", "--json")).sessions;
    run.hook(event(session.session, run.at));
    return run.prompt("Go on with apps/web/x.tsx and db/schema.sql", [{ text: "Going on." }], true);
  }
  const summary = { text: "<summary>They worked on the web and on tables.</summary>" };
  if (command) {
    await run.prompt(command, [summary, summary], true);
    return run.prompt("Go on with apps/web/x.tsx and db/schema.sql", [{ text: "Going on." }], true);
  }
  await run.prompt("Think about it", [{ text: "I thought a lot.", tokens }, summary], true);
  return run.prompt("Go on with apps/web/x.tsx and db/schema.sql", [{ when: "ummar", ...summary }, { text: "Going on." }], true);
};

if (task === "install") {
  for (const client of chosen) {
    fetch(client.name, client.package);
    if (client.beside) fetch(`${client.name}-beside`, client.beside);
  }
} else {
  let failed = 0;
  for (const client of chosen.filter((client) => !client.needs_proxy)) {
    const started = Date.now();
    console.log(`\n${client.package}`);
    const run = new Run(client);
    for (const [name, check] of [...BEFORE, ...(client.plain ? READS : client.asks ? ASKS : HOOKS), ...AFTER]) {
      const since = Date.now();
      let faults;
      try {
        faults = await check(run);
      } catch (error) {
        faults = [String(error.message)];
      }
      if (!faults) continue;
      failed += faults.length > 0;
      const time = `${((Date.now() - since) / 1000).toFixed(1)} s`;
      console.log(`  ${faults.length ? "FAIL" : "ok  "} ${name.padEnd(32)} ${time.padStart(7)}${faults.map((fault) => `\n         ${fault}`).join("")}`);
    }
    console.log(`  ${((Date.now() - started) / 1000).toFixed(0)} s`);
  }
  console.log(failed ? `\n${failed} failed` : "\nall passed");
  process.exit(failed ? 1 : 0);
}
