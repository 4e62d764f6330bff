// Runs `rulebook proxy` under load with faults, and compares its memory and descriptors with those at the start.
//
//   node scripts/soak.mjs [SECONDS] [BINARY]     600 seconds and target/release/rulebook by default
//
// 24 clients send requests of four APIs: many conversations in a few sessions, and many sessions. Some requests are cut off,
// or reset at once, some are not JSON, some are compressed bombs; the model's server cuts, delays and damages its answers, and
// violates a stream rule. It is not part of CI. Linux only: it reads /proc. Exits with 1 if something does not return to the start.

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';

const seconds = Number(process.argv[2] ?? 600);
const binary = process.argv[3] ?? 'target/release/rulebook';
const CLIENTS = 24;

const stage = mkdtempSync(join(tmpdir(), 'soak-'));
mkdirSync(join(stage, 'repo/.git'), { recursive: true });
mkdirSync(join(stage, 'repo/.rulebook/rules'), { recursive: true });
writeFileSync(join(stage, 'repo/.rulebook/rules/style.md'), 'Be brief.\n');
writeFileSync(join(stage, 'repo/.rulebook/rules/no-map.md'), '---\ncondition: "new Map"\n---\nUse objects.\n');

const sleep = ms => new Promise(done => setTimeout(done, ms));
const below = n => Math.floor(Math.random() * n);
const pick = list => list[below(list.length)];

const WIRES = {
  anthropic: {
    path: '/v1/messages',
    body: (session, text) => ({ model: 'm', max_tokens: 9, stream: true, metadata: { user_id: session }, tools: [{ name: 'edit', input_schema: { type: 'object' } }], messages: [{ role: 'user', content: text }] }),
    events: text => [
      { type: 'message_start', message: { id: 'm', type: 'message', role: 'assistant', content: [], model: 'm', usage: { input_tokens: 1, output_tokens: 1 } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      ...[...text].map(piece => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: piece } })),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ].map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
  },
  chat: {
    path: '/v1/chat/completions',
    body: (session, text) => ({ model: 'm', stream: true, user: session, tools: [{ type: 'function', function: { name: 'edit', parameters: {} } }], messages: [{ role: 'user', content: text }] }),
    events: text => [...[...text].map(content => ({ id: 'c', object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content } }] })), { id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }].map(event => `data: ${JSON.stringify(event)}\n\n`).concat('data: [DONE]\n\n'),
  },
  responses: {
    path: '/v1/responses',
    body: (session, text) => ({ model: 'm', stream: true, prompt_cache_key: session, tools: [{ type: 'function', name: 'edit', parameters: {} }], input: [{ role: 'user', content: [{ type: 'input_text', text }] }] }),
    events: text => [...[...text].map(delta => ({ type: 'response.output_text.delta', item_id: 'i', output_index: 0, content_index: 0, delta })), { type: 'response.completed', response: { id: 'r', status: 'completed', output: [] } }].map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
  },
  gemini: {
    path: '/v1beta/models/m:streamGenerateContent?alt=sse',
    body: (_, text) => ({ contents: [{ role: 'user', parts: [{ text }] }], tools: [{ functionDeclarations: [{ name: 'edit' }] }] }),
    events: text => [...text].map(piece => `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts: [{ text: piece }] } }] })}\n\n`),
  },
};

// The model: writes in small pieces, and often fails in the middle.
const model = http.createServer(async (request, response) => {
  request.on('error', () => {}).resume();
  response.on('error', () => {});
  await new Promise(done => request.on('close', done).on('end', done));
  const fault = below(12);
  if (fault === 0) return response.writeHead(pick([429, 500, 529]), { 'content-type': 'application/json' }).end('{"error":{"message":"busy"}}');
  if (fault === 1) return response.destroy();
  const wire = Object.values(WIRES).find(wire => request.url.startsWith(wire.path.split('?')[0])) ?? WIRES.anthropic;
  const events = wire.events(pick(['all good here', 'call new Map() now', 'x'.repeat(400)]));
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const [at, event] of events.entries()) {
    if (response.destroyed) return;
    if (fault === 2 && at > events.length / 2) return response.destroy();
    if (fault === 3 && at === 2) response.write('data: {"broken": \ud83d\n\n');
    if (fault === 4 && at === 2) response.write(Buffer.from([0x64, 0x61, 0x74, 0x61, 0x3a, 0xff, 0xfe, 0x0a, 0x0a]));
    response.write(event);
    if (fault > 8 && at % 16 === 0) await sleep(1);
  }
  response.end();
});
await new Promise(done => model.listen(0, '127.0.0.1', done));

