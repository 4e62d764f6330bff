// The page in a real browser: `RULEBOOK=path/to/rulebook node --test`. Nothing here depends on how long something takes.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import http from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { hook, ledger, make, run, shop, work, write } from "./demo.mjs";
import { browse, serve } from "./page.mjs";

const binary = process.env.RULEBOOK;
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const VIEWS = ["agents", "agents?for=claude", "agents?open=.clinerules/api.md", "rule?source=.clinerules/api.md", "path", "path?path=apps/web/components/Search.tsx", "sessions",
  "session?host=claude&id=7f3c91e2-checkout", "session?host=proxy&id=c52e-search&why=1", "map", "map?by=tokens&folder=apps", "map?for=cursor", "problems", "fix",
  "export", "export?from=cursor,cline&to=copilot-vscode", "export?from=cursor&to=claude,windsurf&for=claude", "export?from=nosuch&to=claude"];

const folders = [];
const servers = [];
let browser, folder, url;

function workspace() {
  const made = mkdtempSync(join(tmpdir(), "rulebook-page-"));
  folders.push(made);
  return made;
}

async function start(folder) {
  const server = serve(binary, folder);
  servers.push(server);
  return { url: await server.url, pid: server.child.pid };
}

before(async () => {
  folder = workspace();
  make(folder);
  work(binary, folder);
  [browser, { url }] = await Promise.all([browse(), start(folder)]);
});

after(async () => {
  await browser?.close();
  servers.forEach((server) => server.stop());
  folders.forEach((folder) => rmSync(folder, { recursive: true, force: true }));
});

// Opens a page. The test fails on an error on the console, a dialog, or a request to another server.
async function open(t, address, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  // A safety net: ends a test that would hang.
  page.setDefaultTimeout(300_000);
  const wrong = [];
  page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("dialog", (dialog) => (wrong.push(`dialog: ${dialog.message()}`), dialog.dismiss()));
  page.on("request", (request) => new URL(request.url()).hostname === "127.0.0.1" || wrong.push(request.url()));
  t.after(async () => {
    await context.close();
    assert.deepEqual(wrong, []);
  });
  await page.goto(address);
  return page;
}

for (const colorScheme of ["light", "dark"]) {
  for (const view of VIEWS) {
    test(`${view} is accessible in ${colorScheme}`, async (t) => {
      const page = await open(t, url + view, { colorScheme });
      assert.ok(await page.locator("h1").innerText());
      await page.locator("details").evaluateAll((all) => all.forEach((one) => (one.open = true)));
      // Through the driver: the policy of the page forbids other scripts.
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => window.axe.run());
      const found = violations.filter((one) => ["serious", "critical"].includes(one.impact));
      assert.deepEqual(found.map((one) => [one.id, one.nodes.map((node) => node.html).slice(0, 3)]), []);
    });
  }
}

test("every view fits on a phone", async (t) => {
  for (const view of VIEWS) {
    const page = await open(t, url + view, { viewport: { width: 390, height: 844 } });
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390, view);
  }
});

test("the rules are filtered while typing, and the address follows", async (t) => {
  const page = await open(t, `${url}agents`);
  const ids = () => page.locator("[data-rows] a.file").evaluateAll((all) => all.map((one) => one.title));
  const all = await ids();
  for (const { source } of JSON.parse(run(binary, folder, ["status", "--json"])).rules) assert.ok(all.includes(source), source);
  await page.getByRole("searchbox").pressSequentially("payments");
  await page.waitForURL(/agents\?q=payments$/);
  await page.waitForFunction(() => document.querySelectorAll("[data-rows] a.file").length === 1);
  assert.deepEqual(await ids(), ["packages/payments/.cursor/rules/money.mdc"]);
  await page.getByRole("searchbox").fill("no such rule");
  await page.locator("#live .none").waitFor();
  await page.goto(`${url}agents?for=claude&state=native`);
  assert.deepEqual(await ids(), ["CLAUDE.md"]);
  await page.getByLabel("State").selectOption("added");
  await page.waitForFunction(() => document.querySelectorAll("[data-rows] a.file").length > 1);
});

