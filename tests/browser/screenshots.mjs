// Takes screenshots of every view, light and dark, for docs/images: `node screenshots.mjs BINARY FOLDER`.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { make, run, work } from "./demo.mjs";
import { browse, serve } from "./page.mjs";

const [binary, into] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "rulebook-demo-"));
make(folder);
work(binary, folder);
mkdirSync(into, { recursive: true });
const server = serve(binary, folder);
const url = await server.url;
const browser = await browse();

const VIEWS = {
  agents: "agents",
  agent: "agents?for=cursor",
  row: "agents?open=.clinerules/api.md#open",
  problems: "problems",
  path: "path?path=apps/web/components/Search.tsx",
  sessions: "sessions",
  session: "session?host=claude&id=7f3c91e2-checkout",
  interrupt: "session?host=proxy&id=c52e-search",
  map: "map",
};

async function shoot(name, view, colorScheme, width, height, prepare) {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme });
  await page.goto(url + view);
  await prepare?.(page);
  await page.screenshot({ path: join(into, `${name}.png`) });
  await page.close();
}

const open = async (page) => {
  for (const summary of (await page.locator(".notice summary, .rulebook-notice summary").all()).slice(0, 1)) await summary.click();
};
for (const colorScheme of ["light", "dark"]) {
  for (const [name, view] of Object.entries(VIEWS)) await shoot(`${name}-${colorScheme}`, view, colorScheme, 1280, 860, open);
}
await shoot("agents-phone", VIEWS.agents, "light", 390, 844);
await shoot("path-phone", VIEWS.path, "dark", 390, 844);
await shoot("session-phone", VIEWS.session, "light", 390, 844, open);
await shoot("map-phone", VIEWS.map, "light", 390, 844);
// The notice, closed and open, on its own page.
const fragment = run(binary, folder, ["prompt", "--path", "apps/web/app/page.tsx", "--notice", "html"]);
const notice = await browser.newPage({ viewport: { width: 620, height: 250 } });
await notice.setContent(`<style>body { font: 15px system-ui; margin: 16px } details { border: 1px solid #dfe3ec; border-left: 4px solid #2f4fc8;
  border-radius: 8px; padding: 8px 14px; margin-bottom: 16px } dt { font-weight: 600; margin-top: 6px } dd { margin: 0; color: #565e73 }</style>${fragment}${fragment}`);
await notice.locator("summary").last().click();
await notice.screenshot({ path: join(into, "notice.png") });
await browser.close();
server.stop();
rmSync(folder, { recursive: true });
