// A realistic workspace: a shop with a web application, a service and shared packages, rules of five agents, and sessions of agents.
// `node demo.mjs FOLDER BINARY` creates one.
import { spawnSync } from "node:child_process";
import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";

const RULES = {
  "CLAUDE.md": "# Acme Shop\n\nA pnpm monorepo: `apps/web` (Next.js), `apps/api` (Fastify), shared packages below `packages/`.\n\n- Run `pnpm check` before you say that something works.\n- Ask before you add a dependency.\n",
  ".rulebook/rules/style.md": "---\ndescription: House style\nalwaysApply: true\n---\nWrite plain English. Prefer small functions and early returns. Name things after what they are, not after what they do to the framework.\n",
  ".rulebook/rules/no-any.md": "---\ndescription: No any in TypeScript\ncondition: '\\bas any\\b|:\\s*any\\b'\nscope: tool:Write(*.ts), tool:Edit(*.ts)\n---\nDo not use `any`. Name the type; where it is truly unknown write `unknown` and narrow it.\n",
  ".rulebook/rules/release.md": "---\nwhen: branch:release/* AND NOT mode:plan\n---\nOn a release branch only fixes go in, each with a line in CHANGELOG.md.\n",
  ".clinerules/web.md": "---\npaths:\n  - apps/web/**\n  - packages/ui/**\n---\nUse server components unless state is needed. Style with the tokens of `packages/ui/tokens.css`; no inline colours. Every component has a story.\n",
  ".clinerules/api.md": "---\npaths: [\"apps/api/**\", \"!apps/api/generated/**\"]\nmode: act\n---\nEvery route has a schema and a test for its error cases. Never log a customer's address.\n",
  ".cursor/rules/react.mdc": "---\ndescription: React conventions\nglobs: **/*.tsx,**/*.jsx\nalwaysApply: false\n---\nHooks at the top. Derive state instead of syncing it. Keys are ids, never indexes.\n",
  ".cursor/rules/db.mdc": "---\ndescription: Database conventions: migrations, naming, transactions\n---\nOne migration a change, forward only. Tables in the plural, snake case.\n",
  ".cursor/rules/legacy.mdc": "---\nglobs: src/legacy/**/*.js\n---\nDo not touch the legacy checkout without a test that pins what it does.\n",
  ".cursor/rules/web.mdc": "---\nglobs: apps/web/**\n---\nUse the app router. (An older copy of the rule for the web application.)\n",
  ".windsurf/rules/tests.md": "---\ntrigger: glob\nglobs: \"**/*.test.ts\"\n---\nOne behaviour a test, named after it. No sleeps; wait for what you expect.\n",
  ".github/instructions/infra.instructions.md": "---\napplyTo: \"infra/**/*.tf\"\n---\nEvery resource is tagged with `team` and `cost-centre`. Plans are reviewed by two people.\n",
  ".github/instructions/docs.instructions.md": "---\napplyTo: \"docs/**\"\ndescription: How we write documentation\n---\nLead with what the reader wants to do. Screenshots have alternative texts.\n",
  ".opencode/rules/review.md": "---\ndescription: How to review\n---\nRead the tests first.\n",
  "packages/payments/.cursor/rules/money.mdc": "---\nglobs: \"**/*.ts\"\n---\nAmounts are integers in minor units. Never a float.\n",
  "rulebook.toml": "[rules]\ndisabled_ids = [\"legacy\"]\n",
  "~/.cursor/rules/style.mdc": "---\nalwaysApply: true\n---\nMy own style: be terse.\n",
  "~/.config/rulebook/rules/me.md": "Explain in two sentences what you are about to change, then change it.\n",
};

const many = (folder, names, ending) => names.map((name) => `${folder}/${name}${ending}`);
const FILES = [
  "package.json", "pnpm-workspace.yaml", "CHANGELOG.md", "README.md",
  ...many("apps/web/app", ["layout", "page", "loading", "cart/page", "checkout/page", "products/page", "account/page"], ".tsx"),
  ...many("apps/web/components", ["Button", "Card", "Header", "Footer", "Price", "Rating", "Search", "Dialog", "Menu"], ".tsx"),
  ...many("apps/web/lib", ["format", "session", "flags", "track"], ".ts"),
  ...many("apps/web/tests", ["cart", "checkout", "search"], ".test.ts"),
  ...many("apps/api/routes", ["orders", "products", "users", "webhooks", "health", "search"], ".ts"),
  ...many("apps/api/generated", ["client", "types", "schemas"], ".ts"),
  ...many("apps/api/tests", ["orders", "users"], ".test.ts"),
  ...many("packages/ui/src", ["Tokens", "Stack", "Grid", "Text", "Icon"], ".tsx"), "packages/ui/tokens.css",
  ...many("packages/payments/src", ["charge", "refund", "ledger", "money"], ".ts"), "packages/payments/src/charge.test.ts",
  ...many("packages/db/migrations", ["0001_users", "0002_orders", "0003_payments"], ".sql"), "packages/db/index.ts",
  ...many("infra/modules/network", ["main", "variables", "outputs"], ".tf"), ...many("infra/modules/database", ["main", "variables"], ".tf"), "infra/main.tf",
  ...many("docs", ["start", "deploy", "architecture", "runbook"], ".md"),
  ...many("scripts", ["seed", "release", "backup"], ".sh"), ...many("assets/img", ["logo", "hero", "empty"], ".svg"),
];