test("rule and agent meet in the matrix, as `explain` and `status` compute it, and the address names the agent", async (t) => {
  const page = await open(t, `${url}agents`);
  const cell = (path, column) => page.locator("tbody tr", { has: page.locator(`a.file[title='${path}']`) }).locator("td.agent").nth(column);
  const heads = await page.locator(".matrix thead .agent a").evaluateAll((all) => all.map((one) => new URL(one.href).searchParams.get("for")));
  const { agents } = JSON.parse(run(binary, folder, ["explain", ".", "--json"])).targets[0];
  assert.deepEqual(heads.toSorted(), Object.keys(agents).sort());
  assert.match(await cell("CLAUDE.md", heads.indexOf("claude")).innerText(), /✓.*always/s);
  assert.match(await cell(".clinerules/api.md", heads.indexOf("cline")).innerText(), /apps\/api\/\*\*/);
  assert.match(await cell(".clinerules/api.md", heads.indexOf("cursor")).innerText(), /–/);
  await page.getByRole("combobox", { name: "for" }).selectOption("cursor");
  await page.waitForURL(/agents\?for=cursor$/);
  assert.equal(await page.locator(".matrix").first().locator("thead .agent").count(), 1);
  await page.getByRole("link", { name: "Path" }).click();
  await page.waitForURL(/path\?for=cursor$/);
  await page.goBack();
  await page.waitForURL(/agents\?for=cursor$/);
});

test("a row opens in place, and the address can be shared", async (t) => {
  const page = await open(t, `${url}agents`);
  await page.locator("a.file[title='.clinerules/api.md']").click();
  await page.locator("tr.panel").getByText("For each agent").waitFor();
  const shared = await open(t, page.url(), { javaScriptEnabled: false });
  await shared.locator("tr.panel").getByText("For each agent").waitFor();
  await page.goBack();
  await page.waitForFunction(() => !document.querySelector("tr.panel"));
});

test("eighteen rules fit on a laptop's screen", async (t) => {
  const folder = workspace();
  write(folder, ".git/HEAD", "ref: refs/heads/main\n");
  for (let at = 0; at < 40; at++) write(folder, `.clinerules/rule-${at}.md`, `---\npaths: ["src/${at}/**"]\nnonsense: 1\n---\nRule ${at}.\n`);
  const { url } = await start(folder);
  const page = await open(t, `${url}agents`, { viewport: { width: 1366, height: 850 } });
  const visible = await page.locator(".matrix tbody tr").evaluateAll((all) => all.filter((row) => row.getBoundingClientRect().bottom <= innerHeight).length);
  assert.ok(visible >= 18, `${visible} rows`);
});

test("back returns to the list before the filter", async (t) => {
  const page = await open(t, `${url}agents`);
  await page.getByRole("searchbox").pressSequentially("payments");
  await page.waitForURL(/q=payments$/);
  await page.goBack();
  await page.waitForURL(/agents$/);
  await page.waitForFunction(() => document.querySelectorAll("[data-rows] a.file").length > 1);
  assert.equal(await page.getByRole("searchbox").inputValue(), "");
});

test("broken rules are marked, and can be shown alone", async (t) => {
  const page = await open(t, `${url}agents`);
  const { diagnostics } = JSON.parse(run(binary, folder, ["status", "--json"]));
  const broken = new Set(diagnostics.filter((one) => one.severity !== "note").map((one) => one.path));
  const listed = () => page.locator("[data-rows] a.file").evaluateAll((all) => all.map((one) => one.title));
  const wanted = (await listed()).filter((path) => broken.has(path));
  assert.ok(wanted.length);
  assert.equal(await page.locator(".marker.problem, .marker.error").count(), wanted.length);
  await page.getByLabel("Only problems").check();
  await page.waitForURL(/problems=only/);
  await page.waitForFunction((count) => document.querySelectorAll("[data-rows] a.file").length === count, wanted.length);
  assert.deepEqual(await listed(), wanted);
});

// A repository with these files, and its page.
async function page(files) {
  const folder = workspace();
  write(folder, ".git/HEAD", "ref: refs/heads/main\n");
  for (const [path, text] of Object.entries(files)) write(folder, path, text);
  return { folder, ...(await start(folder)) };
}

