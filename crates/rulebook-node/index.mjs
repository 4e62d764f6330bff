import library from "./index.js";

export const { Book, Session, RulebookError, hook } = library;
