// A small workspace with rules of three agents: what the test opens and the screenshots show.

import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const FILES = {
  ".git/HEAD": "ref: refs/heads/main\n",
  "AGENTS.md": "# Shop\n\nUse pnpm. Write small functions.\n",
  "CLAUDE.md": "@AGENTS.md\n\n@docs/style.md\n",
  "docs/style.md": "Short sentences. See rule://api.\n",
  ".cursor/rules/react.mdc": "---\ndescription: React components\nglobs: apps/web/**/*.tsx\nalwaysApply: false\n---\nWrite function components. See rule://api.\n",
  ".cursor/rules/api.mdc": "---\ndescription: The API\nglobs: apps/api/**/*.ts\nalwaysApply: false\n---\nValidate every input.\n",
  ".cursor/rules/names.md": "---\nglobs: apps/**\n---\nNames are words.\n",
  ".vscode/settings.json": "{\"rulebook.path\": \"./evil\"}\n",
  ".claude/rules/tests.md": "---\npaths: **/*.test.ts\n---\nTest behaviour, not functions.\n",
  ".rulebook/rules/no-any.md": "---\ncondition: \": any\\\\b\"\nscope: tool:edit\n---\nDo not use `any`.\n",
  "apps/web/cart.tsx": "export function Cart(props: any) {\n  return <p>{props.count}</p>;\n}\n",
  "apps/web/shop.tsx": "export const Shop = () => null;\n",
  "apps/api/orders.ts": "export const orders = [];\n",
  "apps/api/orders.test.ts": "import { orders } from \"./orders\";\n",
};

export function makeWorkspace(folder) {
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}
