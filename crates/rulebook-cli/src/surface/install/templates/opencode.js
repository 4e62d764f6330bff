// Written by `rulebook install opencode`; `rulebook uninstall opencode` removes it.
// Runs `rulebook hook opencode` for each event and passes its answer to the model.
import { spawn } from "node:child_process";

const PROGRAM = @PROGRAM@;

export const Rulebook = async ({ client, directory }) => {
  // An answer is {"context": "…", "notice": "…", "deny": "…"} or empty. A failure never stops the agent.
  const ask = (event, input, output) =>
    new Promise((resolve) => {
      const child = spawn(PROGRAM, ["hook", "opencode"], {
        cwd: directory,
        stdio: ["pipe", "pipe", "ignore"],
        timeout: 10000,
      });
      let text = "";
      child.stdout.setEncoding("utf8");
      child.stdout.on("data", (chunk) => (text += chunk));
      child.stdin.on("error", () => {});
      child.on("error", () => resolve({}));
      child.on("close", () => {
        try {
          const answer = text.trim() ? JSON.parse(text) : {};
          resolve(answer);
          if (answer.notice) client.tui.showToast({ body: { message: answer.notice, variant: "info" } }).catch(() => {});
        } catch {
          resolve({});
        }
      });
      child.stdin.end(JSON.stringify({ event, directory, input, output }));
    }).catch(() => ({}));

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
