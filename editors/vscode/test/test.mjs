// The extension in a real VS Code: node test.mjs RULEBOOK VSIX CODE_SERVER [IMAGES]
// CODE_SERVER is the entry of code-server (`out/node/entry.js`). Writes screenshots into IMAGES, if given.

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { makeWorkspace } from "./workspace.mjs";

const require = createRequire(new URL("../../../tests/browser/package.json", import.meta.url));
const { chromium } = require("playwright-core");

const [rulebook, vsix, server, images] = process.argv.slice(2).map((path) => resolve(path));
const folder = realpathSync(mkdtempSync(join(tmpdir(), "rulebook-vscode-")));
const [repo, home, data, extensions] = ["shop", "home", "data", "extensions"].map((name) => join(folder, name));
const environment = { PATH: process.env.PATH, HOME: home };
makeWorkspace(repo);
mkdirSync(join(data, "User"), { recursive: true });
mkdirSync(home);

// At first, the program is missing.
writeFileSync(
    join(data, "User/settings.json"),
    JSON.stringify({
      "rulebook.path": join(folder, "missing/rulebook"),
      "workbench.colorTheme": "Default Light Modern",
      "workbench.startupEditor": "none",
      "security.workspace.trust.enabled": false,
      "telemetry.telemetryLevel": "off",
      "workbench.tips.enabled": false,
      "editor.minimap.enabled": false,
      "chat.commandCenter.enabled": false,
      "workbench.secondarySideBar.defaultVisibility": "hidden",
      "window.autoDetectColorScheme": false,
      "remote.autoForwardPorts": false,
    }),
  );

const common = ["--user-data-dir", data, "--extensions-dir", extensions, "--disable-telemetry", "--disable-update-check"];
execFileSync("node", [server, ...common, "--install-extension", vsix], { env: environment, stdio: "inherit" });
const port = 20000 + (process.pid % 20000);
const child = spawn("node", [server, ...common, "--auth", "none", "--bind-addr", `127.0.0.1:${port}`, repo], { env: environment, stdio: "ignore", detached: true });

const run = (...words) => execFileSync(rulebook, words, { cwd: repo, env: environment, encoding: "utf8" });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });

