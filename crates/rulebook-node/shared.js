// What the packages `rulebook-node` and `rulebook-wasm` have in common. The latter gets a copy with ES exports.
"use strict";

/** Why a call has no answer. */
class RulebookError extends Error {
  constructor({ code, message }) {
    super(message);
    this.name = "RulebookError";
    this.code = code;
  }
}

/** An argument that must be a string: native code does not look. */
const string = (value, name) => {
  if (typeof value === "string") return value;
  throw new RulebookError({ code: "BAD_REQUEST", message: `\`${name}\` must be a string, found ${value === null ? "null" : typeof value}` });
};

/** What is asked, as the native part reads it. */
const request = (value) => (value === undefined || value === null ? "" : string(JSON.stringify(value), "request"));

/** Watches an answer with a session, delta by delta. */
const watch = async function* (session, stream) {
  await session.begin();
  const calls = new Map();
  for await (const delta of stream) {
    const step = feed(session, typeof delta === "string" ? { type: "text", text: delta } : delta, calls);
    yield* events(step);
    if (step.retry) return;
  }
  const step = session.end();
  yield* events(step);
  if (!step.retry) for (const call of calls.values()) yield call;
};

const feed = (session, delta, calls) => {
  switch (delta?.type) {
    case "text":
      return session.text(delta.text);
    case "thinking":
      return session.thinking(delta.text);
    case "tool": {
      const { id, name, delta: text } = delta;
      const call = calls.get(id) ?? { type: "tool", id, name, input: "" };
      calls.set(id, call);
      call.input += string(text, "delta");
      return session.tool(id, call.name, text);
    }
    default:
      throw new RulebookError({ code: "BAD_REQUEST", message: `a delta is \`text\`, \`thinking\` or \`tool\`, found \`${delta?.type}\`` });
  }
};

/** The parts of a step, in the order to show them. */
const events = function* ({ thinking, show, notice, retry }) {
  if (thinking) yield { type: "thinking", text: thinking };
  if (show) yield { type: "text", text: show };
  if (notice) yield { type: "notice", text: notice };
  if (retry) yield { type: "retry", ...retry };
};

module.exports = { RulebookError, request, string, watch };
