// The page under test: the binary serving it, and the browser looking at it.
import { spawn } from "node:child_process";
import { chromium } from "playwright-core";
import { environment, shop } from "./demo.mjs";

// Starts `rulebook ui` in the workspace; resolves to its address once it is printed.
export function serve(binary, folder, args = []) {
  const child = spawn(binary, ["ui", "--json", ...args], { cwd: shop(folder), env: environment(folder) });
  child.stderr.on("data", (text) => process.stderr.write(text));
  const url = new Promise((resolve, reject) => {
    child.stdout.once("data", (text) => resolve(JSON.parse(text).url));
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
