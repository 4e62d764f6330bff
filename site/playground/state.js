// What the page shows is in its address, compressed: a link is a copy.

export const EMPTY = { files: [], tree: [], target: "", message: "", agent: "", stream: "", kind: "text", open: 0 };

/** A link may hold anything, and a few bytes may expand to many. */
const MOST = 4_000_000;

const pipe = (bytes, stream) => new Blob([bytes]).stream().pipeThrough(stream);

/** All bytes of a stream; an error if they are more than `most`. */
export const bytesOf = async (stream, most = Infinity) => {
  const parts = [];
  let size = 0;
  for (const reader = stream.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) return new Blob(parts).arrayBuffer();
    size += value.length;
    if (size > most) throw new Error("the link holds too much");
    parts.push(value);
  }
};

export const unpacked = (bytes, most) => bytesOf(pipe(bytes, new DecompressionStream("gzip")), most);

export const write = async (state) => {
  const bytes = new Uint8Array(await bytesOf(pipe(JSON.stringify(state), new CompressionStream("gzip"))));
  let text = "";
  for (let at = 0; at < bytes.length; at += 4096) text += String.fromCharCode(...bytes.subarray(at, at + 4096));
  return btoa(text).replace(/[+/=]/g, (found) => ({ "+": "-", "/": "_", "=": "" })[found]);
};

/** The state of an address, or `null` if it has none that can be read. */
export const read = async (hash) => {
  if (hash.length < 2) return null;
  try {
    const text = atob(hash.slice(1).replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
    return checked(JSON.parse(new TextDecoder().decode(await unpacked(bytes, MOST))));
  } catch {
    return null;
  }
};

const isText = (value) => typeof value === "string";

/** Only what has the right type. */
const checked = (found) => {
  const state = { ...EMPTY };
  for (const key of ["target", "message", "agent", "stream", "kind"]) if (isText(found[key])) state[key] = found[key];
  if (!["text", "thinking", "tool"].includes(state.kind)) state.kind = "text";
  state.files = (Array.isArray(found.files) ? found.files : []).filter((file) => isText(file?.path) && isText(file.text));
  state.tree = (Array.isArray(found.tree) ? found.tree : []).filter(isText);
  state.open = Number.isInteger(found.open) && state.files[found.open] ? found.open : 0;
  return state;
};
