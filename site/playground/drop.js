// Files that are dropped or chosen: rule files as texts, others as paths.

const SKIPPED = /(^|\/)(node_modules|\.git|target|dist|build)(\/|$)/;
const TEXT = /(\.(md|mdc|markdown|mdx|txt|json|jsonc|ya?ml|toml|rule)|(^|\/)\.[^/.]+|(^|\/)[^/.]+)$/i;
const MOST_TEXTS = 500;
const MOST_PATHS = 20_000;
const MOST_BYTES = 256 * 1024;

const inside = async (entry, prefix, found) => {
  const path = prefix + entry.name;
  if (SKIPPED.test(path) || found.length >= MOST_PATHS) return;
  if (entry.isFile) {
    found.push({ path, file: await new Promise((done, failed) => entry.file(done, failed)) });
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    // A folder answers in parts.
    const part = await new Promise((done, failed) => reader.readEntries(done, failed));
    if (part.length === 0) return;
    for (const child of part) await inside(child, `${path}/`, found);
  }
};

/** What was dropped, with paths relative to a folder that was dropped alone. */
export const dropped = async (transfer) => {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  const found = [];
  for (const entry of entries) await inside(entry, "", found);
  const isFolder = entries.length === 1 && entries[0].isDirectory;
  // A folder of rules, such as `.cursor`, keeps its name; a repository does not.
  const cut = isFolder && !entries[0].name.startsWith(".") ? entries[0].name.length + 1 : 0;
  return read(found.map(({ path, file }) => ({ path: path.slice(cut), file })));
};

/** The texts and the paths of files. */
export const read = async (found) => {
  const [files, tree] = [[], []];
  for (const { path, file } of found) {
    if (TEXT.test(path) && file.size <= MOST_BYTES && files.length < MOST_TEXTS) files.push({ path, text: await file.text() });
    else tree.push(path);
  }
  return { files, tree };
};
