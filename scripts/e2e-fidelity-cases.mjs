// The generated cases of scripts/e2e-fidelity: paths, rule files with generated headers, and texts with generated imports. The
// generator is seeded: a seed and a number of rules always give the same files.
import { dirname, join, relative } from "node:path";

let state = 0;
export const seed = (number) => (state = number >>> 0);
const random = () => {
  state = (state + 0x6d2b79f5) >>> 0;
  let t = Math.imul(state ^ (state >>> 15), state | 1);
  t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
};
const mostly = (p, usual, others) => (random() < p ? usual : pick(others));
const below = (n) => Math.floor(random() * n);
const pick = (list) => list[below(list.length)];
const chance = (p) => random() < p;
const times = (min, max, make) => Array.from({ length: min + below(max - min + 1) }, make);
const shuffled = (list) => list.map((one) => [random(), one]).sort(([a], [b]) => a - b).map(([, one]) => one);

/** The text of rule `n`; no mark is the beginning of another. */
export const mark = (n) => `MARK-${String(n).padStart(5, "0")}-`;

const POOL = [
  "a.ts", "A.TS", "b.tsx", "Makefile", ".env", "1.ts", "src/a.ts", "src/b.tsx", "src/index.js", "src/deep/x/c.ts", "src/.hidden/c.ts", "src/a.test.ts", "src/a.d.ts",
  ".github/ci.yml", "lib/src/d.ts", "lib/a.js", "app/[lang]/page.tsx", "app/(group)/page.tsx", "app/page.tsx", "docs/read me.md", "docs/été.md", "docs/guide/a.md",
  "{a,b}.ts", "packages/web/src/e.ts", "packages/web/package.json", "packages/api/src/e.ts", "!x.ts", "#y.ts", "a,b.ts", "~/z.ts", "@scope/x.ts", "src/a+b.ts", "src/a-b_c.ts",
  "日本/語.ts", "src/src/a.ts", "test/a.test.ts", "x'y.ts", "$p.ts", "SRC/a.ts", "src/ab.ts",
];

/** Twenty of them, the common ones always. */
export const paths = () => ["a.ts", "src/a.ts", "src/deep/x/c.ts", "packages/web/src/e.ts", ...shuffled(POOL.slice(7).filter((path) => !["src/deep/x/c.ts", "packages/web/src/e.ts"].includes(path))).slice(0, 16)].sort();

// ---- Patterns and headers.

const WORDS = ["src", "lib", "app", "docs", "packages", "web", "deep", "a", "b", "e", "index", "page", "test", "SRC"];
const ENDS = ["*.ts", "*.tsx", "*.js", "*.md", "*.{ts,tsx}", "*.{js,ts}", "*", "**", "a.ts", "**/*", "*.test.ts", "*.d.ts", "*.*", "?.ts", "[ab].ts", "[!a]*.ts", "[a-c]*"];
const WHOLE = [
  "**/*.ts", "src/**", "**", "*", "**/*", "*.ts", "src/", "src", "src/*", "src/**/*.ts", "./src/**", "/src/**", "src/**/", "**/src/**", "{src,lib}/**", "**/*.{ts,tsx}", "{src/**,lib/**}/*.ts",
  "app/[lang]/**", "app/\\[lang\\]/**", "app/(group)/**", "app/\\(group\\)/**", "!src/**", "!**/*.test.ts", "**/", "**//a.ts", "src//a.ts", "{}", "{}.ts", "*.{}", "{a}.ts", "{a,}.ts", "{,a}.ts", "src/{}",
  "@(a|b).ts", "+(a).ts", "*.@(ts|tsx)", "!(a).ts", "?(a).ts", "docs/read me.md", "docs/*.md", "docs/é*.md", "**/*.MD", "~/**", "~", "#y.ts", "\\#y.ts", "\\!x.ts", "!x.ts", "a,b.ts", "{1..3}.ts",
  "src\\**", "src\\a.ts", "../src/**", "packages/*/src/**", "packages/**/src/*.ts", "**/packages/**", "***", "**.ts", "src**", "src/**.ts", "**/.*", ".*", ".*/**", "**/.env*", "{a,b}/**/*.{ts,js}", "*/a.ts",
  "*/*/*", "src/***/c.ts", "@scope/**", "日本/**", "**/語.ts", "[a]", "[]", "[", "]", "{", "}", "{src,lib", "(src|lib)/**", "src/a+b.ts", "$p.ts", "x'y.ts", "a.ts/", "a.ts/**", "src/deep/../a.ts", "src/./a.ts",
  "Makefile", "makefile", "*akefile", "[[:alpha:]].ts", "src/[!.]*/**", "{{a,b},1}.ts", "**/{a,b}.{ts,tsx}", "**/{*.ts,page.tsx}", "src/{deep,x}/**", "^src/**", "*.ts$", "%src", "&a", "*a", "?", "??.ts", "-", "--", "null", "true", "1", "1.ts",
];
const pattern = () =>
  pick([
    () => pick(WHOLE),
    () => pick(WHOLE),
    () => [...times(0, 3, () => pick(["**", "*", "{src,lib}", "[a-z]*", pick(WORDS), pick(WORDS)])), pick(ENDS)].join("/"),
    () => `${pick(["", "**/", "./", "/", "!", "*", " ", "\\"])}${pick(WORDS)}${pick(["/**", "/*", "", "/", "*", ".*", "/**/*", " ", "?", "{,/**}", "/{a,b}*"])}`,
    () => `${pick(WHOLE)}${pick(["/**", "/*.ts", ",", " ", "/", "*", "\\", "?", " # note", ":", ": x"])}`,
  ])();