test("every file of a problem is marked, and all its commands are copied", async (t) => {
  const files = Object.fromEntries(["a", "b", "c"].map((name) => [`.cursor/rules/${name}.md`, `Rule ${name}.\n`]));
  const { url } = await page({ ...files, ".cursor/rules/read.mdc": "---\nalwaysApply: true\n---\nRead.\n" });
  const shown = await open(t, `${url}agents?problems=only`);
  assert.deepEqual(await shown.locator("[data-rows] a.file").evaluateAll((all) => all.map((one) => one.title)), Object.keys(files));
  const commands = await shown.getByRole("button", { name: "Copy 3 commands" }).getAttribute("data-copy");
  assert.deepEqual(commands.split("\n"), Object.keys(files).map((path) => `git mv ${path} ${path}c`));
});

test("a row stays where it is when its rule is switched off", async (t) => {
  const { url } = await page(Object.fromEntries([1, 2, 3, 4, 5, 6].map((at) => [`.clinerules/rule-${at}.md`, `Rule ${at}.\n`])));
  const shown = await open(t, `${url}agents`);
  const rows = () => shown.locator("[data-rows] a.file").evaluateAll((all) => all.map((one) => one.title));
  const before = await rows();
  for (const id of ["rule-2", "rule-3"]) {
    await shown.getByRole("switch", { name: id }).click();
    await shown.locator(`[role=switch][aria-checked=false][aria-label^=${id}]`).waitFor();
  }
  assert.deepEqual(await rows(), before);
});

test("the figures of ten agents are not cut, and the others are counted", async (t) => {
  const used = ["aider", "amp", "claude", "cline", "codex", "continue", "copilot-vscode", "cursor", "gemini", "kiro", "opencode", "qwen"];
  const long = "Use short words in every text that people read. ".repeat(3000);
  const { url } = await page({ "AGENTS.md": long, "CLAUDE.md": `Also. ${long}`, "rulebook.toml": `agents.used = ${JSON.stringify(used)}\n` });
  for (const view of ["agents", "path?path=src/a.ts"]) {
    const shown = await open(t, url + view, { viewport: { width: 1366, height: 850 } });
    const table = shown.locator(".matrix").first();
    assert.equal(await table.locator("thead .agent").count(), 10, view);
    assert.match(await table.locator("thead .more-column").innerText(), /^\+\d$/);
    const cut = await table.locator(".always, .always-label").evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent));
    assert.deepEqual(cut, [], view);
    assert.ok((await table.locator("tbody th").first().boundingBox()).width >= 200, view);
  }
});

test("a narrow screen shows whole paths and patterns where they fit", async (t) => {
  const rule = "---\npaths: src/**\n---\nSource.\n";
  const { url } = await page({ "packages/web/CLAUDE.md": "Web.\n", "packages/cli/CLAUDE.md": "Tool.\n", ".claude/rules/src.md": rule });
  const shown = await open(t, `${url}agents`, { viewport: { width: 390, height: 844 } });
  const names = (await shown.locator("[data-rows] a.file").allInnerTexts()).map((text) => text.replaceAll(/\s/g, ""));
  assert.deepEqual(names.toSorted(), [".claude/rules/src.md", "packages/cli/CLAUDE.md", "packages/web/CLAUDE.md"]);
  const row = shown.locator("[data-rows] tr").filter({ hasText: "src.md" });
  assert.match(await row.innerText(), /src\/\*\*/);
});

test("the map names its agent, and the scale has no zero for a colour", async (t) => {
  const files = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`src/file-${at}.txt`, ""]));
  const { url } = await page({ ...files, ".claude/rules/one.md": "---\npaths: src/file-1.txt\n---\nOne.\n", ".cursor/rules/dead.mdc": "---\nglobs: gone/**\nalwaysApply: false\n---\nDead.\n" });
  const shown = await open(t, `${url}map`);
  assert.equal(await shown.locator("h1").innerText(), "Map for Claude Code");
  const scale = await shown.locator("ul.legend li").allInnerTexts();
  assert.ok(scale.filter((text) => text.includes("up to")).every((text) => !/up to 0\.?0*$/.test(text)), scale.join());
  await shown.getByText("1 other rule has globs that match no file").waitFor();
  await shown.getByRole("navigation", { name: "Agent" }).getByRole("link", { name: "Cursor" }).click();
  await shown.getByRole("heading", { name: "Map for Cursor" }).waitFor();
});