try {
  const page = await browser.newPage({ viewport: { width: 1366, height: 850 } });
  for (let tries = 0; ; tries++) {
    try {
      await page.goto(`http://127.0.0.1:${port}/?folder=${encodeURIComponent(repo)}`);
      break;
    } catch (error) {
      if (tries > 120) throw error;
      await new Promise((done) => setTimeout(done, 500));
    }
  }
  page.setDefaultTimeout(60_000);
  const shot = async (name) => images && (await page.screenshot({ path: join(images, `${name}.png`) }));
  const open = async (file) => {
    await page.keyboard.press("Control+P");
    // The whole path: search by name needs ripgrep.
    await page.locator(".quick-input-widget input").fill(join(repo, file));
    // The row that Enter takes: the list shows files of before until it is filtered.
    await page.locator(".quick-input-list .monaco-list-row.focused", { hasText: file.split("/").pop() }).waitFor();
    await page.keyboard.press("Enter");
    await page.locator(".tab.active", { hasText: file.split("/").pop() }).waitFor();
  };
  const command = async (name) => {
    await page.keyboard.press("F1");
    await page.locator(".quick-input-widget input").fill(`>${name}`);
    await page.locator(".quick-input-list .monaco-list-row", { hasText: name }).first().click();
  };
  // Everything is shown at once: nothing fades in while a picture is taken.
  await page.emulateMedia({ reducedMotion: "reduce" });
  await page.locator(".monaco-workbench").waitFor();
  const THEMES = [["dark", "Dark Modern", "vs-dark"], ["contrast", "Dark High Contrast", "hc-black"], ["light", "Light Modern", "vs"]];
  const themes = async (name) => {
    for (const [suffix, theme, kind] of images ? THEMES : []) {
      await command("Preferences: Color Theme");
      await page.locator(".quick-input-widget input").fill(theme);
      await page.locator(".quick-input-list .monaco-list-row", { hasText: theme }).first().click();
      await page.locator(`.monaco-workbench.${kind}`).waitFor();
      await page.locator(".quick-input-widget").waitFor({ state: "hidden" });
      await page.mouse.move(900, 600);
      await page.waitForTimeout(500);
      await shot(`${name}-${suffix}`);
    }
  };

  // Without the program: one message that says why, a view that says what to do, and a restart that fails in the same way.
  const sidebar = (name) => page.locator(`.activitybar [aria-label*="${name}"]`).first().click({ force: true });
  const toasts = page.locator(".notification-toast");
  const clear = async () => {
    await command("Notifications: Clear All Notifications");
    await toasts.first().waitFor({ state: "hidden" });
  };
  await sidebar("Rulebook");
  await toasts.filter({ hasText: "missing/rulebook" }).waitFor();
  await page.locator(".sidebar", { hasText: "server does not run" }).waitFor();
  await page.waitForTimeout(1000);
  assert.deepEqual(await toasts.allInnerTexts().then((all) => all.filter((text) => /rulebook|server/i.test(text)).length), 1);
  assert.doesNotMatch(await page.locator(".sidebar").innerText(), /No rule files here|No sessions yet/);
  await shot("editor-missing");
  await clear();
  await command("Rulebook: Restart the Server");
  await toasts.filter({ hasText: "is not a file" }).waitFor();
  assert.equal(await page.locator(".monaco-dialog-box").count(), 0);
  // Another program, and then the right one, each chosen as the message says.
  await toasts.getByRole("button", { name: "Choose the Program" }).click();
  const path = page.locator('.settings-editor input[aria-label="rulebook.path"]').first();
  await path.fill("/bin/echo");
  await toasts.filter({ hasText: "is another program" }).waitFor();
  await shot("editor-other-program");
  await path.fill(rulebook);
  // What a rule imports is listed, too, and a problem opens its file.
  await page.locator(".sidebar .monaco-list-row", { hasText: "docs/style.md" }).first().waitFor();
  await shot("editor-rules");
  await command("View: Close All Editors");
  await clear();
  await page.locator(".sidebar .monaco-list-row", { hasText: ".cursor/rules/names.md" }).first().click();
  await page.locator(".tab.active", { hasText: "names.md" }).waitFor();
  await sidebar("Explorer");

  // The diagnostics, and a fix.
  await open(".claude/rules/tests.md");
  await page.locator(".squiggly-error, .squiggly-warning, .squiggly-info").first().waitFor();
  await page.locator(".monaco-editor .view-line", { hasText: "paths:" }).first().click();
  await page.locator(".codicon-light-bulb, .codicon-lightbulb, [class*=lightbulb]").first().waitFor();
  // The editor says that there is nothing to do while the server still reads the file.
  const fix = page.locator(".action-widget", { hasText: "Fix:" });
  for (let tries = 0; !(await fix.isVisible()) && tries < 10; tries++) {
    await page.keyboard.press("Control+.");
    await fix.waitFor({ timeout: 6000 }).catch(() => page.keyboard.press("Escape"));
  }
  await fix.waitFor();
  await shot("editor-fix");
  await page.keyboard.press("Enter");
  await page.locator(".view-line", { hasText: 'paths: "**/*.test.ts"' }).waitFor();
  await page.keyboard.press("Control+S");

  // A glob, hovered, and the hint on the first line.
  await open(".cursor/rules/react.mdc");
  await page.locator(".view-line", { hasText: "reaches 2 files" }).waitFor();
  await page.locator(".view-line", { hasText: "apps/web/**/*.tsx" }).first().hover({ position: { x: 120, y: 8 } });
  await page.locator(".monaco-hover", { hasText: "matches 2 files" }).first().waitFor();
  await page.waitForTimeout(500);
  await shot("editor-hover");
  // The whole hint.
  await page.keyboard.press("Escape");
  await page.locator(".view-line span", { hasText: "reaches 2 files" }).last().hover();
  await page.locator(".monaco-hover", { hasText: "Claude Code: " }).first().waitFor();
  await shot("editor-hint");

  // The view, with the rules for the file in front.
  await sidebar("Rulebook");
  await open("apps/web/cart.tsx");
  await page.locator(".codelens-decoration", { hasText: "apply (" }).first().waitFor();
  await page.locator(".monaco-list-row", { hasText: "react.mdc" }).first().waitFor();
  await page.locator(".monaco-list-row", { hasText: "Cursor does not read" }).first().waitFor();
  await page.mouse.move(900, 600);
  await themes("editor-view");

  // Switching a rule off in the view changes it there and in `explain`.
  const row = page.locator(".monaco-list-row", { hasText: ".cursor/rules/react.mdc" }).first();
  const isDisabled = () => /disabled/.test(run("explain", "apps/web/cart.tsx", "--for", "any"));
  // A click is lost if the tree is drawn again under it.
  for (let tries = 0; !isDisabled() && tries < 5; tries++) {
    await row.hover();
    await row.locator('[aria-label^="Disable for Me"]').click();
    await page.waitForTimeout(1000);
  }
  await page.locator(".monaco-list-row", { hasText: "disabled ·" }).first().waitFor();
  await toasts.filter({ hasText: "these agents still read it: Cursor" }).first().waitFor();
  assert.ok(isDisabled());
  await page.mouse.move(900, 400);
  await shot("editor-disabled");
  await toasts.getByRole("button", { name: "Undo" }).first().click();
  for (let tries = 0; isDisabled() && tries < 20; tries++) await page.waitForTimeout(500);
  assert.ok(!isDisabled());

  // A session of a wired agent appears, with its notice.
  const event = { hook_event_name: "UserPromptSubmit", session_id: "s1", cwd: repo, prompt: "add a total to apps/web/cart.tsx" };
  execFileSync(rulebook, ["hook", "claude"], { cwd: repo, env: environment, input: JSON.stringify(event) });
  await page.locator(".monaco-list-row", { hasText: "add a total" }).first().waitFor();
  await page.locator(".monaco-list-row", { hasText: "2 rules delivered" }).first().waitFor();
  await page.locator(".monaco-list-row", { hasText: ".cursor/rules/react.mdc" }).nth(1).waitFor();
  run("pin", "react");
  await page.locator(".monaco-list-row", { hasText: "pinned · " }).first().waitFor();
  await page.mouse.move(900, 600);
  await themes("editor-session");

  // The explanation.
  await command("Rulebook: Explain the Rules for This File");
  await page.locator(".tab", { hasText: "cart.tsx.rules.txt" }).waitFor();
  await themes("editor-explanation");

  // What a problem means, from its code.
  await open(".claude/rules/tests.md");
  await page.locator(".monaco-editor .view-line", { hasText: "paths:" }).first().click();
  await page.keyboard.press("Control+Z");
  // The file beside it has a problem too.
  await page.locator(".editor-group-container.active").locator(".squiggly-error, .squiggly-warning, .squiggly-info").first().waitFor();
  // The next problem after the start of the file, and not that of another file.
  await page.keyboard.press("Control+Home");
  await page.keyboard.press("F8");
  await page.locator(".marker-widget a.code-link, .marker-widget a", { hasText: "unquoted-value" }).click({ modifiers: ["Control"] });
  await page.locator(".view-line", { hasText: "What to do:" }).first().waitFor();
  await shot("editor-code");

  // The walkthrough.
  await command("Welcome: Open Walkthrough...");
  await page.locator(".quick-input-list .monaco-list-row", { hasText: "Rules of coding agents" }).first().click();
  await page.locator(".getting-started-step", { hasText: "Wire an agent" }).first().waitFor();
  await themes("editor-walkthrough");
  console.log("ok");
} catch (error) {
  const [page] = browser.contexts().flatMap((context) => context.pages());
  await page?.screenshot({ path: join(tmpdir(), "rulebook-vscode-failed.png") });
  throw error;
} finally {
  await browser.close();
  // Its own processes write until they end too.
  process.kill(-child.pid);
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 });
}
