// Asks Node and Python how they read damaged JSON, and writes their answers as test data.
//
//   node json.mjs                 rewrites crates/rulebook-cli/tests/json/peers.tsv
//   node json.mjs 200000 7        prints 200,000 cases for seed 7
//
// The generator is seeded: the same versions always give the same file. Needs python3.
//
// A line has the letters of all texts in the value, sorted, or `-` if neither reads it; then the bytes as a JSON string of
// Latin-1 characters.

import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const [count = 1600, seed = 20240601] = process.argv.slice(2).map(Number);

let state = seed >>> 0;
const random = () => {
  state = (state + 0x6d2b79f5) >>> 0;
  let t = Math.imul(state ^ (state >>> 15), state | 1);
  t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
};
const below = n => Math.floor(random() * n);
const pick = list => list[below(list.length)];

// What strangers send: events and requests of the four wires, hooks and MCP.
const MESSAGES = [
  '{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"call new Map() \\ud83d\\ude00"}}',
  '{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\\"a\\":\\"x\\"}"}}',
  '{"type":"message_start","message":{"id":"m","role":"assistant","content":[],"usage":{"input_tokens":25}}}',
  '{"id":"c","choices":[{"index":0,"delta":{"content":"new Map","tool_calls":null},"logprobs":1.5e3}]}',
  '{"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"name":"edit","arguments":"{\\"p\\":1"}}]}}]}',
  '{"type":"response.output_text.delta","sequence_number":4,"delta":"n\\u00e9w é😀","logprobs":[]}',
  '{"type":"response.function_call_arguments.done","item_id":"f","arguments":"{\\"path\\":\\"src\\/a.ts\\"}"}',
  '{"candidates":[{"content":{"parts":[{"text":"new Map"}],"role":"model"}}],"usageMetadata":{"n":-1}}',
  '{"candidates":[{"content":{"parts":[{"functionCall":{"name":"write","args":{"deep":[{"text":"x"}]}}}]}}]}',
  '{"model":"m","max_tokens":9,"stream":true,"system":[{"type":"text","text":"s"}],"messages":[{"role":"user","content":"fix src/a.ts"}]}',
  '{"model":"m","input":[{"role":"user","content":[{"type":"input_text","text":"hi"}]}],"instructions":"be brief"}',
  '{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"systemInstruction":{"parts":[{"text":"s"}]}}',
  '{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Edit","tool_input":{"file_path":"/r/a.ts","new_string":"x"}}',
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"rules_for","arguments":{"paths":["src/a.ts"]}}}',
];

const bytes = text => Buffer.from(text, 'latin1');
const DAMAGE = [
  'NaN', '-Infinity', 'Infinity', '1e999', '-1e999', '01', '1.', '.5', '0x1', '-', '+1', 'true', 'nul', 'undefined', "'x'",
  '\\ud83d', '\\udc00', '\\ud83d\\ud83d\\ude00', '\\u12', '\\x41', '\\', '"', ',', '}', ']', '{', '[', ':', ' ', '\n', '\t', '\r', '\0',
  '\x01', '\x7f', '\xff', '\xed\xa0\x80', '\xe2\x82', '\xef\xbb\xbf', '\xf0\x9f\x98', '\xc2\xa0', '\xc0\x80', '/* c */', '// c\n', 'x', '0',
  '"text":"again"', '"text":"again",', '[]', '{}', '""', '['.repeat(130) + '"deep"' + ']'.repeat(130), '{"0":'.repeat(200) + '"deep"' + '}'.repeat(200),
].map(bytes);

const VALUES = [...DAMAGE.slice(0, 15), ...DAMAGE.slice(-5)];
const IN_TEXT = DAMAGE.slice(15, 46);

const splice = (message, at, length, damage) => Buffer.concat([message.subarray(0, at), damage, message.subarray(at + length)]);

const after = (message, mark, damage) => {
  const places = [...message.keys()].filter(at => message.subarray(at, at + mark.length).equals(bytes(mark)));
  return places.length ? splice(message, pick(places) + mark.length, 0, damage) : message;
};

const damaged = message => {
  const damage = pick(DAMAGE);
  const at = below(message.length + 1);
  switch (below(9)) {
    case 0: return splice(message, at, 0, damage);
    case 1: return splice(message, at, 1, damage);
    case 2: return splice(message, at, below(8), Buffer.alloc(0));
    case 3: return pick([() => splice(message, 0, 0, damage), () => splice(message, message.length, 0, damage)])();
    // Where a value is, or in a text, so that the rest may stay JSON.
    case 4: case 5: return after(message, ':', Buffer.concat([pick(VALUES), bytes(',"k":')]));
    default: return after(message, ':"', pick(IN_TEXT));
  }
};

// What is nested too deeply is read as text, so nothing inside it is damaged.
const cases = Array.from({ length: count }, (_, at) => {
  let message = Buffer.from(MESSAGES[at % MESSAGES.length]);
  if (at >= MESSAGES.length) for (let left = 1 + Number(random() < 0.3); left > 0 && message.length < 300; left--) message = damaged(message);
  return message;
});

const texts = value => {
  if (typeof value === 'string') return [value];
  return value && typeof value === 'object' ? Object.values(value).flatMap(texts) : [];
};
const letters = found => found.map(text => text.replace(/[^a-zA-Z]/g, '')).sort().join(',');
const node = message => {
  try {
    return `=${letters(texts(JSON.parse(message.toString().replace(/^\ufeff/, ''))))}`;
  } catch {
    return '-';
  }
};

const PYTHON = `
import json, re, sys
def texts(value):
    if isinstance(value, str): return [value]
    values = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [text for item in values for text in texts(item)]
for line in sys.stdin:
    answer = '-'
    data = bytes.fromhex(line)
    for form in (data, data.decode('utf-8', 'replace')):
        try:
            answer = '=' + ','.join(sorted(re.sub('[^a-zA-Z]', '', text) for text in texts(json.loads(form))))
            break
        except (ValueError, RecursionError): pass
    print(answer)
`;
const input = cases.map(message => message.toString('hex')).join('\n') + '\n';
const python = execFileSync('python3', ['-c', PYTHON], { input, maxBuffer: 2 ** 30 }).toString().trimEnd().split('\n');

const lines = cases.map((message, at) => {
  const answers = [node(message), python[at]].filter(answer => answer !== '-');
  return `${answers[0] ?? '-'}\t${JSON.stringify(message.toString('latin1')).replace(/[\x7f-\x9f]/g, c => `\\u00${c.charCodeAt(0).toString(16)}`)}\n`;
});
if (process.argv.length > 2) {
  process.stdout.write(lines.join(''));
} else {
  const file = join(dirname(fileURLToPath(import.meta.url)), '../crates/rulebook-cli/tests/json/peers.tsv');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, lines.join(''));
}
