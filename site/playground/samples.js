// Examples to start from.
import { EMPTY } from "./state.js";

const file = (path, ...lines) => ({ path, text: `${lines.join("\n")}\n` });
const HOOK = JSON.stringify({ hooks: { UserPromptSubmit: [{ hooks: [{ type: "command", command: "rulebook hook claude ; exit 0", timeout: 10 }] }] } }, null, 2);

export const SAMPLES = [
  {
    name: "Three agents, one repository",
    files: [
      file("CLAUDE.md", "See @AGENTS.md."),
      file("AGENTS.md", "Run `pnpm test` before you finish."),
      file(".cursor/rules/react.mdc", "---", "description: React: components and hooks", "globs: *.tsx, apps/web/**/*.tsx", "alwaysApply: false", "---", "Write function components. No default exports."),
      file(".cursor/rules/api.md", "---", "globs: apps/api/**", "---", "Handlers return a Result, they do not throw."),
      file(".cursor/rules/db.mdc", "---", "description: How to write migrations", "alwaysApply: false", "---", "Never edit an applied migration."),
      file(".github/instructions/tests.instructions.md", "---", "applyTo: '**/*.test.ts'", "---", "One assertion per test."),
      file(".rulebook/rules/no-any.md", "---", "description: TypeScript without any", "condition: ': any\\b'", "---", "Write the type, or `unknown` and narrow it."),
      file(".claude/settings.json", HOOK),
    ],
    tree: ["apps/web/page.tsx", "apps/web/page.test.ts", "apps/api/orders.ts", "db/migrations/001.sql"],
    target: "apps/web/page.tsx", message: "add a search box", stream: "function Search(props: any) { return null }", open: 2,
  },
  {
    name: "Headers that agents misread",
    files: [
      file(".claude/rules/tests.md", "---", "paths: **/*.test.ts", "---", "One assertion per test."),
      file(".cursor/rules/style.mdc", "---", "description: API: handlers", "globs: *.ts, src/**/*.ts", "alwaysApply: false", "---", "Handlers return a Result."),
      file(".clinerules/web.md", "---", "globs: web/**", "---", "Use the design system."),
      file(".github/instructions/dead.instructions.md", "---", "applyTo: 'sorce/**'", "---", "Nobody reads this."),
    ],
    tree: ["src/a.ts", "src/a.test.ts", "web/b.tsx"], target: "src/a.test.ts", open: 0,
  },
  {
    name: "A rule that stops the model",
    files: [
      file(".rulebook/rules/no-todo.md", "---", "description: Finish the work", "condition: 'TODO|FIXME'", "scope: [text, tool]", "---", "Do not leave a note for later: write the code, or say what is missing."),
      file(".rulebook/rules/plan.md", "---", "description: Think first", "condition: 'just hack'", "scope: thinking", "---", "Find the cause before you change code."),
      file(".claude/settings.json", HOOK),
    ],
    tree: ["src/app.ts"], target: "src/app.ts", message: "fix the parser", stream: "function parse() { // TODO: handle errors", open: 0,
  },
  { name: "Nothing", files: [] },
].map((sample) => ({ ...EMPTY, ...sample }));
