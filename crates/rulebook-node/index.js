"use strict";

const native = require("./native.js");
const { RulebookError, request, string, watch } = require("./shared.js");

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
    return read(await this.#native.read(string(name, "name")));
  }

  async file(path) {
    return read(await this.#native.file(string(path, "path")));
  }

  async diagnostics() {
    return read(await this.#native.diagnostics());
  }

  async session(agent, id) {
    return new Session(made(await this.#native.session(string(agent, "agent"), string(id, "id"))), native);
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
    return read(this.#native.text(string(delta, "delta")));
  }

  thinking(delta) {
    return read(this.#native.thinking(string(delta, "delta")));
  }

  tool(id, name, delta) {
    return read(this.#native.tool(string(id, "id"), string(name, "name"), string(delta, "delta")));
  }

  end() {
    return read(this.#native.end());
  }

  watch(stream) {
    return watch(this, stream);
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

/** Answers an event of an agent as `rulebook hook` does. */
const hook = async (host, event) => {
  const answer = made(await native.hook(string(host, "host"), request(event)));
  return answer === undefined ? null : read(answer);
};

module.exports = { Book, Session, RulebookError, hook };