// The folder of the workspace.
export const shop = (folder) => join(folder, "home/acme-shop");

export function write(folder, path, text) {
  const file = path.startsWith("~/") ? join(folder, "home", path.slice(2)) : join(shop(folder), path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

// The environment of every command: nothing of this machine but its programs.
export const environment = (folder) => ({ PATH: process.env.PATH, HOME: join(folder, "home") });

// Runs a command, and returns its output. Other exit codes than these are errors.
export function run(binary, folder, args, input, codes = [0]) {
  const done = spawnSync(binary, args, { cwd: shop(folder), env: environment(folder), input, encoding: "utf8" });
  if (!codes.includes(done.status)) throw new Error(`rulebook ${args.join(" ")}: ${done.status}\n${done.stderr}`);
  return done.stdout;
}

export function make(folder) {
  write(folder, ".git/HEAD", "ref: refs/heads/main\n");
  for (const [path, text] of Object.entries(RULES)) write(folder, path, text);
  for (const path of FILES) write(folder, path, "\n");
}

// Runs a hook with one event.
export function hook(binary, folder, event, host = "claude") {
  return run(binary, folder, ["hook", host], JSON.stringify({ cwd: shop(folder), ...event }));
}

const say = (session_id, prompt) => ({ session_id, hook_event_name: "UserPromptSubmit", prompt });
const use = (session_id, tool_name, tool_input, hook_event_name = "PostToolUse") => ({ session_id, hook_event_name, tool_name, tool_input });

export function work(binary, folder) {
  run(binary, folder, ["install", "claude"]);
  const send = (event, host) => hook(binary, folder, event, host);
  const file = (path) => ({ file_path: join(shop(folder), path) });
  const main = "7f3c91e2-checkout";
  send({ session_id: main, hook_event_name: "SessionStart", source: "startup" });
  send(say(main, "The total on the checkout page is wrong when a coupon is used. Find out why."));
  send(use(main, "Read", file("apps/web/app/checkout/page.tsx")));
  send(use(main, "Read", file("packages/payments/src/charge.ts")));
  send(use(main, "Bash", { command: "pnpm test packages/payments/src/charge.test.ts" }));
  send(say(main, "Good find. Fix it in packages/payments and add a test."));
  send(use(main, "Write", { ...file("packages/payments/src/charge.ts"), content: "export const total = (cart: any) => 0;\n" }, "PreToolUse"));
  send(use(main, "Write", { ...file("packages/payments/src/charge.ts"), content: "export const total = (cart: Cart) => cart.total;\n" }));
  send(use(main, "Write", { ...file("packages/payments/src/charge.test.ts"), content: "test('coupon', () => {});\n" }));
  send({ session_id: main, hook_event_name: "PreCompact" });
  send(say(main, "Now the same for refunds, and look at apps/api/routes/orders.ts."));
  send(use(main, "Read", file("apps/api/routes/orders.ts")));
  send(use(main, "Edit", { ...file("packages/payments/src/refund.ts"), new_string: "export const refund = (amount: Money) => amount;" }));
  const explore = { session_id: main, agent_id: "explore" };
  send({ ...use(main, "Grep", { pattern: "coupon", path: join(shop(folder), "apps/api") }), ...explore });
  send(say("a10b-docs", "Write a page about deploying to docs/deploy.md"), "codex");
  send(use("a10b-docs", "Read", file("docs/deploy.md")), "codex");
  const now = Math.floor(Date.now() / 1000);
  ledger(folder, "proxy", "c52e-search", [
    { is: "began", version: 1, host: "proxy", session: "c52e-search", agent: null, root: shop(folder), at: now - 900 },
    { is: "spoke", message: "Make the search field debounce its requests.", at: now - 895 },
    { is: "delivered", rule: "style", source: ".rulebook/rules/style.md", hash: "1", because: "always on", tokens: 38, at: now - 895 },
    { is: "delivered", rule: "web", source: ".clinerules/web.md", hash: "1", because: "apps/web/components/Search.tsx matches apps/web/**", tokens: 44, at: now - 890 },
    { is: "interrupted", rule: "no-any", path: ".rulebook/rules/no-any.md", source: "tool Write", text: "value: any", file: "apps/web/lib/track.ts", action: "interrupt", at: now - 880 },
    { is: "interrupted", rule: "no-any", path: ".rulebook/rules/no-any.md", source: "tool Write", text: "as any", file: "apps/web/lib/track.ts", action: "remind", at: now - 870 },
    { is: "spoke", message: "Thanks. Show me the difference.", at: now - 600 },
  ]);
}

export function ledger(folder, host, session, lines) {
  const file = join(folder, "home/.local/state/rulebook/sessions", host, session, "main.jsonl");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const last = lines.at(-1).at;
  if (last) utimesSync(file, last, last);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [folder, binary] = process.argv.slice(2);
  make(folder);
  work(binary, folder);
}
