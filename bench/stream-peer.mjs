// Stream rules in Node: every RegExp at every delta, on the growing buffer or on its tail.
// Prints one line per run: the way, the length, the milliseconds.

import fs from "node:fs";
import { join } from "node:path";

const TAIL = 512;
// A run that would take longer is estimated as four times the run of half the length.
const TOO_LONG = 30_000;

const folder = process.argv[2];
const patterns = fs.readFileSync(join(folder, "conditions.txt"), "utf8").trimEnd().split("\n").map(regExp);
const bytes = fs.readFileSync(join(folder, "text.txt"));
const deltaLength = 6;

// A leading `(?m)` is a flag here.
function regExp(written) {
  const [, flags = "", source] = /^(?:\(\?([ims]+)\))?(.*)$/.exec(written);
  return new RegExp(source, flags);
}

function growing(text) {
  let buffer = "";
  for (let at = 0; at < text.length; at += deltaLength) {
    buffer += text.slice(at, at + deltaLength);
    if (patterns.some((pattern) => pattern.test(buffer))) throw new Error(`hit at ${at}`);
  }
}

function boundedTail(text) {
  let tail = "";
  for (let at = 0; at < text.length; at += deltaLength) {
    tail = (tail + text.slice(at, at + deltaLength)).slice(-TAIL);
    if (patterns.some((pattern) => pattern.test(tail))) throw new Error(`hit at ${at}`);
  }
}

function time(run, length) {
  const text = bytes.subarray(0, length).toString();
  const start = performance.now();
  run(text);
  return performance.now() - start;
}

const tails = [1, 2, 3].map(() => time(boundedTail, 100_000));
console.log(`tail 100000 ${Math.min(...tails)}`);
let half = 0;
for (const length of [25_000, 50_000, 100_000]) {
  const guess = 4 * half;
  half = guess > TOO_LONG ? guess : time(growing, length);
  console.log(`${guess > TOO_LONG ? "guessed" : "growing"} ${length} ${half}`);
}