test("a path shows what `explain` shows of an agent, in its order", async (t) => {
  const path = "apps/web/components/Search.tsx";
  for (const agent of ["claude", "cursor", "cline"]) {
    const shown = await open(t, `${url}path?path=${path}&for=${agent}`);
    const text = run(binary, folder, ["explain", path, "--for", agent]);
    const title = text.split("\n").find((line) => line.startsWith(path)).slice(path.length).trim();
    assert.equal(await shown.locator("p.count").first().innerText(), title);
    const { stack } = JSON.parse(run(binary, folder, ["explain", path, "--for", agent, "--json"])).targets[0];
    const rows = await shown.locator(".path-matrix").first().locator("a.file").evaluateAll((all) => all.map((one) => one.title));
    assert.deepEqual(rows.slice(0, stack.length), stack.map((rule) => rule.source), agent);
  }
});

test("the most important problems are those of `status`, each with its effect", async (t) => {
  const page = await open(t, `${url}agents`);
  const { problems } = JSON.parse(run(binary, folder, ["status", "--json"]));
  const shown = await page.locator(".triage .effect").allTextContents();
  assert.deepEqual(shown, problems.slice(0, 3).map((one) => `${one.effect} ${one.command}`.replaceAll("`", "")));
});

test("all problems of `check` are listed by code", async (t) => {
  const page = await open(t, `${url}problems`);
  const { diagnostics } = JSON.parse(run(binary, folder, ["status", "--json"]));
  assert.equal(await page.locator(".problems > li").count(), diagnostics.length);
  const sorted = (codes) => [...new Set(codes)].sort();
  const shown = await page.locator("details.group summary strong").allInnerTexts();
  assert.deepEqual(sorted(shown), sorted(diagnostics.map((one) => one.code)));
});

const stateOf = (id) => JSON.parse(run(binary, folder, ["status", "--json"])).rules.find((rule) => rule.id === id).state;
const toggles = () => readFileSync(join(folder, "home/.local/state/rulebook/toggles.json"), "utf8");

test("a switch writes the toggle of the user, and removes it", async (t) => {
  const page = await open(t, `${url}agents?q=infra`);
  const toggle = page.getByRole("switch", { name: "infra" });
  assert.equal(await toggle.getAttribute("aria-checked"), "true");
  await toggle.click();
  await page.locator("[role=switch][aria-checked=false]").waitFor();
  assert.equal(stateOf("infra"), "disabled");
  assert.match(toggles(), /"infra@copilot"/);
  assert.match(page.url(), /agents\?q=infra$/);
  await page.waitForFunction(() => document.activeElement.getAttribute("role") === "switch");
  await toggle.click();
  await page.locator("[role=switch][aria-checked=true]").waitFor();
  assert.equal(stateOf("infra"), "inactive");
  assert.doesNotMatch(toggles(), /infra/);
});

test("a switch works without script", async (t) => {
  const page = await open(t, `${url}agents?q=infra`, { javaScriptEnabled: false });
  for (const [checked, state] of [["false", "disabled"], ["true", "inactive"]]) {
    await page.getByRole("switch").click();
    await page.locator(`[role=switch][aria-checked=${checked}]`).waitFor();
    assert.equal(stateOf("infra"), state);
    assert.match(page.url(), /agents\?q=infra$/);
  }
});

test("a path is explained exactly as on the command line", async (t) => {
  const page = await open(t, `${url}path`);
  const cases = [
    ["path=apps/web/components/Search.tsx", ["apps/web/components/Search.tsx"]],
    ["path=apps/api/generated/client.ts", ["apps/api/generated/client.ts"]],
    ["path=nowhere/new%20file.tsx", ["nowhere/new file.tsx"]],
    ["message=fix%20packages/ui/src/Grid.tsx", ["--message", "fix packages/ui/src/Grid.tsx"]],
    ["path=docs&message=hello", ["docs", "--message", "hello"]],
    ["path=apps/web/components/Search.tsx&for=cursor", ["apps/web/components/Search.tsx", "--for", "cursor"]],
  ];
  for (const [query, args] of cases) {
    const shown = await page.evaluate(async (address) => (await fetch(address)).text(), `explain.json?${query}`);
    assert.equal(shown, run(binary, folder, ["explain", ...args, "--json"]), query);
  }
});

