"use strict";

const native = require("./native.js");

/** Why a call has no answer. */
class RulebookError extends Error {
  constructor({ code, message }) {
    super(message);
    this.name = "RulebookError";
    this.code = code;
  }
}

/** A native call returns a JSON text, or `{code, message}`. */
const read = (answer) => {
  if (typeof answer === "string") return JSON.parse(answer);
  throw new RulebookError(answer);
};

/** The same for a call that returns nothing or a native object. */
const made = (answer) => {
  if (answer?.code !== undefined) throw new RulebookError(answer);
  return answer ?? undefined;
};

const request = (value) => (value === undefined ? "" : JSON.stringify(value));

class Book {
  #native;

  constructor(handle, key) {
    if (key !== native) throw new TypeError("use `Book.open()` or `Book.ofTexts()`");
    this.#native = handle;
  }

  static async open(options) {
    return new Book(made(await native.open(request(options))), native);
  }

  static async ofTexts(options) {
    return new Book(made(await native.ofTexts(request(options))), native);
  }

  async explain(question) {
    return read(await this.#native.explain(request(question)));
  }

  async prompt(question) {
    return read(await this.#native.prompt(request(question)));
  }

  async read(name) {
    return read(await this.#native.read(name));
  }

  async file(path) {
    return read(await this.#native.file(path));
  }

  async diagnostics() {
    return read(await this.#native.diagnostics());
  }

  async session(agent, id) {
    return new Session(made(await this.#native.session(agent, id)), native);
  }

  close() {
    this.#native.close();
  }

  [Symbol.dispose ?? Symbol.for("Symbol.dispose")]() {
    this.close();
  }
}

class Session {
  #native;
  /** The last call that uses the disk: calls run in their order. */
  #last = Promise.resolve();

  constructor(handle, key) {
    if (key !== native) throw new TypeError("use `book.session()`");
    this.#native = handle;
  }

  #queued(call) {
    const next = this.#last.then(call);
    this.#last = next.catch(() => {});
    return next;
  }

  turn(input) {
    return this.#queued(async () => read(await this.#native.turn(request(input))));
  }

  begin() {
    return this.#queued(async () => made(await this.#native.begin()));
  }

  text(delta) {
    return read(this.#native.text(delta));
  }

  thinking(delta) {
    return read(this.#native.thinking(delta));
  }

  tool(id, name, delta) {
    return read(this.#native.tool(id, name, delta));
  }

  end() {
    return read(this.#native.end());
  }

  async *watch(stream) {
    await this.begin();
    const calls = new Map();
    for await (const delta of stream) {
      const step = this.#feed(typeof delta === "string" ? { type: "text", text: delta } : delta, calls);
      yield* events(step);
      if (step.retry) return;
    }
    const step = this.end();
    yield* events(step);
    if (!step.retry) for (const call of calls.values()) yield call;
  }

  #feed(delta, calls) {
    switch (delta.type) {
      case "text":
        return this.text(delta.text);
      case "thinking":
        return this.thinking(delta.text);
      case "tool": {
        const { id, name, delta: text } = delta;
        const call = calls.get(id) ?? { type: "tool", id, name, input: "" };
        calls.set(id, call);
        call.input += text;
        return this.tool(id, call.name, text);
      }
      default:
        throw new RulebookError({ code: "BAD_REQUEST", message: `a delta is \`text\`, \`thinking\` or \`tool\`, found \`${delta.type}\`` });
    }
  }

  sent() {
    return this.#queued(async () => made(await this.#native.sent()));
  }

  compacted() {
    return this.#queued(async () => made(await this.#native.compacted()));
  }

  get lost() {
    return made(this.#native.lost()) ?? null;
  }

  close() {
    return this.#queued(async () => made(await this.#native.close()));
  }

  [Symbol.asyncDispose ?? Symbol.for("Symbol.asyncDispose")]() {
    return this.close();
  }
}

/** The parts of a step, in the order to show them. */
const events = function* ({ thinking, show, notice, retry }) {
  if (thinking) yield { type: "thinking", text: thinking };
  if (show) yield { type: "text", text: show };
  if (notice) yield { type: "notice", text: notice };
  if (retry) yield { type: "retry", ...retry };
};

module.exports = { Book, Session, RulebookError };
