// The types that `rulebook-node` and `rulebook-wasm` have in common.

/** A workspace of texts instead of files. Nothing is read from a disk, and sessions are kept in memory. */
export interface TextsOptions {
  texts?: { path: string; text: string }[];
  /** Files of the tree whose text does not matter. */
  files?: string[];
  settings?: Record<string, unknown>;
}

/** A tool call that the agent made. */
export interface ToolCall {
  name: string;
  input?: Record<string, unknown>;
}

/** What the agent knows: as `rulebook prompt --evidence` reads it. Unknown keys are reported as diagnostics. */
export interface Input {
  message?: string;
  paths?: string[];
  mentions?: string[];
  tools?: ToolCall[];
  mode?: string;
  provider?: string;
  model?: string;
  agent?: string;
  os?: string;
  [fact: string]: unknown;
}

/** What to evaluate, and for whom. */
export interface Question {
  input?: Input;
  /** What Rulebook adds for this agent; `any` for none in particular. Excludes `as`. */
  for?: string;
  /** What this agent reads by itself. Excludes `for`. */
  as?: string;
}

/** A question with a limit. */
export interface PromptQuestion extends Question {
  /** At most this many tokens. */
  budget?: number;
}

export interface Diagnostic {
  path: string;
  line: number;
  column: number;
  code: string;
  severity: "error" | "warning" | "note";
  message: string;
  help?: string | null;
  /** The other files that it is about, if it is about several. */
  others?: { path: string; help: string }[];
}

/** The values of a rule's conditions that matched, by the name of the condition. */
export type MatchedConditions = Record<string, string[]>;

/** The conditional rules that apply since this turn, for the user. */
export interface Notice {
  type: "conditional_rules_applied";
  rules: { name: string; matchedConditions: MatchedConditions }[];
}

export interface SeenPath {
  path: string;
  sources: string[];
  /** With several roots only. */
  root?: string;
}

/** A rule that the model can read by its name. */
export interface Offered {
  id: string;
  key: string;
  name: string;
  description: string;
  globs: string[];
  source: string;
  /** It applies, and is only offered because of the budget. */
  overBudget: boolean;
}

export interface Prompt {
  version: 1;
  /** The text for the model. */
  text: string;
  applied: { id: string; key: string; name: string; source: string; matchedConditions: MatchedConditions }[];
  notice: Notice | null;
  paths: SeenPath[];
  pathsCut: number;
  offered: Offered[];
  /** Rules for which the budget had no room. */
  omitted: Offered[];
  tokens: number;
  tokensEstimated: boolean;
  diagnostics: Diagnostic[];
}

export interface AgentRules {
  wired: string[];
  tokens: number;
  rules: { id: string; key: string; source: string; state: string; by?: "agent" | "rulebook"; because: string }[];
}

export interface Target {
  /** `null` if only evidence was given. */
  path: string | null;
  stack: {
    id: string; key: string; name: string; source: string; format: string; scope: string; priority: number;
    activation: string; basis: string; tags: string[];
    because: { condition: string; matched: string[]; evidence: SeenPath[] }[];
  }[];
  overridden: { id: string; key: string; source: string; winner: { id: string; source: string }; decidedBy: string }[];
  offered: Offered[];
  stream: { id: string; key: string; source: string; condition: string[]; scope: string[]; globs: string[] }[];
  inactive: { id: string; key: string; source: string; reason: string; detail: string }[];
  disabled: { id: string; key: string; source: string; by: string; file: string | null }[];
  rejected: { id: string; key: string; source: string; diagnostics: string[] }[];
  agents: Record<string, AgentRules>;
}

export interface Explanation {
  version: 1;
  for: string | null;
  as: string | null;
  notSearched: string | null;
  differences: { id: string; source: string; agent: string; meant: string; does: string; why: string }[];
  targets: Target[];
  diagnostics: Diagnostic[];
}

export interface RuleText {
  version: 1;
  /** `rule://NAME`. */
  uri: string;
  id: string;
  key: string;
  name: string;
  source: string;
  mimeType: "text/markdown";
  text: string;
  /** Other rules that the name fits. */
  others: { id: string; key: string; source: string }[];
  diagnostics: Diagnostic[];
}

/** One rule file: its rules with the files they are for, its header, its readers, its problems and its repaired text. */
export interface RuleFile {
  version: 1;
  path: string;
  rules: Record<string, unknown>[];
  header: Record<string, unknown>[];
  fixed: { text: string; changes: unknown } | null;
  readers: string[];
  diagnostics: Diagnostic[];
}

export interface Turn {
  version: 1;
  /** Everything that applies now, for an agent that sends a system prompt with every request. */
  system: string;
  /** What applies and is not in the conversation yet, for an agent that appends. */
  added: string;
  notice: Notice | null;
  diagnostics: Diagnostic[];
}

/** The agents, and the states that a rule can have for one, with the words and symbols for people. */
export interface Catalogue {
  version: 1;
  agents: { name: string; title: string }[];
  states: { state: string; symbol: string; meaning: string }[];
}

/** Why the model's answer must stop. Send the retry with `text` added, after `output` if it is not `null`. */
export interface Interrupt {
  text: string;
  /** The names of the rules that fired. */
  rules: string[];
  /** What was said before, if the rules keep it. */
  output: string | null;
}

/** What a delta results in. */
export interface Step {
  /** Text that is safe to show now. */
  show: string;
  thinking: string;
  retry: Interrupt | null;
  /** For the user: the output continues although it violates a rule. */
  notice: string | null;
}

/** A part of the model's answer; a string is text. */
export type Delta =
  | string
  | { type: "text"; text: string }
  | { type: "thinking"; text: string }
  | { type: "tool"; id: string; name: string; delta: string };

/** What a watched answer consists of. After `retry`, which is the last event, send the request again with its text. */
export type WatchEvent =
  | { type: "text"; text: string }
  | { type: "thinking"; text: string }
  | { type: "notice"; text: string }
  | ({ type: "retry" } & Interrupt)
  /** A call that may run; only after the whole answer was watched. `input` is JSON. */
  | { type: "tool"; id: string; name: string; input: string };

export type ErrorCode =
  | "BAD_REQUEST" | "CANNOT_OPEN" | "OUTSIDE_ROOT" | "SESSION_LOST" | "UNKNOWN_AGENT" | "UNKNOWN_RULE" | "NO_TURN" | "BUSY" | "CLOSED";

/** Why a call has no answer. */
export class RulebookError extends Error {
  readonly name: "RulebookError";
  readonly code: ErrorCode;
}

// For `using` and `await using`, with the libraries of TypeScript that have them.
declare global {
  interface SymbolConstructor {
    readonly dispose: unique symbol;
    readonly asyncDispose: unique symbol;
  }
}
