// One prompt of a real agent against the scripted model, for scripts/e2e-export and scripts/e2e-fidelity.
import { spawn } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Runs an agent while the model answers with these turns. Returns its status and output, and the requests of its main conversation. */
export const promptAgent = async ({ client, at, env, port, turns, prompt, script, log }) => {
  writeFileSync(script, JSON.stringify(turns));
  rmSync(log, { force: true });
  const model = spawn(join(process.env.E2E, "../debug/scripted-model"), ["--script", script, "--log", log, "--port", String(port)], { stdio: ["ignore", "pipe", "inherit"] });
  await new Promise((resolve, reject) => {
    model.stdout.once("data", resolve);
    model.once("exit", () => reject(new Error("the scripted model did not start")));
  });
  const [program, ...words] = client.run(at, prompt, {});
  const child = spawn(program, words, { cwd: at.project, env, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const out of [child.stdout, child.stderr]) out.on("data", (part) => (output += part));
  // A safety net: ends an agent that hangs.
  const timer = setTimeout(() => child.kill("SIGKILL"), 600_000);
  const status = await new Promise((resolve) => child.once("close", resolve));
  clearTimeout(timer);
  await new Promise((resolve) => { model.once("exit", resolve); model.kill(); });
  const all = readFileSync(log, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
  return { status, output, requests: all.filter((request) => request.role === "main").map((request) => request.body) };
};
