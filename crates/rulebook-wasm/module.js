/** Where the engine is; bundlers recognise this form. */
export const module = () => new URL("./rulebook_bg.wasm", import.meta.url);
