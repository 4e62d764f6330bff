// The page under test: the binary that serves it, and the browser.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";
import { environment, shop } from "./demo.mjs";

// Starts `rulebook ui` in the workspace. `url` resolves once it is printed.
export function serve(binary, folder, args = []) {
  const child = spawn(binary, ["ui", "--json", ...args], { cwd: shop(folder), env: environment(folder) });
  child.stderr.on("data", (text) => process.stderr.write(text));
  const url = new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).once("line", (line) => resolve(JSON.parse(line).url));
    child.once("exit", (code) => reject(new Error(`rulebook ui ended with ${code}`)));
  });
  return { url, child, stop: () => child.kill() };
}

export const browse = () =>
  chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync", "--font-render-hinting=none"],
  });
