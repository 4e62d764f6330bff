import { readFile } from "node:fs/promises";

/** Node cannot fetch a file. */
export const module = () => readFile(new URL("./rulebook_bg.wasm", import.meta.url));
