// The checks of scripts/e2e-export: real agents read files of a project whose rules were exported for them, and each rule reaches the
// model on exactly the reads that the proof names. The text of each rule is a unique mark.
import { spawnSync } from "node:child_process";
import { mkdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { promptAgent } from "./e2e-agent.mjs";
import { CLIENTS } from "./e2e-clients.mjs";

const E2E = process.env.E2E;
const names = process.argv.slice(2);
const PORT = 18960;

/** The calls that read a file, and the targets that the rules are exported to. Those without `read` cannot express paths. */
const AGENTS = [
  { name: "claude", to: "claude", read: (file) => ({ name: "Read", arguments: { file_path: file } }) },
  { name: "copilot", to: "copilot-cli", read: (file) => ({ name: "view", arguments: { path: file } }) },
  { name: "gemini", to: "gemini", read: (file) => ({ name: "read_file", arguments: { file_path: file } }) },
  { name: "qwen", to: "qwen", read: (file) => ({ name: "read_file", arguments: { file_path: file, absolute_path: file } }) },
  { name: "opencode", to: "opencode", read: (file) => ({ name: "read", arguments: { filePath: file } }) },
  { name: "cline", to: "cline-cli" },
].filter((agent) => names.length === 0 || names.includes(agent.name));

const rule = (header, mark) => `---\n${header}\n---\nMARK-${mark}\n`;
const RULES = {
  ".cursor/rules/always.mdc": rule("alwaysApply: true", "ALWAYS"),
  ".cursor/rules/folder.mdc": rule("globs: src/api/**", "FOLDER"),
  ".cursor/rules/ending.mdc": rule('globs: "**/*.ts"', "ENDING"),
  ".cursor/rules/braces.mdc": rule("globs: src/**/*.{tsx,css}", "BRACES"),
  ".cursor/rules/groups.mdc": rule("globs: /src/**/*.(py|pyi)", "GROUPS"),
  ".cursor/rules/root.mdc": rule("globs: '*.md'", "ROOT"),
  ".cursor/rules/name.mdc": rule("globs: Makefile", "NAME"),
  ".cursor/rules/without.mdc": rule('globs:\n  - "lib/**"\n  - "!lib/gen/**"', "WITHOUT"),
  ".cursor/rules/flat.mdc": rule("globs: db/*", "FLAT"),
  ".cursor/rules/manual.mdc": rule("alwaysApply: false", "MANUAL"),
  "packages/web/.cursor/rules/nested.mdc": rule("globs: pages/*.vue", "NESTED"),
};
/** In this order: each file is read after those before it. Nothing applies to the first. */
const FILES = [
  "other/z.txt", "docs/deep.md", "Makefile/../src/x.rs", "db/old/a.sql", "lib/gen/g.rb", "src/gen.go", "readme.md", "Makefile", "db/a.sql", "lib/l.rb", "src/a.css",
  "src/p.py", "src/api/r.go", "packages/web/pages/p.vue", "packages/web/q.vue", "src/deep/t.ts",
].map((file) => file.replace("Makefile/../", ""));
const ID = /[a-z-]+(?=\.mdc$)/;

/** Runs one prompt in which the model reads all files, and returns the requests. */
const reads = async (agent, client, at, env, folder) => {
  const look = (file) => ({ text: `I look. `, calls: [agent.read(join(at.project, file))] });
  const turns = [...(agent.read ? FILES.map(look) : []), { text: "Done." }];
  const [script, log] = [join(folder, "script.json"), join(folder, "requests.jsonl")];
  const { status, output, requests } = await promptAgent({ client, at, env, port: PORT, turns, prompt: "Please look around", script, log });
  writeFileSync(join(folder, "output.txt"), output);
  if (status !== 0 || requests.length === 0) throw new Error(`${client.name} ended with ${status} after ${requests.length} requests: ${output.slice(-400)}`);
  return requests;
};

const check = async (agent) => {
  const client = CLIENTS.find((client) => client.name === agent.name);
  // Agents compare the paths of files with the canonical path of the project.
  const folder = join(realpathSync(E2E), "export", agent.name);
  rmSync(folder, { recursive: true, force: true });
  const at = { url: `http://127.0.0.1:${PORT}`, home: join(folder, "home"), project: join(folder, "project"), clients: join(E2E, "clients") };
  for (const made of [at.home, at.project, join(folder, "tmp"), join(folder, "own")]) mkdirSync(made, { recursive: true });
  for (const [file, text] of [...FILES.map((file) => [file, "text\n"]), ...Object.entries(RULES)]) {
    mkdirSync(dirname(join(at.project, file)), { recursive: true });
    writeFileSync(join(at.project, file), text);
  }
  const path = [join(at.clients, agent.name, "node_modules/.bin"), process.env.PATH].join(":");
  const env = { PATH: path, HOME: at.home, TMPDIR: join(folder, "tmp"), TERM: "dumb", LANG: "C.UTF-8", ...client.env(at) };
  spawnSync("git", ["init", "--quiet"], { cwd: at.project });
  client.prepare?.(at);
  for (const [program, ...words] of client.before?.(at) ?? []) spawnSync(program, words, { cwd: at.project, env });

  const rulebook = (...words) => {
    const done = spawnSync(join(E2E, "../debug/rulebook"), [...words, "--json"], { cwd: at.project, env: { PATH: process.env.PATH, HOME: join(folder, "own") }, encoding: "utf8" });
    if (done.status !== 0) throw new Error(`rulebook ${words.join(" ")}: ${done.stdout}${done.stderr}`);
    return JSON.parse(done.stdout);
  };
  // What was meant, before anything is written.
  const meant = Object.fromEntries(FILES.map((file) => [file, rulebook("explain", file, "--for", "any").targets[0].stack.map((rule) => rule.source)]));
  const { rules } = rulebook("export", "--from", "cursor", "--to", agent.to);
  const written = rules.filter((rule) => rule.state === "new");
  const faults = written.filter((rule) => rule.proof.files.wider.count + rule.proof.files.narrower.count > 0).map((rule) => `${rule.source} is not proven`);
  const lost = rules.filter((rule) => rule.state === "left-out");
  if (written.length + lost.length !== Object.keys(RULES).length) faults.push("a rule is neither written nor lost");
  // Only the copies are left.
  for (const rules of [".cursor", "packages/web/.cursor"]) rmSync(join(at.project, rules), { recursive: true });
  const wanted = new Set(written.filter((rule) => rule.source.endsWith("always.mdc")).map((rule) => rule.source));
  const bodies = await reads(agent, client, at, env, folder);
  if (agent.read && bodies.length !== FILES.length + 1) faults.push(`${bodies.length} requests, not ${FILES.length + 1}`);
  const wrong = new Set();
  bodies.forEach((body, count) => {
    const file = FILES[count - 1];
    if (file) for (const source of meant[file]) if (written.some((rule) => rule.source === source)) wanted.add(source);
    const text = JSON.stringify(body);
    for (const [source, rule] of Object.entries(RULES)) {
      const is = text.includes(rule.match(/MARK-[A-Z]+/)[0]);
      if (is === wanted.has(source) || wrong.has(source)) continue;
      // What is there stays there.
      wrong.add(source);
      faults.push(`${source.match(ID)} is ${is ? "" : "not "}there after ${file ?? "the prompt"}`);
    }
  });
  return { faults, written: written.length, lost: lost.map((rule) => rule.source.match(ID)[0]) };
};

let failed = 0;
for (const agent of AGENTS) {
  let result;
  try {
    result = await check(agent);
  } catch (error) {
    result = { faults: [error.message], written: 0, lost: [] };
  }
  failed += result.faults.length > 0;
  console.log(`${result.faults.length ? "FAIL" : "ok  "} ${agent.to.padEnd(12)} ${result.written} written, ${result.lost.length} in the loss report (${result.lost.join(", ")})${result.faults.map((fault) => `\n       ${fault}`).join("")}`);
}
console.log(failed ? `\n${failed} failed` : "\nall passed");
process.exit(failed ? 1 : 0);
