// The agents that scripts/e2e runs: their npm packages, the command line for one prompt, and the call that edits a file.
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const write = (file, text) => {
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, typeof text === "string" ? text : JSON.stringify(text, null, 2));
};
const BEFORE = "CREATE TABLE a (id int);";
const EDITED = "CREATE TABLE a (id bigint);";
const schema = (at) => join(at.project, "db/schema.sql");
const patch = (after) => `*** Begin Patch\n*** Update File: db/schema.sql\n@@\n-${BEFORE}\n+${after}\n*** End Patch\n`;

const inOrder = (list) => list.split("<skill>").sort().join("<skill>");
const skillsInOrder = (body) =>
  JSON.parse(JSON.stringify(body), (_, value) => (typeof value === "string" ? value.replace(/(?:\s*<skill>[^]*?<\/skill>)+/, inOrder) : value));

// `at` is {url, home, project, clients}. `run(at, prompt, {again})` is the command line; `again` continues the session.
// `before(at)`: command lines that are run once.
// `calls(at, after)`: the calls that edit a file; `plain` clients send no tools, and `edit(after)` is the text of an edit.
// `shell(command)` and `create(at, file, text)`: the calls that run a command and write a new file.
// `helper`: two calls. The agent starts a sub-agent, and the sub-agent reads a file.
// `options`: options of `rulebook install`. `config`: a file in the home folder that it edits.
// `own`: rule files that the agent reads itself. They must be in the request once, too. `loads`: marks that it has without us.
// `late`: the agent reports its first message without its text, so rules arrive with its first call.
// `asks`: the agent runs no hooks, and this is the tool of our server. `needs_proxy`: only scripts/e2e-proxy runs it.
// `moves`: the agent changes its earlier messages, so the proxy cannot keep the beginning of a request as it was.
// `leaves`: names of files that the agent itself writes in the project.
// `seen`: the part of a request that counts. `settle`: the part that does not depend on a server in the settings.
// `acp`: the command of its ACP mode, and whether it asks the editor before it changes a file.
// `compact`: how the context is compacted. `command` is a prompt that does it, `tokens` an answer after which the agent does it
// itself, `event` an event for the hook of an agent that cannot do it in a single run. `times`: how often a mark is in a request after
// it, if not once.
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
    calls: (at, after = EDITED) => [
      { name: "Read", arguments: { file_path: schema(at) } },
      { name: "Edit", arguments: { file_path: schema(at), old_string: BEFORE, new_string: after } },
    ],
    shell: (command) => ({ name: "Bash", arguments: { command, description: "run" } }),
    create: (at, file, text) => ({ name: "Write", arguments: { file_path: join(at.project, file), content: text } }),
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
    // It offers tools for the resources of any server in its settings, whether that starts or not.
    settle: (body) => ({ ...body, tools: body.tools.filter((tool) => !/mcp_resource/.test(tool.name)) }),
    calls: (at, after = EDITED) => [{ name: "exec_command", arguments: { cmd: `apply_patch <<'EOF'\n${patch(after)}EOF` } }],
    shell: (command) => ({ name: "exec_command", arguments: { cmd: command } }),
    create: (at, file, text) => ({ name: "exec_command", arguments: { cmd: `apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: ${file}\n+${text}\n*** End Patch\nEOF` } }),
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
    // It remembers the tools of a server that no longer starts.
    settle: (body) => ({ ...body, tools: body.tools.filter((tool) => !tool.function.name.startsWith("rulebook")) }),
    // It does not add its own rule when it writes, so Rulebook delivers it.
    own: { ".github/instructions/own-db.instructions.md": '---\napplyTo: "db/**"\n---\nMARK-OWN-DB' },
    run: (at, prompt, { again }) => ["copilot", "--allow-all-tools", ...(again ? ["--continue"] : []), "-p", prompt],
    calls: (at, after = EDITED) => [{ name: "edit", arguments: { path: schema(at), old_str: BEFORE, new_str: after } }],
    helper: (at) => [
      { name: "task", arguments: { agent_type: "explore", name: "look", description: "look", prompt: "Look around" } },
      { name: "view", arguments: { path: join(at.project, "apps/web/x.tsx") } },
    ],
    compact: { command: "/compact" },
  },
  {
    name: "opencode",
    acp: { command: ["opencode", "acp"], asks: false },
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
    calls: (at, after = EDITED) => [{ name: "edit", arguments: { filePath: schema(at), oldString: BEFORE, newString: after } }],
    shell: (command) => ({ name: "bash", arguments: { command, description: "run" } }),
    create: (at, file, text) => ({ name: "write", arguments: { filePath: join(at.project, file), content: text } }),
    helper: (at) => [
      { name: "task", arguments: { subagent_type: "general", description: "look", prompt: "Look around" } },
      { name: "read", arguments: { filePath: join(at.project, "apps/web/x.tsx") } },
    ],
    compact: { tokens: 60000 },
  },
  {
    name: "gemini",
    acp: { command: ["gemini", "--acp", "-m", "gemini-2.5-pro"], asks: true },
    package: "@google/gemini-cli@0.61.0",
    env: (at) => ({ GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: at.url, GEMINI_CLI_TRUST_WORKSPACE: "true" }),
    prepare: (at) => {
      write(join(at.home, ".gemini/settings.json"), { security: { auth: { selectedType: "gemini-api-key" } } });
      // It shows its model the folders of the project.
      write(join(at.project, ".gemini/notes.txt"), "");
    },
    run: (at, prompt, { again }) => ["gemini", "-m", "gemini-2.5-pro", "--approval-mode", "yolo", ...(again ? ["--resume", "latest"] : []), "-p", prompt],
    calls: (at, after = EDITED) => [{ name: "replace", arguments: { file_path: schema(at), instruction: "widen", old_string: BEFORE, new_string: after } }],
    shell: (command) => ({ name: "run_shell_command", arguments: { command } }),
    create: (at, file, text) => ({ name: "write_file", arguments: { file_path: join(at.project, file), content: text } }),
    // Each time it is resumed it repeats the result of a tool, with everything in it. It lists its own skills in any order.
    seen: (body) => skillsInOrder({ ...body, contents: body.contents.map((one) => ({ ...one, parts: [...new Map(one.parts.map((part) => [JSON.stringify(part), part])).values()] })) }),
    // The event announces a compaction that does not happen.
    times: { "-DB": 2 },
    compact: { event: (session) => ({ session_id: session, hook_event_name: "PreCompress", trigger: "manual" }) },
  },
  {
    name: "qwen",
    acp: { command: ["qwen", "--acp", "--auth-type", "openai"], asks: true },
    package: "@qwen-code/qwen-code@0.15.10",
    env: (at) => ({ OPENAI_API_KEY: "none", OPENAI_BASE_URL: `${at.url}/v1`, OPENAI_MODEL: "scripted" }),
    // It rewrites older settings.
    prepare: (at) => write(join(at.project, ".qwen/settings.json"), { $version: 4 }),
    run: (at, prompt, { again }) => ["qwen", "--auth-type", "openai", "--approval-mode", "yolo", ...(again ? ["--continue"] : []), "-p", prompt],
    calls: (at, after = EDITED) => [
      { name: "read_file", arguments: { file_path: schema(at), absolute_path: schema(at) } },
      { name: "edit", arguments: { file_path: schema(at), old_string: BEFORE, new_string: after } },
    ],
    // Resumed, it sends everything that it had compressed.
    times: { "": 2 },
    compact: { command: "/compress" },
  },
  {
    name: "cline",
    package: "cline@3.0.65",
    // Its command line loads every file in .clinerules whole; moved, they are delivered when they apply.
    options: ["--move-rules"],
    loads: ["MARK-CLINE-WEB", "MARK-CLINE-DB"],
    env: () => ({ CLINE_TELEMETRY_DISABLED: "1", CLINE_NO_AUTO_UPDATE: "1", DO_NOT_TRACK: "1" }),
    run: (at, prompt) => ["cline", "--data-dir", join(at.home, "data"), "-P", "openai-compatible", "-m", "scripted", "-k", "none", prompt],
    before: (at) => [["cline", "auth", "openai-compatible", "-k", "none", "-m", "scripted", "-b", `${at.url}/v1`, "--data-dir", join(at.home, "data")]],
    // The context of its first event is ignored: rules arrive with the first call.
    late: true,
    calls: (at, after = EDITED) => [{ name: "editor", arguments: { path: schema(at), old_text: BEFORE, new_text: after } }],
  },
  {
    name: "omp",
    package: "@oh-my-pi/pi-coding-agent@18.2.3 bun@1.4.4",
    env: (at) => ({ PI_NO_TITLE: "1", PI_CODING_AGENT_DIR: join(at.home, ".omp/agent") }),
    prepare: (at) => write(join(at.home, ".omp/agent/models.yml"), `providers:
  scripted:
    baseUrl: ${at.url}/v1
    apiKey: none
    api: openai-completions
    models: [{ id: scripted, name: scripted, reasoning: false, input: [text], cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, contextWindow: 100000, maxTokens: 4000 }]
`),
    run: (at, prompt, { again }) => ["omp", "--model", "scripted/scripted", "--no-lsp", "--auto-approve", "--no-title", ...(again ? ["--continue"] : []), "-p", prompt],
    calls: (at, after = EDITED) => [{ name: "write", arguments: { path: "db/schema.sql", content: `${after}\n` } }],
    compact: { event: (session, at) => ({ event: "session_compact", session, cwd: at.project }) },
    times: { "": 2 },
  },
  {
    name: "pi",
    package: "@mariozechner/pi-coding-agent@0.73.1",
    env: (at) => ({ PI_OFFLINE: "1", PI_SKIP_VERSION_CHECK: "1", PI_CODING_AGENT_DIR: join(at.home, ".pi/agent") }),
    prepare: (at) => write(join(at.home, ".pi/agent/models.json"), { providers: { scripted: {
      baseUrl: `${at.url}/v1`, api: "openai-completions", apiKey: "none",
      models: [{ id: "scripted", name: "scripted", reasoning: false, input: ["text"], contextWindow: 100000, maxTokens: 4000, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } }],
    } } }),
    run: (at, prompt, { again }) => ["pi", "--provider", "scripted", "--model", "scripted", ...(again ? ["--continue"] : []), "-p", prompt],
    calls: (at, after = EDITED) => [{ name: "edit", arguments: { path: "db/schema.sql", edits: [{ oldText: BEFORE, newText: after }] } }],
    compact: { event: (session, at) => ({ event: "session_compact", session, cwd: at.project }) },
    times: { "": 2 },
  },
  {
    name: "goose",
    acp: { command: ["goose", "acp"], asks: true },
    package: "@aaif/goose@0.20.1",
    // It joins and splits its earlier messages.
    moves: true,
    // It has no hooks that add context: its model asks the MCP server.
    asks: "rulebook__rules_for",
    options: ["--user"],
    config: ".config/goose/config.yaml",
    env: (at) => ({
      GOOSE_PROVIDER: "openai", GOOSE_MODEL: "gpt-4o", OPENAI_API_KEY: "none", OPENAI_HOST: at.url, GOOSE_DISABLE_KEYRING: "1", GOOSE_TELEMETRY_ENABLED: "false", GOOSE_MODE: "auto",
    }),
    prepare: (at) => write(join(at.home, ".config/goose/config.yaml"), "GOOSE_MODE: auto\n"),
    run: (at, prompt) => ["goose", "run", "--no-session", "--with-builtin", "developer", "-t", prompt],
    calls: (at, after = EDITED) => [{ name: "edit", arguments: { path: schema(at), before: BEFORE, after } }],
  },
  {
    name: "continue",
    package: "@continuedev/cli@1.5.47",
    env: () => ({ CONTINUE_TELEMETRY_ENABLED: "0", CONTINUE_METRICS_ENABLED: "0", FORCE_NO_TTY: "true" }),
    // It has no hooks, and does not start if an MCP server in its settings is missing: only the proxy delivers rules.
    needs_proxy: true,
    prepare: (at) => write(join(at.home, ".continue/config.yaml"), `name: scripted
version: 0.0.1
schema: v1
models:
  - name: scripted
    provider: openai
    model: scripted
    apiBase: ${at.url}/v1
    apiKey: none
    roles: [chat, edit, apply]
    capabilities: [tool_use]
`),
    run: (at, prompt) => ["cn", "--config", join(at.home, ".continue/config.yaml"), "--auto", "-p", prompt],
    calls: (at, after = EDITED) => [
      { name: "Read", arguments: { filepath: schema(at) } },
      { name: "Edit", arguments: { file_path: schema(at), old_string: BEFORE, new_string: after } },
    ],
  },
  {
    name: "aider",
    package: "aider-chat==0.86.2",
    // What it leaves in the project.
    leaves: /^\.aider\.(chat|input|tags)/,
    // It sends no tools and edits what the model writes as blocks.
    plain: true,
    env: (at) => ({ OPENAI_API_KEY: "none", OPENAI_API_BASE: `${at.url}/v1`, AIDER_ANALYTICS: "false", LITELLM_LOCAL_MODEL_COST_MAP: "True" }),
    run: (at, prompt) => [
      "aider", "--model", "openai/scripted", "--edit-format", "diff", "--no-check-update", "--no-show-release-notes", "--analytics-disable", "--no-show-model-warnings",
      "--yes-always", "--no-gitignore", "--no-auto-commits", "--no-pretty", "--message", prompt, "db/schema.sql",
    ],
    edit: (after = EDITED) => `db/schema.sql\n\`\`\`sql\n<<<<<<< SEARCH\n${BEFORE}\n=======\n${after}\n>>>>>>> REPLACE\n\`\`\`\n`,
  },
];

