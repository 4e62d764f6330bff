// `rulebook hook claude` as a script: reads one event and writes the rules that are new to the session.
// `hook-peer.mjs LEDGER [sync]`: with one promise per file, or without promises, which is the fastest way in Node.

import { createHash } from "node:crypto";
import fs from "node:fs";
import { access, readFile, readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { FOLDERS, activate, isRule } from "./rules.mjs";

const CAP = 9500;
const [ledger, mode] = process.argv.slice(2);
const event = JSON.parse(fs.readFileSync(0, "utf8"));

function filesSync(folder) {
  if (!fs.existsSync(folder)) return [];
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesSync(path) : isRule(entry.name) ? [path] : [];
  });
}

async function files(folder) {
  if (!(await access(folder).then(() => true, () => false))) return [];
  const entries = await readdir(folder, { withFileTypes: true });
  const found = await Promise.all(entries.map((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? files(path) : isRule(entry.name) ? [path] : [];
  }));
  return found.flat();
}

const facts = fs.readFileSync(ledger, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
const given = new Set(facts.filter((fact) => fact.is === "delivered").map((fact) => fact.source));
const touched = relative(process.cwd(), event.tool_input.file_path);
const paths = [...new Set([...facts.flatMap((fact) => fact.paths ?? []), touched])];
const active = mode === "sync"
  ? FOLDERS.flatMap(filesSync).map((path) => activate(path, fs.readFileSync(path, "utf8"), paths))
  : await Promise.all((await Promise.all(FOLDERS.map(files))).flat().map(async (path) => activate(path, await readFile(path, "utf8"), paths)));
const fresh = active.filter((rule) => rule && !given.has(rule.path));
let room = CAP;
const blocks = fresh.map((rule) => {
  const block = `<rule from="${rule.path}" because="${rule.matched.join(", ")}">\n${rule.body}\n</rule>`;
  if (block.length > room) return `- ${rule.path}`;
  room -= block.length;
  return block;
});
const lines = [{ is: "tool", name: event.tool_name, paths: [touched] }, ...fresh.map(({ path, body, matched }) => {
  const hash = createHash("sha256").update(body).digest("hex").slice(0, 16);
  return { is: "delivered", rule: path, source: path, hash, because: matched.join(", ") };
})];
fs.appendFileSync(ledger, lines.map((line) => JSON.stringify(line) + "\n").join(""));
if (fresh.length > 0) {
  const additionalContext = blocks.join("\n\n");
  process.stdout.write(JSON.stringify({ hookSpecificOutput: { hookEventName: event.hook_event_name, additionalContext } }) + "\n");
}
