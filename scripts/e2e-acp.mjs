// The checks of scripts/e2e-acp: an editor that speaks ACP starts real agents through `rulebook acp`, against a scripted model.
//
//   rules   rules are in the prompt that they apply to, once, and the editor shows the notice
//   stop    a call that a stream rule forbids is not carried out and not shown, and the turn ends with the clean answer
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { CLIENTS, says } from "./e2e-clients.mjs";

const E2E = process.env.E2E;
const names = process.argv.slice(2);
const PORT = 18990;
const RULES = {
  ".rulebook/rules/db.md": "---\npaths: db/**\n---\nMARK-DB\n",
  ".rulebook/rules/always.md": "---\nalwaysApply: true\n---\nMARK-ALWAYS\n",
  ".rulebook/rules/never.md": "---\npaths: other/**\n---\nMARK-NEVER\n",
};
const STREAM = { ".rulebook/rules/ids.md": "---\ncondition: bigint\n---\nMARK-STREAM\n" };
const FILES = { "db/schema.sql": "CREATE TABLE a (id int);\n" };

const count = (text, part) => text.split(part).length - 1;

const CHECKS = {
  rules: {
    rules: RULES,
    prompts: ["Please look at db/schema.sql", "Look at db/schema.sql again"],
    turns: (client) => [says(client, "All done."), says(client, "All done again.")],
    holds: ({ requests, updates }) => {
      const wrong = requests.length === 2 ? [] : [`${requests.length} requests`];
      requests.forEach((body, at) => {
        for (const [mark, wanted] of [["MARK-ALWAYS", 1], ["MARK-DB", 1], ["MARK-NEVER", 0]]) {
          if (count(body, mark) !== wanted) wrong.push(`request ${at + 1}: ${mark} ${count(body, mark)}×`);
        }
      });
      return updates.includes("Conditional rules applied: db") ? wrong : [...wrong, "no notice"];
    },
  },
  stop: {
    rules: STREAM,
    prompts: ["Please change the tables"],
    turns: (client, at) => [...client.calls(at).map((call) => ({ text: "I edit it. ", calls: [call] })), says(client, "It stays as it is."), says(client, "All done.")],
    holds: ({ requests, updates, said, file }, client) =>
      [
        [!requests.some((body) => body.includes("MARK-STREAM")), "the model did not get the rule"],
        [!said.includes("It stays as it is."), "the clean answer was not shown"],
        // An agent that does not ask the editor reports a call when it runs.
        [!client.acp.asks ? false : updates.includes("bigint"), "the editor saw the call"],
        [!client.acp.asks ? false : file.includes("bigint"), "the call was carried out"],
      ].filter(([is]) => is).map(([, fault]) => fault),
  },
};

/** Runs the prompts of a check in one session, as an editor that allows every call. */
const run = async (client, task, { rules, prompts, turns }) => {
  const folder = join(realpathSync(E2E), "acp", `${client.name}-${task}`);
  rmSync(folder, { recursive: true, force: true });
  const at = { url: `http://127.0.0.1:${PORT}`, home: join(folder, "home"), project: join(folder, "project"), clients: join(E2E, "clients") };
  for (const made of [at.home, at.project, join(folder, "tmp")]) mkdirSync(made, { recursive: true });
  for (const [file, text] of Object.entries({ ...FILES, ...rules })) {
    mkdirSync(dirname(join(at.project, file)), { recursive: true });
    writeFileSync(join(at.project, file), text);
  }
  spawnSync("git", ["init", "--quiet"], { cwd: at.project });
  const installed = join(at.clients, client.name);
  const path = [join(installed, "node_modules/.bin"), join(installed, "bin"), process.env.PATH].join(":");
  const env = { PATH: path, HOME: at.home, TMPDIR: join(folder, "tmp"), TERM: "dumb", LANG: "C.UTF-8", ...client.env(at) };
  client.prepare?.(at);
  const [script, log] = [join(folder, "script.json"), join(folder, "model.jsonl")];
  writeFileSync(script, JSON.stringify(turns(client, at)));
  const model = spawn(join(E2E, "../debug/scripted-model"), ["--script", script, "--log", log, "--port", String(PORT)], { stdio: ["ignore", "pipe", "inherit"] });
  await new Promise((resolve) => model.stdout.once("data", resolve));
  const agent = spawn(join(E2E, "../debug/rulebook"), ["acp", "--", ...client.acp.command], { cwd: at.project, env, stdio: ["pipe", "pipe", "ignore"] });
  // A safety net: ends an agent that hangs.
  const timer = setTimeout(() => agent.kill("SIGKILL"), 600_000);
  const ended = new Promise((resolve) => agent.once("close", resolve));
  let [id, rest, updates, said] = [0, "", "", ""];
  const waiting = new Map();
  const send = (message) => agent.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const answers = {
    "session/request_permission": ({ options }) => ({ outcome: { outcome: "selected", optionId: options.find((option) => option.kind.startsWith("allow")).optionId } }),
    "fs/read_text_file": (params) => ({ content: readFileSync(params.path, "utf8") }),
    "fs/write_text_file": (params) => (writeFileSync(params.path, params.content), null),
  };
  const take = (message) => {
    if (!message.method) return waiting.get(message.id)?.(message);
    updates += JSON.stringify(message.params);
    if (message.params?.update?.sessionUpdate === "agent_message_chunk") said += message.params.update.content.text ?? "";
    if (message.id === undefined) return;
    const answer = answers[message.method];
    send(answer ? { id: message.id, result: answer(message.params) } : { id: message.id, error: { code: -32601, message: "unknown" } });
  };
  agent.stdout.on("data", (part) => {
    const lines = (rest + part).split("\n");
    rest = lines.pop();
    lines.filter(Boolean).forEach((line) => take(JSON.parse(line)));
  });
  const ask = async (method, params) => {
    send({ id: ++id, method, params });
    const answer = await Promise.race([new Promise((resolve) => waiting.set(id, resolve)), ended.then(() => ({ error: "the agent ended" }))]);
    if (answer.error) throw new Error(`${method}: ${JSON.stringify(answer.error)}`);
    return answer.result;
  };
  try {
    await ask("initialize", { protocolVersion: 1, clientCapabilities: { fs: { readTextFile: true, writeTextFile: true } } });
    const { sessionId } = await ask("session/new", { cwd: at.project, mcpServers: [] });
    for (const text of prompts) await ask("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  } finally {
    agent.stdin.end();
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 15_000))]);
    agent.kill("SIGKILL");
    clearTimeout(timer);
    await new Promise((resolve) => { model.once("exit", resolve); model.kill(); });
  }
  const logged = readFileSync(log, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
  const requests = logged.filter((request) => request.role === "main").map((request) => JSON.stringify(request.body));
  return { requests, updates, said, file: readFileSync(join(at.project, "db/schema.sql"), "utf8") };
};

let failed = 0;
for (const client of CLIENTS.filter(({ acp, name }) => acp && (names.length === 0 || names.includes(name)))) {
  for (const [task, check] of Object.entries(CHECKS)) {
    let wrong;
    try {
      wrong = check.holds(await run(client, task, check), client);
    } catch (error) {
      wrong = [String(error.message)];
    }
    console.log(`${client.name.padEnd(10)} ${task.padEnd(7)} ${wrong.length === 0 ? "ok" : wrong.join("; ")}`);
    failed += wrong.length;
  }
}
process.exit(failed === 0 ? 0 : 1);
