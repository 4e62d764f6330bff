// Reads all files at once, with one promise per file.

import { promises as fs } from "node:fs";
import { join } from "node:path";
import { FOLDERS, activate, evidencePaths, isRule, print } from "./rules.mjs";

async function files(folder) {
  const entries = await fs.readdir(folder, { withFileTypes: true }).catch(() => []);
  const found = await Promise.all(
    entries.map((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? files(path) : isRule(entry.name) ? [path] : [];
    }),
  );
  return found.flat().sort();
}

const paths = evidencePaths(await fs.readFile(process.argv[2], "utf8"));
const found = (await Promise.all(FOLDERS.map(files))).flat();
print(await Promise.all(found.map(async (path) => activate(path, await fs.readFile(path, "utf8"), paths))));
