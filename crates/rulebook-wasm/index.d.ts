import type {
  Catalogue, Delta, Diagnostic, Explanation, Input, Prompt, PromptQuestion, Question, RuleFile, RuleText, Step, TextsOptions, Turn,
  WatchEvent,
} from "./shared.js";

export * from "./shared.js";

/**
 * Starts the engine, where it cannot be found by itself: give the module, its bytes, or where it is. Without arguments, it loads
 * `rulebook-wasm/rulebook.wasm`. Only the first call counts, and `Book.ofTexts` calls it.
 */
export function init(source?: WebAssembly.Module | BufferSource | Response | URL | string): Promise<void>;

/** The agents, and the states that a rule can have for one. */
export function catalogue(): Promise<Catalogue>;

/** The rules of a workspace of texts. Questions are answered at once. */
export class Book {
  private constructor();
  static ofTexts(options?: TextsOptions): Promise<Book>;
  /** Which rules each agent has, and why. */
  explain(question?: Question): Explanation;
  /** The text for the model. */
  prompt(question?: PromptQuestion): Prompt;
  /** One rule's text, by `rule://NAME`, key, id or file. */
  read(name: string): RuleText;
  /** One rule file, by its path as shown in answers. */
  file(path: string): RuleFile;
  /** Every problem that `rulebook check` reports. */
  diagnostics(): { version: 1; diagnostics: Diagnostic[] };
  /** Opens a session. The id is the agent's own name for the conversation. */
  session(agent: string, id: string): Session;
  /** Frees the book; its sessions stay open. */
  close(): void;
  [Symbol.dispose](): void;
}

/** The memory of one conversation. */
export class Session {
  private constructor();
  /** Decides one request to the model. The input is what is new since the last turn. */
  turn(input?: Input): Turn;
  /**
   * Watches an answer: `for await (const event of session.watch(stream))`. After a retry, watch the new answer in the same way.
   * Leaving the loop ends the stream.
   */
  watch(stream: AsyncIterable<Delta> | Iterable<Delta>): AsyncGenerator<WatchEvent, void, void>;
  /** The request is being made. `watch` calls this; call it yourself before the first of `text`, `thinking`, `tool`, `end`. */
  begin(): void;
  /** More text of the model's answer. */
  text(delta: string): Step;
  thinking(delta: string): Step;
  /** More arguments of a tool call, as JSON text. */
  tool(id: string, name: string, delta: string): Step;
  /** The answer ended. Tool calls may run if this asks for no retry. */
  end(): Step;
  /** The request was sent: its rules count as delivered, and the turn is closed. */
  sent(): void;
  /** The context was compacted or cleared: everything is due again. */
  compacted(): void;
  /** Ends an open turn and frees the session. */
  close(): void;
  [Symbol.dispose](): void;
}
