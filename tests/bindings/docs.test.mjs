// The programs of docs/bindings.md run and print what they should. Started by scripts/bindings.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const HERE = dirname(fileURLToPath(import.meta.url));
const page = readFileSync(join(HERE, "../../docs/bindings.md"), "utf8");
const FILES = {
  ".git/HEAD": "ref: refs/heads/main\n",
  "AGENTS.md": "Two spaces.",
  ".clinerules/web.md": "---\npaths: ['web/**']\n---\nUse React.",
  ".rulebook/rules/no-any.md": "---\ncondition: ': any\\b'\n---\nNo any.",
  "web/a.ts": "",
};
const answers = (shown) => assert.match(shown, /Two spaces\.[^]*Use React\.[^]*\[ ?'web' ?\][^]*AGENTS\.md/);
const watches = (shown) => assert.deepEqual(shown.trim().split("\n"), ["let a", "let a", ": number = 1"]);
/** The languages, with what their programs print. */
const LANGUAGES = {
  js: { file: "example.mjs", program: "node", prints: [answers, (shown) => assert.match(shown, /Use React\./), watches, (shown) => assert.match(shown, /Use React\.[^]*cline native/)] },
  python: { file: "example.py", program: process.env.PYTHON, prints: [answers, watches] },
};

for (const [language, { file, program, prints }] of Object.entries(LANGUAGES)) {
  const blocks = [...page.matchAll(/^```(\w+)\n([^]*?)^```$/gm)].filter(([, word]) => word === language);
  test(`the programs in ${language}`, () => {
    assert.equal(blocks.length, prints.length);
    for (const [at, [, , code]] of blocks.entries()) {
      const root = mkdtempSync(join(tmpdir(), "rulebook-docs-"));
      try {
        for (const [path, text] of Object.entries({ ...FILES, [file]: code })) {
          mkdirSync(dirname(join(root, path)), { recursive: true });
          writeFileSync(join(root, path), text);
        }
        symlinkSync(join(HERE, "node_modules"), join(root, "node_modules"));
        const env = { ...process.env, HOME: join(root, "home"), XDG_STATE_HOME: join(root, "state") };
        const done = spawnSync(program, [file], { cwd: root, env, encoding: "utf8", timeout: 60_000 });
        assert.equal(done.status, 0, done.stderr);
        prints[at](done.stdout);
      } finally {
        rmSync(root, { recursive: true });
      }
    }
  });
}
