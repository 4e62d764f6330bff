// What both peers do with the text of a rule file.

import yaml from "js-yaml";
import picomatch from "picomatch";

export const FOLDERS = [".clinerules", ".cursor/rules", ".rulebook/rules"];
export const isRule = (name) => /\.(md|mdc|txt)$/.test(name);

export function evidencePaths(text) {
  const { mentions = [], openTabs = [], visibleEditors = [], modified = [], tools = [] } = JSON.parse(text);
  return [...mentions, ...openTabs, ...visibleEditors, ...modified, ...tools.map((call) => call.path)];
}

function header(text) {
  const fenced = /^---\r?\n([\s\S]*?)\r?\n---\r?\n?([\s\S]*)$/.exec(text);
  if (!fenced) return { data: {}, body: text };
  const [, head, body] = fenced;
  try {
    return { data: yaml.load(head) ?? {}, body };
  } catch {
    // Cursor's unquoted globs are often not valid YAML.
    const globs = /^globs: (.*)$/m.exec(head);
    return globs ? { data: { globs: globs[1] }, body } : { data: {}, body: text };
  }
}

// Splits at commas outside braces.
const split = (globs) => globs.split(/,(?![^{]*\})/).map((glob) => glob.trim()).filter(Boolean);

export function activate(path, text, paths) {
  const { data, body } = header(text);
  const patterns = data.paths ?? (typeof data.globs === "string" ? split(data.globs) : []);
  if (patterns.length === 0) return { path, body: body.trim(), matched: [] };
  const matched = patterns.filter((pattern) => {
    const isMatch = picomatch(pattern, { dot: true });
    return paths.filter((path) => isMatch(path)).length > 0;
  });
  return matched.length > 0 ? { path, body: body.trim(), matched } : null;
}

export function print(rules) {
  const applied = rules.filter(Boolean);
  const text = applied.map(({ path, body }) => `${path}\n${body}`).join("\n\n");
  process.stdout.write(JSON.stringify({ text, applied: applied.map(({ path, matched }) => ({ source: path, matched })) }) + "\n");
}
