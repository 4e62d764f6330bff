// The example agents against the scripted model: what they send, print and do. Started by scripts/bindings.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const EXAMPLES = fileURLToPath(new URL("../../examples/", import.meta.url));
const OUT = dirname(process.env.RULEBOOK_NODE);
const AGENTS = {
  typescript: { source: "agent-typescript/agent.ts", command: ["node", join(OUT, "ts/agent.js")] },
  python: { source: "agent-python/agent.py", command: [process.env.PYTHON, join(EXAMPLES, "agent-python/agent.py")] },
};
const FILES = {
  "AGENTS.md": "MARK-ALWAYS",
  ".clinerules/web.md": "---\npaths: ['web/**']\n---\nMARK-WEB",
  ".cursor/rules/db.mdc": "---\ndescription: Database conventions\n---\nMARK-DB",
  ".rulebook/rules/no-any.md": "---\ncondition: ': any\\b'\n---\nMARK-STREAM",
  "web/a.ts": "let a = 1;\n",
};
const call = (name, words) => ({ name, arguments: words });
const SCRIPT = [
  { thinking: "hm", text: "I read. ", calls: [call("read_rule", { name: "rule://db" }), call("read_file", { path: "web/a.ts" })], delta: 3 },
  { text: "Like this: let a: any = 1; and more text that is never shown", delta: 3 },
  { text: "I write. ", calls: [call("write_file", { path: "web/a.ts", content: "let a: any = 2;\n" })], delta: 5 },
  { text: "I write. ", calls: [call("write_file", { path: "web/a.ts", content: "let a: number = 2;\n" })], delta: 5 },
  { text: "Done." },
];

for (const [name, { source, command }] of Object.entries(AGENTS)) {
  test(`the agent in ${name}`, async () => {
    const lines = readFileSync(join(EXAMPLES, source), "utf8").trimEnd().split("\n").length;
    assert(lines < 80, `${source} has ${lines} lines`);
    const top = mkdtempSync(join(tmpdir(), "rulebook-agent-"));
    const root = join(top, "project");
    for (const [path, text] of Object.entries(FILES)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    const [script, log] = [join(top, "script.json"), join(top, "requests.jsonl")];
    writeFileSync(script, JSON.stringify(SCRIPT));
    const model = spawn(process.env.MODEL, ["--script", script, "--log", log], { stdio: ["ignore", "pipe", "inherit"] });
    try {
      const port = await new Promise((resolve) => model.stdout.once("data", (data) => resolve(String(data).trim())));
      const env = { ...process.env, HOME: join(top, "home"), XDG_STATE_HOME: join(top, "state") };
      const done = spawnSync(command[0], [...command.slice(1), `http://127.0.0.1:${port}`, root, "fix web/a.ts"], { env, encoding: "utf8", timeout: 60_000 });
      assert.equal(done.status, 0, done.stderr);
      const shown = done.stdout;
      assert.match(shown, /\[rules: web\]/);
      assert.match(shown, /\[stopped: no-any\]/);
      assert.match(shown, /Done\.\s*$/);
      assert(!shown.includes(": any"), shown);
      const requests = readFileSync(log, "utf8").trim().split("\n").map((line) => JSON.parse(line).body);
      assert.equal(requests.length, 5);
      for (const { messages } of requests) {
        assert.equal(messages[0].role, "system");
        for (const mark of ["MARK-ALWAYS", "MARK-WEB"]) assert.equal(messages[0].content.split(mark).length, 2, mark);
      }
      const all = requests.map((body) => JSON.stringify(body));
      assert(!all[0].includes("MARK-DB") && all[1].includes("MARK-DB"), "the rule:// tool");
      assert.deepEqual(all.map((body) => body.includes("MARK-STREAM")), [false, false, true, true, true], "the retry has the rule");
      assert.equal(readFileSync(join(root, "web/a.ts"), "utf8"), "let a: number = 2;\n", "the stopped call did not run");
      assert(existsSync(join(top, "state")), "the session is kept");
    } finally {
      model.kill();
      rmSync(top, { recursive: true });
    }
  });
}
