import type {
  Delta, Diagnostic, Explanation, Input, Prompt, PromptQuestion, Question, RuleFile, RuleText, Step, TextsOptions, Turn, WatchEvent,
} from "./shared.js";

export * from "./shared.js";

/** Opens a workspace. Every key is optional. */
export interface OpenOptions {
  /** The folders; by default the repository around the current folder. */
  roots?: string[];
  /** Settings as in `rulebook.toml`, which count before those of files. */
  settings?: Record<string, unknown>;
  /** Whether the user's own rules, settings, toggles and sessions count. By default, they do. */
  home?: boolean;
}

/** The rules of a workspace. Files are read again for each question, so an answer is never stale. */
export class Book {
  private constructor();
  static open(options?: OpenOptions): Promise<Book>;
  static ofTexts(options?: TextsOptions): Promise<Book>;
  /** Which rules each agent has, and why. */
  explain(question?: Question): Promise<Explanation>;
  /** The text for the model. */
  prompt(question?: PromptQuestion): Promise<Prompt>;
  /** One rule's text, by `rule://NAME`, key, id or file. */
  read(name: string): Promise<RuleText>;
  /** One rule file, by its path as shown in answers. */
  file(path: string): Promise<RuleFile>;
  /** Every problem that `rulebook check` reports. */
  diagnostics(): Promise<{ version: 1; diagnostics: Diagnostic[] }>;
  /** Opens or resumes a session. The id is the agent's own name for the conversation. */
  session(agent: string, id: string): Promise<Session>;
  /** Frees the book; its sessions stay open. */
  close(): void;
}

/**
 * Answers one event of an agent as the command `rulebook hook HOST` does: the event goes in as the agent's extension reports it, and the
 * answer is what the command would print, or null. The extensions that `rulebook install` writes use it, so that no process starts.
 */
export function hook(host: string, event: object): Promise<Record<string, unknown> | null>;

/** The memory of one conversation. Calls that return promises run in their order. */
export class Session {
  private constructor();
  /** Decides one request to the model. The input is what is new since the last turn. */
  turn(input?: Input): Promise<Turn>;
  /**
   * Watches an answer: `for await (const event of session.watch(stream))`. After a retry, watch the new answer in the same way.
   * Leaving the loop ends the stream.
   */
  watch(stream: AsyncIterable<Delta> | Iterable<Delta>): AsyncGenerator<WatchEvent, void, void>;
  /** The request is being made. `watch` calls this; call it yourself before the first of `text`, `thinking`, `tool`, `end`. */
  begin(): Promise<void>;
  /** More text of the model's answer. Returns at once; only if a rule fires, a line is appended to the session's ledger. */
  text(delta: string): Step;
  thinking(delta: string): Step;
  /** More arguments of a tool call, as JSON text. */
  tool(id: string, name: string, delta: string): Step;
  /** The answer ended. Tool calls may run if this asks for no retry. */
  end(): Step;
  /** The request was sent: its rules count as delivered, and the turn is closed. */
  sent(): Promise<void>;
  /** The context was compacted or cleared: everything is due again. */
  compacted(): Promise<void>;
  /** Why the session is no longer kept on disk; it continues in memory. */
  readonly lost: string | null;
  /** Ends an open turn and frees the session. */
  close(): Promise<void>;
}

export interface Book {
  [Symbol.dispose](): void;
}
export interface Session {
  [Symbol.asyncDispose](): Promise<void>;
}