/** The turns in which a model edits a file; `more` is part of each. */
export const edits = (client, at, after, more = {}) =>
  client.plain
    ? [{ text: `I edit it.\n\n${client.edit(after)}`, plain: true, ...more }]
    : client.calls(at, after).map((call) => ({ text: "I edit it. ", calls: [call], ...more }));
/** A turn without calls. */
export const says = (client, text) => ({ text, plain: client.plain ?? false });
/** Rules that stop a call: by the syntax of what it writes, by its shell line, and by what was done before it. */
export const STOPPING = {
  ".rulebook/rules/code.md": '---\nast: {language: ts, pattern: "new Map($$$)"}\n---\nUse a plain object.\n',
  ".rulebook/rules/shell.md": '---\nforbids: {command: "git push*--force*"}\n---\nNever force.\n',
  ".rulebook/rules/order.md": '---\nrequires: {do: {command: "echo lint*"}, after: {edit: "lib/**"}, before: {command: "touch done*"}}\n---\nLint first.\n',
};
/** The turns of a model whose calls these rules stop, each once, and which corrects itself. */
export const stopped = ({ shell, create }, at) => [
  create(at, "lib/a.ts", "export const a = new Map();"), create(at, "lib/a.ts", "export const a = {};"),
  shell("cd . && 'git' push origin x --force"), shell("touch done.txt"), shell("echo lint"), shell("touch done.txt && echo done"),
].map((call) => ({ text: "Next. ", calls: [call] })).concat({ text: "Finished." });