test("a typed path is completed and explained, and the glob that decides is marked", async (t) => {
  const page = await open(t, `${url}path`);
  const input = page.getByRole("combobox", { name: "Path" });
  await input.pressSequentially("search");
  await page.waitForFunction(() => document.querySelector("#files option")?.value === "apps/api/routes/search.ts");
  await input.fill("apps/web/components/Search.tsx");
  await page.locator(".path-matrix .cell.native", { hasText: "**/*.tsx" }).waitFor();
  await page.getByText("As meant, for any agent").click();
  const path = "apps/web/components/Search.tsx";
  const { stack, inactive } = JSON.parse(run(binary, folder, ["explain", path, "--json"])).targets[0];
  assert.deepEqual(await page.locator("ol.stack a.rule").allInnerTexts(), stack.map((rule) => rule.id));
  const react = page.locator("ol.stack li", { hasText: "react.mdc" });
  assert.deepEqual(await react.locator(".glob").allInnerTexts(), ["**/*.tsx", "**/*.jsx"]);
  assert.deepEqual(await react.locator("mark").allInnerTexts(), ["**/*.tsx"]);
  const ids = (await page.locator(".inactive a.rule").allTextContents()).sort();
  assert.deepEqual(ids, inactive.map((rule) => rule.id).sort());
  const prompt = run(binary, folder, ["prompt", "--path", path]).trimEnd();
  assert.equal(await page.locator(".prompt pre").textContent(), prompt);
  await page.waitForURL(/path\?path=apps%2Fweb%2Fcomponents%2FSearch\.tsx$/);
  await input.fill("/outside");
  await page.getByRole("alert").getByText("outside the root").waitFor();
});

test("the notice is that of the library, closed, and opens to show what matched", async (t) => {
  const page = await open(t, `${url}path?path=apps/web/components/Search.tsx`);
  const html = run(binary, folder, ["prompt", "--path", "apps/web/components/Search.tsx", "--notice", "html"]).trimEnd();
  const notice = page.locator("details.rulebook-notice");
  assert.equal(await notice.evaluate((one) => one.outerHTML), html);
  assert.equal(await notice.locator("dd").first().isVisible(), false);
  await notice.locator("summary").click();
  assert.equal(await notice.locator("dd").first().isVisible(), true);
});

test("the header of a rule is explained line by line, with its files, its rivals and its problems", async (t) => {
  const page = await open(t, `${url}rule?source=.cursor/rules/react.mdc`);
  await page.locator(".line.key", { hasText: "globs" }).getByText("when a file of the request matches").waitFor();
  const [reached] = JSON.parse(run(binary, folder, ["explain", "--rule", "react", "--json"])).rules;
  assert.deepEqual((await page.locator(".files a").allTextContents()).sort(), reached.files);
  await page.locator(".line.key", { hasText: "alwaysApply" }).getByText("does not apply to every request").waitFor();
  // Rules of one id in different formats do not override each other.
  await page.goto(`${url}rule?source=.clinerules/web.md`);
  await page.getByText("It overrides no other rule").waitFor();
  const { diagnostics } = JSON.parse(run(binary, folder, ["status", "--json"]));
  const found = diagnostics.find((one) => one.line > 0);
  await page.goto(`${url}rule?source=${encodeURIComponent(found.path)}`);
  await page.locator(".problems").getByText(found.code).first().waitFor();
});

test("a rule names the one that overrides it", async (t) => {
  const folder = workspace();
  write(folder, ".git/HEAD", "ref: refs/heads/main\n");
  write(folder, ".rulebook/rules/db.md", "Use migrations.\n");
  write(folder, ".cursor/rules/db.mdc", "---\nalwaysApply: true\n---\nUse an ORM.\n");
  const { url } = await start(folder);
  const page = await open(t, `${url}rule?source=.cursor/rules/db.mdc`);
  await page.getByText("Overrides this rule where both apply: .rulebook/rules/db.md decided by priority").waitFor();
});

