import { module } from "#module";
import start, * as native from "./rulebook.js";
import { RulebookError, request, string, watch } from "./shared.js";

let started;

/** Starts the engine once. */
const init = (source) => {
  started ??= start({ module_or_path: source ?? module() }).then(
    () => {},
    (error) => {
      started = undefined;
      throw error;
    },
  );
  return started;
};

/** Calls the engine. What it throws has a code, unless the engine is broken. */
const call = (target, method, ...words) => {
  if (!target) throw new RulebookError({ code: "CLOSED", message: "it was closed: open it again" });
  try {
    return target[method](...words);
  } catch (error) {
    throw error.code ? new RulebookError(error) : error;
  }
};

const read = (...words) => JSON.parse(call(...words));

class Book {
  #native;

  constructor(handle, key) {
    if (key !== native) throw new TypeError("use `Book.ofTexts()`");
    this.#native = handle;
  }

  static async ofTexts(options) {
    await init();
    return new Book(call({ open: (text) => new native.NativeBook(text) }, "open", request(options)), native);
  }

  explain(question) {
    return read(this.#native, "explain", request(question));
  }

  prompt(question) {
    return read(this.#native, "prompt", request(question));
  }

  read(name) {
    return read(this.#native, "read", string(name, "name"));
  }

  file(path) {
    return read(this.#native, "file", string(path, "path"));
  }

  diagnostics() {
    return read(this.#native, "diagnostics");
  }

  session(agent, id) {
    return new Session(call(this.#native, "session", string(agent, "agent"), string(id, "id")), native);
  }

  close() {
    this.#native?.free();
    this.#native = undefined;
  }

  [Symbol.dispose ?? Symbol.for("Symbol.dispose")]() {
    this.close();
  }
}

class Session {
  #native;

  constructor(handle, key) {
    if (key !== native) throw new TypeError("use `book.session()`");
    this.#native = handle;
  }

  turn(input) {
    return read(this.#native, "turn", request(input));
  }

  begin() {
    call(this.#native, "begin");
  }

  text(delta) {
    return read(this.#native, "text", string(delta, "delta"));
  }

  thinking(delta) {
    return read(this.#native, "thinking", string(delta, "delta"));
  }

  tool(id, name, delta) {
    return read(this.#native, "tool", string(id, "id"), string(name, "name"), string(delta, "delta"));
  }

  end() {
    return read(this.#native, "end");
  }

  watch(stream) {
    return watch(this, stream);
  }

  sent() {
    call(this.#native, "sent");
  }

  compacted() {
    call(this.#native, "compacted");
  }

  close() {
    this.#native?.free();
    this.#native = undefined;
  }

  [Symbol.dispose ?? Symbol.for("Symbol.dispose")]() {
    this.close();
  }
}

/** The agents, and the states of a rule. */
const catalogue = async () => {
  await init();
  return JSON.parse(native.catalogue());
};

export { Book, Session, RulebookError, catalogue, init };
