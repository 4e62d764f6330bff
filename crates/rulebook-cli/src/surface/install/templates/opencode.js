// Written by `rulebook install opencode`; `rulebook uninstall opencode` removes it.
// Asks `rulebook hook opencode` about each event and passes its answer to the model. No process starts where `rulebook-node` is installed.
import { spawn } from "node:child_process";

const PROGRAM = @PROGRAM@;

const library = import("rulebook-node").then(({ hook }) => hook, () => undefined);

const run = (event) =>
  new Promise((resolve, reject) => {
    const child = spawn(PROGRAM, ["hook", "opencode"], { cwd: event.directory, stdio: ["pipe", "pipe", "ignore"] });
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

export const Rulebook = async ({ client, directory }) => {
  // An answer is {"context": "…", "notice": "…", "deny": "…"} or empty. A failure never stops the agent.
  const ask = async (name, input, output) => {
    const event = { event: name, directory, input, output };
    try {
      const hook = await library;
      const answer = hook ? ((await hook("opencode", event)) ?? {}) : await run(event);
      if (answer.notice) client.tui.showToast({ body: { message: answer.notice, variant: "info" } }).catch(() => {});
      return answer;
    } catch {
      return {};
    }
  };

  return {
    "chat.message": async (input, output) => {
      const { context } = await ask("chat.message", input, output);
      if (!context) return;
      output.parts.push({
        id: `prt_rulebook${Date.now()}`,
        sessionID: input.sessionID,
        messageID: output.message.id,
        type: "text",
        text: context,
        synthetic: true,
      });
    },
    "tool.execute.before": async (input, output) => {
      const { deny } = await ask("tool.execute.before", input, output);
      if (deny) throw new Error(deny);
    },
    "tool.execute.after": async (input, output) => {
      const { context } = await ask("tool.execute.after", input, output);
      if (context) output.output += `\n\n${context}`;
    },
    event: async ({ event }) => {
      if (event.type === "session.compacted") await ask("session.compacted", event.properties);
    },
  };
};