test("a safe fix is shown with its difference, and applied after a click", async (t) => {
  const folder = workspace();
  write(folder, ".git/HEAD", "ref: refs/heads/main\n");
  write(folder, "src/a.ts", "");
  write(folder, ".clinerules/x.md", "---\npaths: src/**\n---\nBe brief.\n");
  const wanted = JSON.parse(run(binary, folder, ["check", "--fix", "--dry-run", "--json"], undefined, [0, 1])).fixed;
  assert.equal(wanted.length, 1);
  const { url } = await start(folder);
  const page = await open(t, `${url}rule?source=.clinerules/x.md`);
  const before = readFileSync(join(shop(folder), ".clinerules/x.md"), "utf8");
  await page.getByRole("link", { name: "Preview the fix" }).click();
  await page.locator(".diff .added").first().waitFor();
  assert.equal(readFileSync(join(shop(folder), ".clinerules/x.md"), "utf8"), before, "a preview writes nothing");
  write(folder, ".clinerules/x.md", before.replace("src", "lib"));
  await page.getByRole("button", { name: "Apply to 1 file" }).click();
  await page.getByRole("alert").getByText("have changed since").waitFor();
  await page.getByRole("button", { name: "Apply to 1 file" }).click();
  await page.getByRole("heading", { name: "Fixed" }).waitFor();
  assert.match(readFileSync(join(shop(folder), ".clinerules/x.md"), "utf8"), /paths:.*\[?.*lib/s);
  assert.notEqual(readFileSync(join(shop(folder), ".clinerules/x.md"), "utf8"), before.replace("src", "lib"));
});

test("an export is shown before it is written, with the proof per rule, as on the command line", async (t) => {
  const folder = workspace();
  make(folder);
  const { url } = await start(folder);
  const page = await open(t, `${url}export`);
  const rows = () => page.locator(".copies tbody tr").evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.innerText.trim())));
  await page.getByLabel("Copy the rules of").fill("cursor,cline");
  await page.locator("form.choose select").selectOption("copilot-vscode");
  await page.getByRole("button", { name: "Preview" }).click();
  await page.waitForURL(/export\?from=cursor%2Ccline&to=copilot-vscode/);
  const shown = await rows();
  const dry = (args) => JSON.parse(run(binary, folder, ["export", "--from", "cursor,cline", "--to", "copilot-vscode", "--json", ...args]));
  const { rules, files, changes } = dry(["--dry-run"]);
  assert.equal(shown.length, rules.length);
  for (const rule of rules) {
    const row = shown.find(([source]) => source.replaceAll("\n", "") === rule.source);
    if (rule.path) assert.ok(row[1].includes(rule.path), `${row}`);
    if (rule.same) assert.ok(row[2].startsWith(`matches the same ${files} of ${files} files`), `${row}`);
    else if (rule.loss.code === "no-form") assert.equal(row[2].replaceAll("`", ""), rule.loss.message.replaceAll("`", ""));
    else assert.ok(row[2].includes("apply"), `${row}`);
  }
  assert.match(await page.getByRole("status").innerText(), new RegExp(`^${changes.length} files would change`));
  for (const { path } of changes) assert.ok(!existsSync(join(shop(folder), path)), path);
  // A copy that somebody edited is shown with the difference.
  dry([]);
  const copy = changes[0].path;
  write(folder, copy, `${readFileSync(join(shop(folder), copy), "utf8")}<b>Mine</b>\n`);
  await page.reload();
  await page.getByText("was edited").first().click();
  assert.match(await page.locator(".copies pre").first().innerText(), /\+ <b>Mine<\/b>/);
  assert.equal(await page.locator(".copies b").count(), 0);
  const plain = await open(t, page.url(), { javaScriptEnabled: false });
  await plain.getByText("Mine").first().waitFor({ state: "attached" });
});

test("a session that a hook writes appears, and grows", async (t) => {
  const page = await open(t, `${url}sessions`);
  const id = "fresh-session";
  const say = (prompt) => hook(binary, folder, { session_id: id, hook_event_name: "UserPromptSubmit", prompt });
  say("Look at infra/main.tf");
  await page.locator(".session", { hasText: id }).waitFor();
  await page.locator(".session", { hasText: id }).click();
  const notice = page.locator(".notice details", { hasText: "📋 Conditional rules applied: infra" });
  await notice.waitFor();
  assert.equal(await notice.locator(".why").isVisible(), false);
  await notice.locator("summary").click();
  await notice.getByText("infra/main.tf matches infra/**/*.tf").waitFor();
  say("And docs/start.md");
  await page.getByText("And docs/start.md").waitFor();
  assert.equal(await notice.locator(".why").isVisible(), true, "an open notice stays open");
});

test("an interrupt shows the text that matched and the rule that was delivered", async (t) => {
  const page = await open(t, `${url}session?host=proxy&id=c52e-search`);
  assert.deepEqual(await page.locator(".interrupted mark").allInnerTexts(), ["value: any", "as any"]);
  await page.locator(".interrupted summary").first().click();
  await page.getByText("Do not use `any`").first().waitFor();
});

