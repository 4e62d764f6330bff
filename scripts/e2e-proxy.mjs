// The checks of scripts/e2e-proxy: real agents talk to a scripted model through the proxy, with a tap on either side of it.
//
//   same    without rules, every request and every answer passes unchanged
//   rules   a rule for paths is in the request after the file was used, once, and stays in its place
//   stop    the agent does not see a call that a stream rule forbids, and continues from the clean answer
//   order   a syntax rule, a shell rule and a sequence rule each stop one call, which the agent does not see, and the task is finished
//   budget  a model that never obeys is asked four times, and the agent gets its last answer
import { spawn, spawnSync } from "node:child_process";
import { createServer, request } from "node:http";
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { CLIENTS, STOPPING, edits, says, stopped } from "./e2e-clients.mjs";

const E2E = process.env.E2E;
const [names, only] = [process.argv.slice(2).filter((word) => !word.startsWith("--only=")), process.argv.find((word) => word.startsWith("--only="))?.slice(7)];
const [BEFORE, PROXY, AFTER, MODEL] = [18950, 18951, 18952, 18953];

// Agents with the wires they speak.
const named = (name) => CLIENTS.find((client) => client.name === name);
const copilot = (wire, more) => ({ ...named("copilot"), name: `copilot ${wire}`, folder: "copilot", env: (at) => ({ ...named("copilot").env(at), ...more(at) }) });
const AGENTS = [
  named("claude"),
  copilot("chat", () => ({})),
  copilot("responses", () => ({ COPILOT_PROVIDER_WIRE_API: "responses" })),
  copilot("anthropic", (at) => ({ COPILOT_PROVIDER_TYPE: "anthropic", COPILOT_PROVIDER_BASE_URL: at.url })),
  named("codex"),
  named("opencode"),
  ...["gemini", "qwen", "cline", "continue", "goose", "omp", "pi", "aider"].map(named),
].filter((agent) => names.length === 0 || names.includes(agent.folder ?? agent.name));

const FILES = { "db/schema.sql": "CREATE TABLE a (id int);\n", "README.md": "A project.\n" };
const RULES = {
  ".rulebook/rules/db.md": "---\npaths: db/**\n---\nMARK-DB\n",
  ".rulebook/rules/always.md": "---\nalwaysApply: true\n---\nMARK-ALWAYS\n",
  ".rulebook/rules/never.md": "---\npaths: other/**\n---\nMARK-NEVER\n",
};
const STREAM = { ".rulebook/rules/ids.md": "---\ncondition: bigint\n---\nKeep the ids as they are.\n" };

/** Forwards everything, and records it. */
const tap = (port, to) => {
  const seen = [];
  const server = createServer((from, answer) => {
    const one = { method: from.method, path: from.url, headers: from.headers, request: [], answer: [], whole: false };
    seen.push(one);
    const onward = request({ port: to, method: from.method, path: from.url, headers: from.headers }, (back) => {
      one.status = back.statusCode;
      answer.writeHead(back.statusCode, back.headers);
      back.on("data", (part) => { one.answer.push(part); answer.write(part); });
      back.on("end", () => { one.whole = true; answer.end(); });
      back.on("error", () => answer.destroy());
    });
    onward.on("error", () => answer.destroy());
    answer.on("close", () => onward.destroy());
    from.on("data", (part) => { one.request.push(part); onward.write(part); });
    from.on("end", () => onward.end());
  });
  server.on("upgrade", (from, socket) => socket.end("HTTP/1.1 426 Upgrade Required\r\ncontent-length: 0\r\n\r\n"));
  return new Promise((resolve) => server.listen(port, "127.0.0.1", () => resolve({
    stop: () => { server.closeAllConnections(); server.close(); },
    seen: () => seen.map((one) => ({ ...one, request: Buffer.concat(one.request).toString("latin1"), answer: Buffer.concat(one.answer).toString("latin1") })),
  })));
};

const start = async (command, words, options) => {
  const child = spawn(command, words, options);
  await new Promise((resolve, reject) => {
    child.stdout.once("data", resolve);
    child.once("exit", (code) => reject(new Error(`${command} ends with ${code}`)));
  });
  return child;
};

