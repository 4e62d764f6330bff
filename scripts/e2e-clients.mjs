// The agents that scripts/e2e runs: their npm packages, the command line for one prompt, and the call that edits a file.
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const write = (file, text) => {
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, typeof text === "string" ? text : JSON.stringify(text, null, 2));
};
const edit = (at) => ({ path: join(at.project, "db/schema.sql"), before: "CREATE TABLE a (id int);", after: "CREATE TABLE a (id bigint);" });
const patch = "*** Begin Patch\n*** Update File: db/schema.sql\n@@\n-CREATE TABLE a (id int);\n+CREATE TABLE a (id bigint);\n*** End Patch\n";

// `own`: rule files that the agent reads itself. They must be in the request once, too.
// `seen`: the part of a request that counts. `times`: how often a mark is in it after a compaction, if not once.
// `helper`: two calls. The agent starts a sub-agent, and the sub-agent reads a file.
// `at` is {url, home, project, clients}. `run(at, prompt, {again})` is the command line; `again` continues the session.
// `compact`: how the context is compacted. `command` is a prompt that does it, `tokens` an answer after which the agent does it
// itself, `event` an event for the hook of an agent that cannot do it in a single run.
export const CLIENTS = [
  {
    name: "claude",
    package: "@anthropic-ai/claude-code@2.1.197",
    env: (at) => ({
      ANTHROPIC_BASE_URL: at.url, ANTHROPIC_API_KEY: "none", CLAUDE_CONFIG_DIR: join(at.home, ".claude"), IS_SANDBOX: "1",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1", DISABLE_TELEMETRY: "1", DISABLE_ERROR_REPORTING: "1",
    }),
    run: (at, prompt, { again }) => ["claude", "-p", prompt, ...(again ? ["--continue"] : []), "--permission-mode", "bypassPermissions"],
    // It edits only files that it has read, and adds its own rule when it reads one.
    own: { ".claude/rules/own-db.md": '---\npaths: ["db/**"]\n---\nMARK-OWN-DB' },
    calls: (at) => [
      { name: "Read", arguments: { file_path: edit(at).path } },
      { name: "Edit", arguments: { file_path: edit(at).path, old_string: edit(at).before, new_string: edit(at).after } },
    ],
    helper: (at) => [
      { name: "Task", arguments: { subagent_type: "general-purpose", description: "look", prompt: "Look around" } },
      { name: "Read", arguments: { file_path: join(at.project, "apps/web/x.tsx") } },
    ],
    compact: { command: "/compact" },
  },
  {
    name: "codex",
    package: "@openai/codex@0.166.0",
    env: (at) => ({ CODEX_HOME: join(at.home, ".codex"), FAKE_KEY: "none" }),
    prepare: (at) => write(join(at.home, ".codex/config.toml"), `model = "gpt-5"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
model_auto_compact_token_limit = 50000
[analytics]
enabled = false
[features]
plugins = false
[model_providers.scripted]
name = "scripted"
base_url = "${at.url}/v1"
env_key = "FAKE_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false
[projects."${at.project}"]
trust_level = "trusted"
`),
    run: (at, prompt, { again }) => ["codex", "exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", ...(again ? ["resume", "--last"] : []), prompt],
    calls: () => [{ name: "exec_command", arguments: { cmd: `apply_patch <<'EOF'\n${patch}EOF` } }],
    compact: { tokens: 60000 },
  },
  {
    name: "copilot",
    package: "@github/copilot@1.0.102",
    // It also runs the hooks in the file of Claude Code: both are installed, and no rule is delivered twice.
    wired: ["copilot", "claude"],
    env: (at) => ({
      COPILOT_HOME: join(at.home, ".copilot"), COPILOT_OFFLINE: "true", COPILOT_AUTO_UPDATE: "false", COPILOT_ALLOW_ALL: "true",
      COPILOT_PROVIDER_TYPE: "openai", COPILOT_PROVIDER_BASE_URL: `${at.url}/v1`, COPILOT_PROVIDER_API_KEY: "none", COPILOT_MODEL: "scripted",
    }),
    // It does not add its own rule when it writes, so Rulebook delivers it.
    own: { ".github/instructions/own-db.instructions.md": '---\napplyTo: "db/**"\n---\nMARK-OWN-DB' },
    run: (at, prompt, { again }) => ["copilot", "--allow-all-tools", ...(again ? ["--continue"] : []), "-p", prompt],
    calls: (at) => [{ name: "edit", arguments: { path: edit(at).path, old_str: edit(at).before, new_str: edit(at).after } }],
    helper: (at) => [
      { name: "task", arguments: { agent_type: "explore", name: "look", description: "look", prompt: "Look around" } },
      { name: "view", arguments: { path: join(at.project, "apps/web/x.tsx") } },
    ],
    compact: { command: "/compact" },
  },
  {
    name: "opencode",
    package: "opencode-ai@1.18.33",
    // Without its plugin package in both folders it tries to download it, for more than a minute.
    beside: "@opencode-ai/plugin@1.18.33",
    env: (at) => ({
      OPENCODE_CONFIG: join(at.home, "opencode.json"), OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1",
      OPENCODE_DISABLE_LSP_DOWNLOAD: "1", OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
    }),
    prepare: (at) => {
      const model = { name: "scripted", tool_call: true, limit: { context: 50000, output: 4000 } };
      write(join(at.home, "opencode.json"), {
        autoupdate: false, share: "disabled", model: "scripted/scripted", small_model: "scripted/scripted", enabled_providers: ["scripted"],
        permission: { "*": "allow" },
        provider: { scripted: { npm: "@ai-sdk/openai-compatible", name: "scripted", options: { baseURL: `${at.url}/v1`, apiKey: "none" }, models: { scripted: model } } },
      });
      for (const folder of [join(at.home, ".config/opencode"), join(at.project, ".opencode")]) {
        cpSync(join(at.clients, "opencode-beside"), folder, { recursive: true });
      }
    },
    run: (at, prompt, { again }) => ["opencode", "run", ...(again ? ["--continue"] : []), prompt],
    calls: (at) => [{ name: "edit", arguments: { filePath: edit(at).path, oldString: edit(at).before, newString: edit(at).after } }],
    helper: (at) => [
      { name: "task", arguments: { subagent_type: "general", description: "look", prompt: "Look around" } },
      { name: "read", arguments: { filePath: join(at.project, "apps/web/x.tsx") } },
    ],
    compact: { tokens: 60000 },
  },
  {
    name: "gemini",
    package: "@google/gemini-cli@0.61.0",
    env: (at) => ({ GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: at.url, GEMINI_CLI_TRUST_WORKSPACE: "true" }),
    prepare: (at) => write(join(at.home, ".gemini/settings.json"), { security: { auth: { selectedType: "gemini-api-key" } } }),
    run: (at, prompt, { again }) => ["gemini", "-m", "gemini-2.5-pro", "--approval-mode", "yolo", ...(again ? ["--resume", "latest"] : []), "-p", prompt],
    calls: (at) => [{ name: "replace", arguments: { file_path: edit(at).path, instruction: "widen", old_string: edit(at).before, new_string: edit(at).after } }],
    // Each time it is resumed it repeats the result of a tool, with everything in it.
    seen: (body) => ({ ...body, contents: body.contents.map((one) => ({ ...one, parts: [...new Map(one.parts.map((part) => [JSON.stringify(part), part])).values()] })) }),
    // The event announces a compaction that does not happen.
    times: { "-DB": 2 },
    compact: { event: (session) => ({ session_id: session, hook_event_name: "PreCompress", trigger: "manual" }) },
  },
  {
    name: "qwen",
    package: "@qwen-code/qwen-code@0.15.10",
    env: (at) => ({ OPENAI_API_KEY: "none", OPENAI_BASE_URL: `${at.url}/v1`, OPENAI_MODEL: "scripted" }),
    // It rewrites older settings.
    prepare: (at) => write(join(at.project, ".qwen/settings.json"), { $version: 4 }),
    run: (at, prompt, { again }) => ["qwen", "--auth-type", "openai", "--approval-mode", "yolo", ...(again ? ["--continue"] : []), "-p", prompt],
    calls: (at) => [
      { name: "read_file", arguments: { file_path: edit(at).path, absolute_path: edit(at).path } },
      { name: "edit", arguments: { file_path: edit(at).path, old_string: edit(at).before, new_string: edit(at).after } },
    ],
    // Resumed, it sends everything that it had compressed.
    times: { "": 2 },
    compact: { command: "/compress" },
  },
];
