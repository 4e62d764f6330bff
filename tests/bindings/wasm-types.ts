// What the types of the library for WebAssembly allow; compiled, not run.
import { Book, RulebookError, catalogue, init, type Explanation, type Prompt } from "rulebook-wasm";

export async function questions(module: WebAssembly.Module): Promise<[Prompt, Explanation, string]> {
  await init(module);
  using book = await Book.ofTexts({ texts: [{ path: "AGENTS.md", text: "" }], files: ["a.ts"] });
  const { agents } = await catalogue();
  return [book.prompt({ input: { message: "fix a.ts" }, budget: 100 }), book.explain({ for: agents[0]?.name }), book.read("a").text];
}

export async function watched(book: Book): Promise<string> {
  using session = book.session("my-agent", "one");
  let shown = session.turn({ message: "fix a.ts" }).system;
  for await (const event of session.watch(["a"])) if (event.type === "text") shown += event.text;
  return shown + session.end().show;
}

export const isUnknown = (error: unknown): boolean => error instanceof RulebookError && error.code === "UNKNOWN_RULE";

// @ts-expect-error there is no disk
void Book.open({ roots: ["."] });