const single = (text) => `'${text.replaceAll("'", "''")}'`;
const double = (text) => `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
const quoted = (text) => pick([single, double])(text);
const scalar = (text) => pick([quoted, quoted, (plain) => plain])(text);

/** A value for the key, with what stands before it on its line. */
const value = () =>
  pick([
    ...Array(6).fill(() => ` ${pattern()}`),
    ...Array(6).fill(() => ` ${quoted(pattern())}`),
    ...Array(3).fill(() => times(1, 3, () => `\n  - ${scalar(pattern())}`).join("")),
    () => ` ${quoted(pattern())}${pick([" ", " # note", "# note", "  ", "\t", " x", ","])}`,
    () => ` ${times(2, 3, pattern).join(pick([",", ", ", " ,", " ", ";"]))}`,
    () => ` ${quoted(times(2, 3, pattern).join(pick([",", ", ", " ", "\\n"])))}`,
    () => ` [${times(1, 3, () => quoted(pattern())).join(pick([", ", ",", " , "]))}${pick(["", "", "", ","])}]${pick(["", "", " # note"])}`,
    () => ` [\n${times(1, 3, () => `  ${quoted(pattern())}`).join(",\n")}\n${pick(["", "  "])}]`,
    () => times(1, 3, () => `\n${pick(["  ", "  ", "", "    ", " "])}- ${scalar(pattern())}`).join(""),
    () => times(1, 3, () => `\n  - ${quoted(pattern())}${pick(["", "", " # note", " "])}`).join(""),
    () => `\n  ${scalar(pattern())}`,
    () => ` ${pick(["|", ">", "|-", ">-"])}\n${times(1, 2, () => `  ${pattern()}`).join("\n")}`,
    () => ` ${pick(["", "[]", "''", '""', "null", "~", "true", "false", "3", "{}", "{a: b}", "[3]", "[[src/**]]", "- src/**", "['', 'src/**']", "[null, 'src/**']"])}`,
    () => quoted(pattern()),
    () => `\t${quoted(pattern())}`,
  ])();

const OTHERS = [
  "description: About a thing", "description: a: b", "description: 'quoted'", "name: x", "alwaysApply: true", "alwaysApply: false", "# note", "", "version: 1.0", "title: \"T\"", "tags: [a, b]", "author: @me", "description: |\n  two\n  lines",
  "globs: '**/*.md'", "excludeAgent: 'code-review'", "description:", "priority: 3", "x: [", "- a", "plain words", "description: it's", "description: \"open", "a: 'b' c",
];

/** A header in which `key` names the paths; `also` are the agent's other keys. */
const header = (key, also) => {
  const own = () => `${mostly(0.93, key, [`"${key}"`, `'${key}'`, ` ${key}`, `${key} `, key.toLowerCase(), key[0].toUpperCase() + key.slice(1), also])}:${value()}`;
  const lines = chance(0.6) ? [own()] : shuffled([own(), ...times(1, 2, () => (chance(0.15) ? own() : pick(OTHERS)))]);
  const open = mostly(0.95, "---", ["--- ", "----", "\n---", "\uFEFF---", "--", " ---", "---\n"]);
  const close = mostly(0.95, "---", ["--- ", "----", "...", "", " ---", "---x", "---# T"]);
  const text = `${open}\n${lines.join("\n")}\n${close}\n`;
  return chance(0.05) ? text.replaceAll("\n", "\r\n") : text;
};

/** A rule file for each header; its name has its index in four digits. */
export const written = (headers, { file }) => headers.map((text, n) => ({ path: file(String(n).padStart(4, "0")), text, body: `${text}${mark(n)}\n` }));

export const rules = (count, { key, also, file, refused }) => {
  const found = new Set();
  while (found.size < count) {
    const text = header(key, also);
    if (!refused?.test(text)) found.add(text);
  }
  return written([...found], { file });
};

// ---- Imports.

const BEFORE = ["", "See ", "- ", "> ", "# ", "    ", "\t", "(", "\"", "'", "`", "``", "**", "_", "[x](", "<", "<!-- ", "x", "é", ":", "@", "\\", "| ", "1. ", "a, ", "$", "import "];
const AFTER = ["", " and more", ")", "\"", "'", "`", "``", "**", "_", ">", " -->", ".", ",", ";", "#part", ":12", "?", "!", "\\", " |", "@x", "é", "\t", "…"];
const AROUND = [(line) => `\`\`\`\n${line}\n\`\`\``, (line) => `~~~\n${line}\n~~~`, (line) => `\`open\n${line}`, (line) => `- one\n  ${line}`, (line) => `text\n${line}\ntext`, (line) => `<div>\n${line}\n</div>`];

/** How a file in `folder` may name `path`. */
const reference = (folder, path, root) => {
  const near = relative(folder || ".", path);
  const inside = near.startsWith("..") ? near : `./${near}`;
  return mostly(0.6, pick([near, inside]), [path, join("/", path), join(root, path), `~/${path}`, near.replace(/\.md$/, ""), near.toUpperCase(), near.replace("/", "//"), `${inside.startsWith(".") ? "" : "./"}x/../${near}`, near.replace("/", "\\"), ` ${near}`, `"${near}"`, `<${near}>`, near.replaceAll(" ", "\\ "), encodeURI(near)]);
};
const NAMES = ["part.txt", "part", "PART.MD", "a part.md", "part.mdc", ".part.md", "été.md", "part(1).md", "part.v2.md", "p-_+.md", "part.json", "p'q.md", "[p].md"];

/** Files named `name` in the folders of the paths, and files that they import. */
export const imports = (count, read, name, root) => {
  const folders = new Set([""]);
  for (const path of read) for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) folders.add(folder);
  const texts = [...folders].map((folder) => ({ path: join(folder, name), text: chance(0.5) ? header("globs", "paths") : "" }));
  const cases = texts.map(({ path, text }) => ({ path, text, lines: [] }));
  while (cases.length < count) {
    const from = chance(0.8) ? cases[below(texts.length)] : pick(cases.slice(1));
    const folder = dirname(from.path) === "." ? "" : dirname(from.path);
    const at = join(pick([folder, folder, folder, "parts", join(folder, "parts"), ".parts"]), `p${String(cases.length).padStart(4, "0")}`, mostly(0.6, "part.md", NAMES));
    const line = mostly(0.8, (plain) => plain, AROUND)(`${mostly(0.6, "", BEFORE)}@${reference(folder, at, root)}${mostly(0.7, "", AFTER)}`);
    cases.push({ path: at, text: chance(0.2) ? header("globs", "paths") : "", lines: [], line, from: from.path });
    from.lines.push(line);
  }
  return cases.map((one, n) => ({ path: one.path, text: one.line ? `${one.from}: ${one.line}` : one.text, body: `${one.text}${mark(n)}\n\n${one.lines.join("\n\n")}\n` }));
};

/** The order in which one session reads all of them. */
export const order = (read) => shuffled(read);
