// The site from file://, in a real browser: `SITE=folder node --test site.test.mjs`.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { browse } from "./page.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const site = pathToFileURL(`${process.env.SITE}/`).href;
let browser;

before(async () => (browser = await browse()));
after(() => browser?.close());

/** Opens a page. The test fails on an error on the console, or a request to anything but a file of the site. */
const open = async (t, address, options = {}) => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(300_000);
  const wrong = [];
  page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
  page.on("pageerror", (error) => wrong.push(String(error)));
  page.on("request", (request) => request.url().startsWith(site) || wrong.push(request.url()));
  t.after(async () => {
    await context.close();
    assert.deepEqual(wrong, []);
  });
  await page.goto(site + address);
  return page;
};

/** Waits until the playground shows the answer to the last change. */
const answered = (page) => page.waitForFunction(() => document.body.dataset.answer === "shown");
const change = async (page, act) => {
  await act();
  await answered(page);
};

/** Axe finds nothing, and nothing is wider than the page. */
const clean = async (page, name) => {
  // The policy of the page forbids scripts of others, so axe is called from outside it.
  const session = await page.context().newCDPSession(page);
  await session.send("Runtime.evaluate", { expression: axe });
  const { violations } = await page.evaluate(() => axe.run({ preload: false }));
  assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`), [], name);
  const [width, room] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert(width <= room, `${name} is ${width} wide`);
};

for (const colorScheme of ["light", "dark"]) {
  for (const width of [1280, 390]) {
    test(`pages are accessible and fit: ${colorScheme}, ${width}`, async (t) => {
      const page = await open(t, "playground.html", { colorScheme, viewport: { width, height: 800 } });
      await answered(page);
      await clean(page, "playground");
      for (const name of ["index.html", "streams.html", "formats.html", "example-headers.html"]) {
        await page.goto(site + name);
        await clean(page, name);
      }
    });
  }
}

test("every page opens without an error", async (t) => {
  const page = await open(t, "index.html");
  const names = readdirSync(process.env.SITE).filter((name) => name.endsWith(".html"));
  assert(names.length > 40);
  for (const name of names) {
    await page.goto(site + name);
    assert.equal(await page.locator("h1").count(), 1, name);
  }
});

test("search finds sections, by keyboard", async (t) => {
  const page = await open(t, "index.html");
  await page.keyboard.press("/");
  await page.keyboard.type("stream rules scopes");
  const first = page.locator("dialog.search li a").first();
  assert.match(await first.textContent(), /Scopes/);
  await page.keyboard.press("Enter");
  await page.waitForURL(/streams\.html#scopes/);
});

test("the playground answers for each agent, and stops an answer while it is typed", async (t) => {
  const page = await open(t, "playground.html");
  await answered(page);
  const row = page.locator("tr", { hasText: ".cursor/rules/react.mdc" });
  assert.match(await row.textContent(), /added by Rulebook/);
  assert.match(await page.locator("#prompt").textContent(), /Write function components/);
  await change(page, () => page.fill("#target", "db/migrations/001.sql"));
  assert.doesNotMatch(await page.locator("#prompt").textContent(), /Write function components/);
  await change(page, () => page.fill("#stream", ""));
  await page.locator("#stream").pressSequentially("let a: an");
  await page.waitForFunction(() => document.querySelector(".seen pre")?.textContent.startsWith("let a"));
  assert.equal(await page.locator(".interrupt").count(), 0);
  await page.locator("#stream").pressSequentially("y ");
  await page.locator(".interrupt").waitFor();
  assert.match(await page.locator(".interrupt").textContent(), /Stopped by no-any/);
  assert.equal(await page.locator(".seen pre").textContent(), "let a");
  await change(page, () => page.selectOption("#agent", "gemini"));
  assert.match(await page.locator("#whom").textContent(), /Gemini/);
});

test("headers are repaired, and files renamed", async (t) => {
  const page = await open(t, "playground.html");
  await answered(page);
  await change(page, () => page.getByRole("button", { name: "Rename to api.mdc" }).click());
  assert.match(await page.locator("#names").textContent(), /api\.mdc/);
  await change(page, () => page.selectOption("#sample", { label: "Headers that agents misread" }));
  await change(page, () => page.locator("#file").getByRole("button", { name: "Repair the header" }).click());
  assert.equal(await page.inputValue("#text"), '---\npaths: "**/*.test.ts"\n---\nOne assertion per test.\n');
});

test("a link holds the state, and a broken link says so", async (t) => {
  const page = await open(t, "playground.html");
  await answered(page);
  await change(page, () => page.click("#add"));
  await change(page, () => page.fill("#path", "GEMINI.md"));
  await change(page, () => page.fill("#text", "<img src=x onerror=alert(1)> Be brief."));
  assert.match(await page.locator("#prompt").textContent(), /<img src=x/);
  await change(page, () => page.selectOption("#agent", "gemini"));
  const link = await page.evaluate(() => location.href);
  const copy = await open(t, link.slice(site.length));
  await answered(copy);
  assert.match(await copy.inputValue("#text"), /^<img src=x/);
  assert.match(await copy.locator("#matrix").textContent(), /GEMINI\.md.*read by the agent/);
  assert.equal(await copy.inputValue("#agent"), "gemini");
  const broken = await open(t, "playground.html#H4sIAAAAbroken");
  await answered(broken);
  assert.match(await broken.locator("#failed").textContent(), /cannot be read/);
  assert(await broken.locator("#failed").isVisible());
});

test("dropped files are added", async (t) => {
  const page = await open(t, "playground.html");
  await answered(page);
  await page.setInputFiles("#chosen", [{ name: "AGENTS.md", mimeType: "text/markdown", buffer: Buffer.from("Dropped.") }, { name: "logo.png", mimeType: "image/png", buffer: Buffer.from([1]) }]);
  await page.waitForFunction(() => document.querySelector("#tree").value.includes("logo.png"));
  await answered(page);
  assert.match(await page.locator("#prompt").textContent(), /Dropped\./);
});