const home = { HOME: stage, PATH: process.env.PATH };
const proxy = spawn(binary, ['proxy', '--root', join(stage, 'repo'), '--json', '--upstream', `http://127.0.0.1:${model.address().port}`], { env: home, stdio: ['ignore', 'pipe', 'ignore'] });
const port = await new Promise(done => {
  let text = '';
  proxy.stdout.on('data', data => {
    text += data;
    const found = /127\.0\.0\.1:(\d+)/.exec(text);
    if (found) done(Number(found[1]));
  });
});

const usage = () => ({
  mib: Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${proxy.pid}/status`, 'utf8'))[1]) / 1024,
  descriptors: readdirSync(`/proc/${proxy.pid}/fd`).length,
});

const counts = { requests: 0, answered: 0, failed: 0, cut: 0 };
// The frame of zstd asks for a window of a gigabyte, and fills it with blocks of one repeated byte.
const zstdBlock = isLast => Buffer.from([2 | isLast, 0, 0x10, 32]);
const bombs = [
  [gzipSync(Buffer.alloc(64 << 20, 32)), 'gzip'],
  [brotliCompressSync(Buffer.alloc(64 << 20, 32)), 'br'],
  [Buffer.concat([Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 20 << 3]), ...Array(2000).fill(zstdBlock(0)), zstdBlock(1)]), 'zstd'],
];
const send = (wire, session, conversation) => new Promise(done => {
  counts.requests++;
  const kind = below(40);
  const filler = 'y'.repeat(8000);
  let body = Buffer.from(JSON.stringify(wire.body(session, `${conversation} fix src/a.ts ${filler}`)));
  const headers = { 'content-type': 'application/json', 'user-agent': 'soak' };
  if (kind === 0) body = body.subarray(0, body.length / 2);
  if (kind === 1) [body, headers['content-encoding']] = pick(bombs);
  if (kind === 2) [body, headers['content-encoding']] = [gzipSync(body), 'gzip'];
  const request = http.request({ port, host: '127.0.0.1', path: wire.path, method: 'POST', headers, agent: false }, response => {
    response.on('error', () => {}).on('close', () => { counts.answered++; done(); }).resume();
    if (kind === 3) setTimeout(() => { counts.cut++; request.destroy(); }, below(20));
  });
  request.on('error', () => { counts.failed++; done(); });
  if (kind === 5) request.on('socket', socket => socket.on('connect', () => { counts.cut++; socket.resetAndDestroy(); }));
  if (kind === 4) {
    request.setHeader('content-length', body.length);
    request.write(body.subarray(0, 100));
    setTimeout(() => { counts.cut++; request.destroy(); }, below(20));
  } else request.end(body);
});

for (const wire of Object.values(WIRES)) await send(wire, 'first', 0);
await sleep(1000);
const start = usage();
const peak = { ...start };
const watch = setInterval(() => {
  const now = usage();
  for (const key of Object.keys(peak)) peak[key] = Math.max(peak[key], now[key]);
}, 250);
const end = Date.now() + seconds * 1000;
await Promise.all(Array.from({ length: CLIENTS }, async (_, client) => {
  for (let turn = 0; Date.now() < end; turn++) {
    // Half of the requests are new conversations of one session, half have sessions of their own.
    const session = client % 2 ? 'one-session' : `session-${client}-${turn}`;
    await send(pick(Object.values(WIRES)), session, `conversation ${client} ${turn}`);
  }
}));
clearInterval(watch);
// It writes what is left and then returns memory, which takes longer while the machine is busy.
const limits = { mib: start.mib + 32, descriptors: start.descriptors + 2 };
const isBack = now => now.mib <= limits.mib && now.descriptors <= limits.descriptors;
const ended = Date.now();
await sleep(15000);
let last = usage();
while (!isBack(last) && Date.now() < ended + 180000) {
  await sleep(1000);
  last = usage();
}
const waited = Math.round((Date.now() - ended) / 1000);
const show = ({ mib, descriptors }) => `${mib.toFixed(0)} MiB, ${descriptors} descriptors`;
console.log(`${seconds} s, ${CLIENTS} clients: ${JSON.stringify(counts)}`);
console.log(`start: ${show(start)}\npeak:  ${show(peak)}\nend:   ${show(last)}, after ${waited} s`);
const isAlive = proxy.exitCode === null;
proxy.kill();
// It still writes what was not written yet.
if (isAlive) await new Promise(done => proxy.on('exit', done));
model.close();
model.closeAllConnections();
rmSync(stage, { recursive: true, force: true });
const isFine = isAlive && isBack(last);
console.log(isFine ? 'returned to the start' : 'did not return to the start');
process.exit(isFine ? 0 : 1);
