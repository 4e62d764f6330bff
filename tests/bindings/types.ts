// What the types of the library allow; compiled, not run.
import { Book, RulebookError, type Explanation, type Prompt, type WatchEvent } from "rulebook-node";

export async function questions(): Promise<[Prompt, Explanation, string]> {
  using book = await Book.open({ roots: ["."], settings: { budget: { tokens: 10 } }, home: false });
  const explanation = await book.explain({ input: { paths: ["a.ts"] }, for: "claude" });
  return [await book.prompt({ input: { message: "fix a.ts" }, budget: 100 }), explanation, (await book.read("rule://a")).text];
}

export async function watched(book: Book): Promise<string> {
  await using session = await book.session("my-agent", "one");
  const { system, notice } = await session.turn({ message: "fix a.ts", tools: [{ name: "read", input: { path: "a.ts" } }] });
  let shown = system + (notice?.rules[0]?.name ?? "");
  const show = (event: WatchEvent) => (event.type === "tool" ? event.input : event.type === "retry" ? event.rules.join() : event.text);
  for await (const event of session.watch(["a", { type: "tool", id: "1", name: "read", delta: "{}" }])) shown += show(event);
  const { show: rest, retry }: { show: string; retry: { text: string } | null } = session.end();
  return shown + rest + (retry?.text ?? "") + (session.lost ?? "");
}

export const isUnknown = (error: unknown): boolean => error instanceof RulebookError && error.code === "UNKNOWN_RULE";

// @ts-expect-error a book is opened, not made
new Book();
// @ts-expect-error there is no such option
void Book.open({ root: "." });