test("everything can be reached with the keyboard", async (t) => {
  const page = await open(t, `${url}agents`);
  await page.keyboard.press("/");
  await page.keyboard.type("infra");
  await page.waitForFunction(() => document.querySelectorAll("[data-rows] a.file").length === 1);
  await page.keyboard.press("ArrowDown");
  await page.waitForFunction(() => document.activeElement.matches("a.file"));
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  assert.equal(outline, "solid");
  await page.keyboard.press("Enter");
  await page.waitForURL(/open=.github/);
  await page.locator("tr.panel").waitFor();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => !document.querySelector("tr.panel"));
  await page.goto(`${url}map`);
  await page.locator(".treemap a").first().focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(/map\?folder=apps/);
  await page.locator(".treemap a[href^=path]").first().focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(/path\?path=apps/);
});

test("markup in files and sessions is shown as text", async (t) => {
  const folder = workspace();
  const evil = "<img src=x onerror=alert(1)>";
  const turned = "\u202Egnp.exe";
  write(folder, ".git/HEAD", "ref: refs/heads/main\n");
  write(folder, `.clinerules/${evil}.md`, `---\npaths: ["**", "<script>alert(2)</script>"]\n---\n<script>alert(3)</script>${turned}\n`);
  write(folder, ".rulebook/rules/x.md", `---\nid: "\\"><svg onload=alert(4)>"\ndescription: "${evil} ${turned}"\n---\n</pre><script>alert(5)</script>\n`);
  write(folder, `.cursor/rules/${"long".repeat(50)}.mdc`, `---\nglobs: ${"x".repeat(3000)}\n---\n${"y".repeat(50000)}\n`);
  write(folder, `${evil}/a.ts`, "");
  hook(binary, folder, { session_id: evil, hook_event_name: "UserPromptSubmit", prompt: `${evil} see '${evil}'/a.ts ${turned}` });
  ledger(folder, "claude", "s", [
    { is: "began", version: 1, host: "claude", session: "s", agent: null, root: shop(folder), at: 1 },
    { is: "interrupted", rule: evil, path: evil, source: evil, text: evil, file: evil, action: evil, at: 2 },
    { is: "tool", name: evil, paths: [evil], command: evil, at: 3 },
    { is: "refused", rule: evil, call: evil }, { is: "failed", what: evil }, { is: "nonsense" },
  ]);
  const { url } = await start(folder);
  const views = ["agents", "map", "sessions", `rule?source=${encodeURIComponent(`.clinerules/${evil}.md`)}`, "rule?source=.rulebook/rules/x.md",
    `path?path=${encodeURIComponent(`${evil}/a.ts`)}&message=${encodeURIComponent(evil)}`, `session?host=claude&why=1&id=${encodeURIComponent(evil)}`,
    "session?host=claude&id=s", `map?folder=${encodeURIComponent(evil)}`, `agents?q=${encodeURIComponent(evil)}&state=${encodeURIComponent(evil)}`];
  for (const view of views) {
    const page = await open(t, url + view, { viewport: { width: 390, height: 844 } });
    assert.equal(await page.locator("img:not([src='icon.svg']), script:not([src='script.js']), main svg[onload]").count(), 0, view);
    assert.equal((await page.content()).includes("\u202E"), false, view);
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390, view);
  }
  const page = await open(t, `${url}agents`);
  await page.getByText(`${evil}.md`).first().waitFor();
  await page.getByRole("switch").first().click();
  await page.locator("[role=switch][aria-checked=false]").waitFor();
});

// Sends a request that a browser would not send.
function request(address, { method = "GET", headers = {}, path } = {}) {
  return new Promise((resolve, reject) => {
    const { hostname, port, pathname } = new URL(address);
    const sent = http.request({ hostname, port, path: path ?? pathname, method, headers }, (answer) => {
      let body = "";
      answer.on("data", (part) => (body += part));
      answer.on("end", () => resolve({ status: answer.statusCode, body, headers: answer.headers }));
    });
    sent.on("error", reject);
    sent.end(method === "POST" ? "id=infra&to=off" : undefined);
  });
}

