// Builds the site: `node build.mjs FOLDER PACKAGE`, where PACKAGE is a folder with the library for WebAssembly.
// Pages work from file://, without a server, and load nothing from elsewhere. A dead link is an error.
import { build } from "esbuild";
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { Markdown, navigation, plainText } from "./markdown.mjs";
import { page } from "./page.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const TOP = dirname(HERE);
const STYLE = "crates/rulebook-cli/src/surface/ui/style.css";
const SPEC = "crates/rulebook/tests/spec";
const [out, engine] = process.argv.slice(2);

const read = (path) => readFileSync(join(TOP, path), "utf8");
const listed = (folder) => readdirSync(join(TOP, folder)).filter((name) => name.endsWith(".md")).sort();

/** The pages by the Markdown file they are made from. */
const PAGES = new Map([
  ["README.md", "index.html"],
  ...listed("docs").map((name) => [`docs/${name}`, name.replace(/md$/, "html")]),
  ...["ARCHITECTURE", "CHANGELOG", "CONTRIBUTING", "SECURITY"].map((name) => [`${name}.md`, `${name.toLowerCase()}.html`]),
  ["bench/README.md", "benchmarks.html"],
  [SPEC, "examples.html"],
  ...listed(SPEC).map((name) => [`${SPEC}/${name}`, `example-${name.replace(/md$/, "html")}`]),
]);

/** The folder of examples has no page of its own: this is one. */
const examples = () => {
  const rows = listed(SPEC).map((name) => `- [${/^# (.*)/.exec(read(`${SPEC}/${name}`))[1]}](${name})`);
  return `# Behaviour in examples\n\nEach page shows files, what an agent knows, and what applies. The pages are tests of the engine and of every library.\n\n${rows.join("\n")}\n`;
};

const dead = [];
/** Where a link of a page leads: to a page, to a file of the site, or nowhere. */
const resolve = (from) => (link) => {
  if (/^[a-z]+:/i.test(link)) return link;
  const [path, anchor] = link.split("#");
  const folder = from === SPEC ? SPEC : posix.dirname(from);
  const file = path ? posix.normalize(posix.join(folder, path)).replace(/\/$/, "") : from;
  if (PAGES.has(file)) {
    wanted.push({ from, link, page: PAGES.get(file), anchor });
    return (path ? PAGES.get(file) : "") + (anchor ? `#${anchor}` : "");
  }
  if (file.startsWith("docs/images/")) return file.slice("docs/".length);
  if (!existsSync(join(TOP, file))) dead.push(`${from}: ${link}`);
  return null;
};
const wanted = [];

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const nav = navigation(read("README.md"), PAGES);
const anchors = new Map();
const index = [];
for (const [file, name] of PAGES) {
  const text = file === SPEC ? examples() : read(file);
  const { html, title, headings } = new Markdown(resolve(file)).render(text);
  anchors.set(name, new Set(headings.map(({ id }) => id)));
  for (const { id, text: heading, body } of headings) index.push([name, id, title, heading, plainText(body)]);
  writeFileSync(join(out, name), page({ name, title, html, headings, nav }));
}
for (const { from, link, page, anchor } of wanted) if (anchor && !anchors.get(page).has(anchor)) dead.push(`${from}: ${link}`);
if (dead.length) throw new Error(`links that lead nowhere:\n${dead.join("\n")}`);

// The index is a script, because a page from file:// cannot fetch.
writeFileSync(join(out, "search-index.js"), `window.SEARCH_INDEX = ${JSON.stringify(index)};\n`);
writeFileSync(join(out, "style.css"), read(STYLE) + readFileSync(join(HERE, "style.css"), "utf8"));
cpSync(join(TOP, "docs/images"), join(out, "images"), { recursive: true });
cpSync(join(TOP, "crates/rulebook-cli/src/surface/ui/icon.svg"), join(out, "icon.svg"));

// The engine is a part of the script, compressed.
const packed = join(out, "engine.gz");
writeFileSync(packed, gzipSync(readFileSync(join(engine, "rulebook_bg.wasm")), { level: 9 }));
await build({
  entryPoints: { site: join(HERE, "site.js"), playground: join(HERE, "playground/main.js") },
  outdir: out,
  bundle: true, minify: true, format: "iife", target: "es2022", logLevel: "warning",
  loader: { ".gz": "binary" },
  alias: { "rulebook-wasm": join(engine, "index.js"), "engine.gz": packed },
  define: { "import.meta.url": '"file:///"' },
});
rmSync(packed);
const html = readFileSync(join(HERE, "playground/body.html"), "utf8");
writeFileSync(join(out, "playground.html"), page({ name: "playground.html", title: "Playground", html, headings: [], nav: [], script: "playground.js" }));
const size = readdirSync(out).reduce((sum, name) => sum + statSync(join(out, name)).size, 0);
console.log(`${PAGES.size + 1} pages, ${index.length} sections, ${(size / 1e6).toFixed(1)} MB: ${out}`);