/** Runs an agent; returns what passed on either side of the proxy. */
const run = async (agent, task, rules, turns) => {
  const folder = join(realpathSync(E2E), "proxy", `${agent.name}-${task}`.replaceAll(" ", "-"));
  rmSync(folder, { recursive: true, force: true });
  const at = { url: `http://127.0.0.1:${BEFORE}`, home: join(folder, "home"), project: join(folder, "project"), clients: join(E2E, "clients") };
  for (const made of [at.home, at.project, join(folder, "tmp"), join(folder, "own")]) mkdirSync(made, { recursive: true });
  for (const [file, text] of Object.entries({ ...FILES, ...rules })) {
    mkdirSync(dirname(join(at.project, file)), { recursive: true });
    writeFileSync(join(at.project, file), text);
  }
  spawnSync("git", ["init", "--quiet"], { cwd: at.project });
  const installed = join(at.clients, agent.folder ?? agent.name);
  const path = [join(installed, "node_modules/.bin"), join(installed, "bin"), process.env.PATH].join(":");
  const env = { PATH: path, HOME: at.home, TMPDIR: join(folder, "tmp"), TERM: "dumb", LANG: "C.UTF-8", ...agent.env(at) };
  agent.prepare?.(at);
  for (const [program, ...words] of agent.before?.(at) ?? []) spawnSync(program, words, { cwd: at.project, env });
  const script = join(folder, "script.json");
  writeFileSync(script, JSON.stringify(turns(at)));
  const model = await start(join(E2E, "../debug/scripted-model"), ["--script", script, "--log", join(folder, "model.jsonl"), "--port", String(MODEL)], { stdio: ["ignore", "pipe", "inherit"] });
  const after = await tap(AFTER, MODEL);
  let log = "";
  const proxy = await start(join(E2E, "../debug/rulebook"), ["proxy", "--json", "--listen", `127.0.0.1:${PROXY}`, "--upstream", `http://127.0.0.1:${AFTER}`],
    { cwd: at.project, env: { PATH: process.env.PATH, HOME: join(folder, "own") }, stdio: ["ignore", "pipe", "pipe"] });
  proxy.stderr.on("data", (part) => (log += part));
  const before = await tap(BEFORE, PROXY);
  const [program, ...words] = agent.run(at, "Please change the schema", {});
  const child = spawn(program, words, { cwd: at.project, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const out of [child.stdout, child.stderr]) out.on("data", (part) => (output += part));
  // A safety net: ends an agent that hangs.
  const timer = setTimeout(() => child.kill("SIGKILL"), 600_000);
  const status = await new Promise((resolve) => child.once("close", resolve));
  clearTimeout(timer);
  const seen = { before: before.seen(), after: after.seen(), log, output, status, file: readFileSync(join(at.project, "db/schema.sql"), "utf8"), done: existsSync(join(at.project, "done.txt")) };
  writeFileSync(join(folder, "output.txt"), output);
  writeFileSync(join(folder, "proxy.log"), log);
  writeFileSync(join(folder, "passed.json"), JSON.stringify({ before: seen.before, after: seen.after }, null, 1));
  for (const server of [before, after]) server.stop();
  for (const one of [proxy, model]) await new Promise((resolve) => { one.once("exit", resolve); one.kill(); });
  return seen;
};

// ---- The checks.

const isMain = (one, agent) => one.method === "POST" && (agent.plain || /"tools":\s*\[\s*\{/.test(one.request)) && !one.path.includes("count_tokens");
const count = (text, part) => text.split(part).length - 1;
/** The entries of a conversation without what clients change: cache marks and the form of a single text. */
const entries = (body) => {
  const plain = (value, key) => (key === "content" && typeof value === "string" ? [{ type: "text", text: value }] : value);
  const clean = (value) => JSON.parse(JSON.stringify(value, (key, inner) => (key === "cache_control" ? undefined : plain(inner, key))));
  return clean(body.messages ?? body.input ?? body.contents ?? []).map((entry) => JSON.stringify(entry));
};
const heads = (one) => JSON.stringify(Object.entries(one.headers).filter(([name]) => !["host", "connection"].includes(name)).sort());

const CHECKS = {
  same: {
    rules: {},
    turns: (agent) => (at) => [...edits(agent, at, undefined, { thinking: "Hm." }), says(agent, "All done.")],
    holds: (seen) => {
      const wrong = [];
      if (seen.before.length !== seen.after.length) wrong.push(`${seen.before.length} requests before the proxy, ${seen.after.length} after it`);
      seen.before.forEach((one, at) => {
        const other = seen.after[at];
        if (!other) return;
        for (const key of ["method", "path", "status", "request", "answer"]) if (one[key] !== other[key]) wrong.push(`${one.path}: the ${key} differs`);
        if (heads(one) !== heads(other)) wrong.push(`${one.path}: the headers differ`);
      });
      return wrong;
    },
  },
  rules: {
    rules: RULES,
    turns: (agent) => (at) => [...edits(agent, at), ...edits(agent, at).slice(0, 1), says(agent, "All done.")],
    holds: (seen, agent) => {
      const main = seen.after.filter((one) => isMain(one, agent)).map((one) => one.request);
      const wrong = [];
      if (main.length < (agent.plain ? 1 : 3)) wrong.push(`only ${main.length} requests`);
      main.forEach((body, at) => {
        // A client without tools sends the file with the first message.
        for (const [mark, wanted] of [["MARK-ALWAYS", 1], ["MARK-DB", at === 0 && !agent.plain ? 0 : 1], ["MARK-NEVER", 0]]) {
          if (count(body, mark) !== wanted) wrong.push(`request ${at + 1}: ${mark} ${count(body, mark)}×`);
        }
      });
      for (let at = 1; at < main.length; at++) {
        const [former, later] = [main[at - 1], main[at]].map((body) => entries(JSON.parse(body)));
        const differs = former.findIndex((entry, place) => entry !== later[place]);
        if (differs >= 0 && !agent.moves) wrong.push(`request ${at + 1}: entry ${differs + 1} of ${former.length} differs from before`);
        const standing = (body) => JSON.stringify(JSON.parse(body).system ?? JSON.parse(body).instructions ?? JSON.parse(body).systemInstruction ?? "");
        if (standing(main[at - 1]) !== standing(main[at])) wrong.push(`request ${at + 1}: the system prompt differs`);
      }
      return wrong;
    },
  },
  stop: {
    rules: STREAM,
    turns: (agent) => (at) => [...edits(agent, at, undefined, { thinking: "Hm." }), says(agent, "It stays as it is."), says(agent, "All done.")],
    holds: (seen, agent) => {
      const wrong = [];
      const retries = seen.after.filter((one) => isMain(one, agent) && one.request.includes("<system-interrupt"));
      if (retries.length < 1) wrong.push("no retry with the rule");
      if (seen.before.some((one) => one.answer.includes("bigint"))) wrong.push("the agent saw the call");
      if (seen.before.some((one) => one.request.includes("bigint"))) wrong.push("the agent's conversation has the call");
      if (!seen.file.includes("id int")) wrong.push("the call was carried out");
      if (!seen.output.includes("It stays as it is.")) wrong.push("the agent did not print the clean answer");
      if (!seen.log.includes('"event":"interrupt"')) wrong.push("no interrupt in the log");
      return wrong;
    },
  },
  order: {
    rules: STOPPING,
    turns: (agent) => agent.shell && ((at) => stopped(agent, at)),
    holds: (seen, agent) => {
      const stopped = (event, name) => seen.log.split("\n").filter((line) => line.includes(`"event":"${event}"`) && line.includes(`"${name}`)).length;
      const wrong = [["interrupt", "code"], ["refuse", "shell@"], ["refuse", "order@"]].filter(([event, name]) => stopped(event, name) !== 1).map(([event, name]) => `${name} stopped ${stopped(event, name)} calls`);
      // Their texts are in the agent's prompt: only its calls count.
      if (seen.before.some((one) => isMain(one, agent) && /new Map\(\)|push origin x/.test(one.answer))) wrong.push("the agent saw a call");
      if (!seen.done) wrong.push("the last call was not carried out");
      if (!seen.output.includes("Finished.")) wrong.push("the agent did not print the last answer");
      return wrong;
    },
  },
  budget: {
    rules: STREAM,
    turns: (agent) => (at) => {
      const turns = edits(agent, at);
      const bad = turns.at(-1);
      return [...turns, bad, bad, bad, says(agent, "All done.")];
    },
    holds: (seen, agent) => {
      const wrong = [];
      const [received, sent] = [seen.before, seen.after].map((side) => side.filter((one) => isMain(one, agent)).length);
      if (sent !== received + 3) wrong.push(`${received} requests of the agent, ${sent} of the proxy`);
      if (!seen.log.includes("interrupted as often as allowed")) wrong.push("not in the log");
      // A client without tools ends with the answer.
      if (!agent.plain && !seen.after.some((one) => one.request.includes("<system-reminder reason"))) wrong.push("no reminder");
      if (!seen.file.includes("bigint")) wrong.push("the last answer was not carried out");
      return wrong;
    },
  },
};

let failed = 0;
for (const agent of AGENTS) {
  for (const [task, { rules, turns, holds }] of Object.entries(CHECKS)) {
    if ((only && task !== only) || !turns(agent)) continue;
    let wrong;
    try {
      const seen = await run(agent, task, rules, turns(agent));
      wrong = seen.status === 0 ? holds(seen, agent) : [`ended with ${seen.status}: ${seen.output.slice(-200)}`, ...holds(seen, agent)];
      if (seen.log.includes('"event":"failed"')) wrong.push("the proxy failed");
    } catch (error) {
      wrong = [String(error)];
    }
    console.log(`${agent.name.padEnd(18)} ${task.padEnd(7)} ${wrong.length === 0 ? "ok" : [...new Set(wrong)].slice(0, 6).join("; ")}`);
    failed += wrong.length;
  }
}
process.exit(failed === 0 ? 0 : 1);