test("only the address with the token and the right host is answered, and only a form of the page changes anything", async () => {
  const { origin, host, pathname } = new URL(url);
  const form = { "content-type": "application/x-www-form-urlencoded" };
  const refused = [
    ["no token", "/", {}], ["no token", "/agents", {}], ["half a token", `${pathname.slice(0, -9)}/agents`, {}],
    ["a wrong token", `/${"0".repeat(48)}/agents`, {}], ["another host", `${pathname}agents`, { headers: { host: "evil.example" } }],
    ["another port", `${pathname}agents`, { headers: { host: "127.0.0.1:1" } }],
    ["no origin", `${pathname}toggle`, { method: "POST", headers: form }],
    ["another origin", `${pathname}toggle`, { method: "POST", headers: { ...form, origin: "http://evil.example" } }],
    ["an opaque origin", `${pathname}toggle`, { method: "POST", headers: { ...form, origin: "null" } }],
  ];
  for (const [why, path, options] of refused) {
    const answer = await request(origin, { path, ...options });
    assert.deepEqual([answer.status, answer.body], [403, "forbidden\n"], why);
  }
  for (const path of [`${pathname}toggle?id=infra&to=off`, `${pathname}toggle`]) {
    assert.equal((await request(origin, { path })).status, 404);
  }
  assert.equal((await request(origin, { path: `${pathname}agents`, method: "DELETE", headers: { origin } })).status, 405);
  assert.equal(stateOf("infra"), "inactive");
  const page = await request(origin, { path: `${pathname}agents`, headers: { host: host.replace("127.0.0.1", "localhost") } });
  assert.equal(page.status, 200);
  assert.match(page.headers["content-security-policy"], /default-src 'none'; script-src 'self'; style-src 'self'/);
  assert.equal(page.headers["set-cookie"], undefined);
});

test("an empty workspace shows what to do", async (t) => {
  const folder = workspace();
  write(folder, ".git/HEAD", "ref: refs/heads/main\n");
  const { url } = await start(folder);
  const rules = await open(t, `${url}agents`);
  await rules.getByText("No rule files yet").waitFor();
  const sessions = await open(t, `${url}sessions`);
  await sessions.getByText("rulebook install claude").waitFor();
  for (const view of ["map", "path"]) assert.ok(await (await open(t, url + view)).locator("h1").innerText());
});

test("five thousand rules and ten thousand events are shown in parts, in little memory", async (t) => {
  const folder = workspace();
  write(folder, ".git/HEAD", "ref: refs/heads/main\n");
  for (let at = 0; at < 5000; at++) {
    write(folder, `.clinerules/area-${at % 50}/rule-${at}.md`, `---\npaths: ["src/area-${at}/**"]\n---\nRule ${at}. ${"Be careful. ".repeat(30)}\n`);
    if (at % 5 === 0) write(folder, `src/area-${at}/main.ts`, "");
  }
  const facts = [{ is: "began", version: 1, host: "claude", session: "long", agent: null, root: shop(folder), at: 1 }];
  for (let at = 1; at < 10000; at++) {
    const path = `src/area-${at % 5000}/main.ts`;
    facts.push(at % 20 === 1 ? { is: "spoke", message: `Do ${at}`, at }
      : at % 3 ? { is: "tool", name: "Read", paths: [path], at }
      : { is: "delivered", rule: `rule-${at}`, source: `.clinerules/rule-${at}.md`, hash: "1", because: `${path} matches x/**`, tokens: 90, at });
  }
  ledger(folder, "claude", "long", facts);
  // Each view is the first request of a program that has just started.
  let url, pid;
  for (const view of ["agents", "session?host=claude&id=long", "sessions", "path?path=src/area-5/main.ts", "map"]) {
    ({ url, pid } = await start(folder));
    const page = await open(t, url + view);
    assert.ok((await page.locator("*").count()) < 5000, view);
  }
  const page = await open(t, `${url}agents`);
  await page.getByRole("searchbox").fill("rule-4999");
  await page.waitForFunction(() => document.querySelectorAll("[data-rows] a.file").length === 1);
  if (existsSync(`/proc/${pid}/status`)) {
    const memory = Number(readFileSync(`/proc/${pid}/status`, "utf8").match(/VmHWM:\s+(\d+)/)[1]) >> 10;
    t.diagnostic(`at most ${memory} MiB`);
    assert.ok(memory < 256, `${memory} MiB`);
  }
});
