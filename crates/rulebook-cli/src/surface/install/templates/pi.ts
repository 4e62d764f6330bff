// Written by `rulebook install @HOST@`; `rulebook uninstall @HOST@` removes it.
// Asks `rulebook hook @HOST@` about each event and passes its answer to the model. No process starts where `rulebook-node` is installed.
import { spawn } from "node:child_process";

const PROGRAM = @PROGRAM@;

const library = import("rulebook-node").then(({ hook }) => hook, () => undefined);

const run = (event) =>
  new Promise((resolve, reject) => {
    const child = spawn(PROGRAM, ["hook", "@HOST@"], { cwd: event.cwd, stdio: ["pipe", "pipe", "ignore"] });
    // Node keeps the timer of its own `timeout` if the program cannot be started.
    const timer = setTimeout(() => child.kill(), 10000);
    const done = (settle) => (value) => (clearTimeout(timer), settle(value));
    let text = "";
    child.stdout.setEncoding("utf8");
    child.stdout.on("data", (chunk) => (text += chunk));
    child.stdin.on("error", () => {});
    child.on("error", done(reject));
    child.on("close", done(() => resolve(text)));
    child.stdin.end(JSON.stringify(event));
  }).then((text) => (text.trim() ? JSON.parse(text) : {}));

// An answer is {"context": "…", "notice": "…", "deny": "…"} or empty. A failure never stops the agent.
const ask = async (name, ctx, more) => {
  try {
    const session = ctx.sessionManager.getSessionId();
    const { id: model, provider } = ctx.model ?? {};
    const event = { event: name, session, cwd: ctx.cwd, model, provider, ...more };
    const hook = await library;
    const answer = hook ? ((await hook("@HOST@", event)) ?? {}) : await run(event);
    if (answer.notice && ctx.hasUI) ctx.ui.notify(answer.notice, "info");
    return answer;
  } catch {
    return {};
  }
};

export default function (pi) {
  pi.on("before_agent_start", async ({ prompt }, ctx) => {
    const { context } = await ask("before_agent_start", ctx, { prompt });
    if (context) return { message: { customType: "rulebook", content: context, display: false } };
  });
  pi.on("tool_call", async ({ toolName, input }, ctx) => {
    const { deny } = await ask("tool_call", ctx, { toolName, input });
    if (deny) return { block: true, reason: deny };
  });
  pi.on("tool_result", async ({ toolName, input, content, isError }, ctx) => {
    // Of results, only those of Rulebook's own tools are needed.
    const own = toolName.includes("rulebook") ? { content } : {};
    const { context } = await ask("tool_result", ctx, { toolName, input, isError, ...own });
    if (context) return { content: [...content, { type: "text", text: context }] };
  });
  pi.on("session_compact", async (_, ctx) => {
    await ask("session_compact", ctx, {});
  });
}
