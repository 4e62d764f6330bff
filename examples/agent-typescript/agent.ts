// A small agent: the rules of a workspace in the prompt, a notice, a tool that reads rules, and an answer that is stopped and retried.
// Usage: node agent.js URL ROOT MESSAGE, with the URL of a server that speaks OpenAI's Chat Completions.
import { readFile, writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { Book, RulebookError, type Delta, type Input } from "rulebook-node";

const [url, root = ".", message = ""] = process.argv.slice(2);

type Call = { id: string; name: string; input: string };
const text = { type: "string" };
const tool = (name: string, description: string, properties: object) => ({ type: "function", function: { name, description, parameters: { type: "object", properties } } });
const TOOLS = [
  tool("read_rule", "Reads a rule by its rule:// name", { name: text }),
  tool("read_file", "Reads a file", { path: text }),
  tool("write_file", "Writes a file", { path: text, content: text }),
];

async function run(book: Book, { name, input }: Call): Promise<string> {
  try {
    const { path, content, name: rule } = JSON.parse(input);
    if (name === "read_rule") return (await book.read(rule)).text;
    if (name === "read_file") return await readFile(resolve(root, path), "utf8");
    await writeFile(resolve(root, path), content);
    return "written";
  } catch (error) {
    return error instanceof RulebookError ? `${error.code}: ${error.message}` : String(error);
  }
}

/** The parts of the model's answer, as they arrive. Leaving the loop over them cancels the request. */
async function* ask(messages: object[]): AsyncGenerator<Delta> {
  const body = JSON.stringify({ model: "model", stream: true, messages, tools: TOOLS });
  const response = await fetch(`${url}/v1/chat/completions`, { method: "POST", headers: { "content-type": "application/json" }, body });
  if (!response.ok || !response.body) throw new Error(`the model answered ${response.status}`);
  const calls: Call[] = [];
  let rest = "";
  for await (const chunk of response.body.pipeThrough(new TextDecoderStream() as any) as any as AsyncIterable<string>) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (!line.startsWith("data: {")) continue;
      const { content, reasoning_content, tool_calls = [] } = JSON.parse(line.slice(6)).choices[0]?.delta ?? {};
      if (reasoning_content) yield { type: "thinking", text: reasoning_content };
      if (content) yield content;
      for (const { index, id, function: { name, arguments: delta } } of tool_calls) {
        calls[index] ??= { id, name, input: "" };
        yield { type: "tool", id: calls[index].id, name: calls[index].name, delta };
      }
    }
  }
}

const book = await Book.open({ roots: [root] });
const session = await book.session("example-agent", crypto.randomUUID());
const conversation: object[] = [{ role: "user", content: message }];
let input: Input = { message };
for (let calls: Call[] = []; ; calls = []) {
  const turn = await session.turn(input);
  if (turn.notice) console.log(`[rules: ${turn.notice.rules.map(({ name }) => name).join(", ")}]`);
  let said = "";
  for (let isDone = false; !isDone; ) {
    isDone = true;
    for await (const event of session.watch(ask([{ role: "system", content: turn.system }, ...conversation]))) {
      if (event.type === "text") process.stdout.write(((said += event.text), event.text));
      if (event.type === "tool") calls.push(event);
      if (event.type !== "retry") continue;
      console.log(`\n[stopped: ${event.rules.join(", ")}]`);
      if (event.output) conversation.push({ role: "assistant", content: event.output });
      conversation.push({ role: "user", content: event.text });
      [isDone, said] = [false, ""];
    }
  }
  await session.sent();
  if (calls.length === 0) break;
  conversation.push({ role: "assistant", content: said, tool_calls: calls.map(({ id, name, input }) => ({ id, type: "function", function: { name, arguments: input } })) });
  for (const call of calls) conversation.push({ role: "tool", tool_call_id: call.id, content: await run(book, call) });
  input = { tools: calls.map(({ name, input }) => ({ name, input: JSON.parse(input) })) };
}
await session.close();
