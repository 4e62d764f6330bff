// Runs the original implementation of each dialect on generated patterns and paths, and writes its answers as test data.
//
//   node globs.mjs                            rewrites crates/rulebook/tests/globs/*.tsv
//   node globs.mjs fuzz minimatch 200000 7    prints 200,000 pairs for seed 7; a fifth argument limits them to one feature
//
// The generator is seeded: the same versions always give the same files.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import ignore from 'ignore';
import { minimatch } from 'minimatch';
import { match as vscode } from 'monaco-editor/base/common/glob.js';
import picomatch from 'picomatch';

const SEED = 20240601;
const PATTERNS_PER_FEATURE = 24;
const PATHS_PER_PATTERN = 6;

const randomFrom = seed => {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
};

let random = randomFrom(SEED);
const below = n => Math.floor(random() * n);
const pick = list => list[below(list.length)];
const chance = p => random() < p;
const times = (min, max, make) => Array.from({ length: min + below(max - min + 1) }, make);

const NAMES = ['a', 'b', 'c', 'ab', 'abc', 'src', 'lib', 'app', 'test', 'main', 'index', '.git', '.a', 'x1', 'a-b', 'a_b', 'A', 'Src'];
const EXTENSIONS = ['ts', 'tsx', 'js', 'd.ts', 'md', 'test.ts', 'rs', 'a'];
const UNICODE = ['é', 'ü', '日本', '😀', '👍🏽', 'ß', 'e\u0301', 'Ω'];
const CHARACTERS = [...'*?+@!()[]{},|./\\"^$-:;<>=~#%&\' ', '**', '(', ')', '{', '}', '[', ']', '*', '/', 'a', 'b', '1'];
const LETTERS = [...'abc123'];

const word = () => pick(NAMES);
const file = () => `${word()}.${pick(EXTENSIONS)}`;
const letters = () => times(1, 3, () => pick(LETTERS)).join('');
const segment = () => pick([word, file, word])();
const rootPath = () => times(1, 4, segment).join('/');

/// A piece of a pattern; deeper pieces are simpler.
const piece = depth => {
  const simple = [letters, letters, () => '*', () => '?', () => '.', word];
  const nested = [
    () => `{${times(2, 3, () => piece(depth - 1)).join(',')}}`,
    () => `${pick([...'@?*+!'])}(${times(1, 3, () => piece(depth - 1)).join('|')})`,
    () => `(${times(1, 3, () => piece(depth - 1)).join('|')})`,
    () => `[${pick(['', '!', '^'])}${letters()}]`,
    () => `[${pick(['a-c', '0-9', 'b-', '^a-b', '!1-2'])}]`,
    () => '**',
    () => `${piece(depth - 1)}/${piece(depth - 1)}`,
  ];
  return pick(depth > 0 ? [...simple, ...nested] : simple)();
};
const pattern = depth => times(1, 3, () => times(1, 3, () => piece(depth)).join('')).join('/');
const around = middle => pick([m => m, m => `${word()}/${m}`, m => `**/${m}`, m => `${m}/**`, m => `${m}.ts`, m => `*${m}`, m => `${m}*`])(middle);

/// Every feature: fixed patterns, and a function that generates more.
const FEATURES = {
  literal: [['a', 'a/b', 'src/main.ts', 'a.b', 'a-b_c', '.a', '.a/.b', 'A', 'src'], rootPath],
  star: [['*', '*.ts', 'a*', '*a', 'a*b', '*.*', '*a*b*', 'src/*', 'src/*.ts', '*/*', '*/*.ts', '*/a', '.*', 'a/.*', '.*/a', '*.', '*..*', '*.d.ts', '*-x.ts', 'a.*', 'src/a.*'],
    () => times(1, 3, () => times(1, 3, () => pick(['*', letters(), '.', word()])).join('')).join('/')],
  question: [['?', '??', '?.ts', 'a?', 'a?c', '?/?', 'src/?', '.?', '?*', '*?', 'a/??/b'],
    () => times(1, 3, () => times(1, 3, () => pick(['?', '??', letters(), '*'])).join('')).join('/')],
  globstar: [['**', '**/*', '**/a', 'a/**', '**/a/**', 'a/**/b', '**/**', '**/**/**', 'a/**/**', 'a/**/**/b', '**/**/a', '***', 'a**', '**a', 'a**b', 'a/**b', '**.ts', '**/*.ts', '**/*.*', '**/.*', '**/', 'a/**/', 'a/**/*', 'a/**/*.ts', '**/a/*.ts', '**/a/**/*.ts', '**/*/a', '*/**', '*/**/a', '**/a/**/b/**', 'a/***', 'a/***/b', '****', '**/***', 'src/**/test/**/*.ts', 'a/**/b/**/c', 'a/b/**'],
    () => times(1, 5, () => pick(['**', '**', '*', word(), letters(), '*.ts', '***', `${word()}**`])).join('/')],
  braces: [['{a,b}', '*.{ts,tsx}', '**/*.{ts,tsx}', 'src/**/*.{ts,tsx,js}', '{src,lib}/**', '{a,b}/{c,d}', '{a,{b,c}}', '{a,b{c,d}e}', '{a}', '*.{ts}', '{}', 'a{}', '{,a}', '{a,}', 'a{,b}', 'a{,.ts}', '{,}', '{{a,b}}', '{a,b}{a,b}', '{**/a,b}', '{a/**,b}', '{*.ts,*.js}', '{a,b}*', '*{a,b}', '{a,b}/**/c', 'a/{b,c}/**', '{.a,b}', '{a.b,c}', '{a,b}.{ts,js}', 'src/{a,b}.ts', '**/{a,b}', '**/{a,b}.ts', '{src/**,lib/*}.ts', 'a{b,c', 'a,b', '{a,b}?', '{a,b}+', '{*,a}', '{**,a}', '**/{*.ts,b}', '{a ,b}'],
    () => around(`{${times(1, 3, () => pick([letters(), word(), '', '*', '**', `{${letters()},${letters()}}`, `${letters()}/${letters()}`, `*.${letters()}`])).join(',')}}`)],
  ranges: [['{1..3}', '{a..c}', 'a{1..3}b', '{3..1}', '{c..a}', '{01..03}', '{1..10}', '{a..c..2}', '{1..3}.ts', '{a..3}', '{..}', '{a..}', '{..a}', '{1...3}', '{1..3,a}', '{a,1..3}', '{-1..1}', '{{1..3},a}', '{a.b..c}', '{z..a}/*', '{A..z}', '{1..2}{a..b}', '{é..ü}', '{1..3', '{*..a}', '{1....3}', '{a..c}+'],
    () => around(`{${times(2, 3, () => pick([letters(), pick(LETTERS), pick(LETTERS), '-'])).join(pick(['..', '..', '...', '.,']))}}`)],
  at: [['@(a|b)', '@(a)', 'a@(b|c)d', '@(a|b)/**', '**/@(a|b)', '*.@(ts|tsx)', '@(a/b|c)', '@()', '@(a|)', '@(*)', '@(**)', '@(a|@(b|c))', '@', 'a@b', '@scope/x', '@(?a)', 'src/@(a|b).ts', '@(a/**)', 'a@(/**)'],
    () => around(`@(${times(1, 3, () => piece(1)).join('|')})`)],
  optional: [['?(a|b)', 'a?(b)', 'a?(b)c', '?(a)/b', '*.ts?(x)', '**/*.?(m)ts', '?()', '?(a|?(b))', '?(a)?(b)', 'src/?(a)', 'a?(/**)', '?(*)', '.?(a)'],
    () => around(`?(${times(1, 3, () => piece(1)).join('|')})`)],
  any: [['*(a|b)', '*(a)', 'a*(b)c', '*(ab|c)/x', '*()', '*(', 'a*(', '*(*(a))', '*(a|aa)', '*(*)', '*(a|*)', '*(a|*(b))', '*(*(a)|*(b))', '*(a)*(b)', '**(a)', '*(.a)', 'src/*(a|b)', '*(a/b)', '*(@(a)|b)', '*( a|b)'],
    () => around(`*(${times(1, 3, () => piece(1)).join('|')})`)],
  some: [['+(a|b)', '+(a)', 'a+(b)c', '+(ab|c)/x', '+()', '+', 'a+b', 'a+', '+a', '+(+(a))', '+(a|aa)', '+(a|+(b))', '+(*(a))', '+(*(a)|*(b))', '+(*(a)|b)', '+(*(a)*(b))', '+(*(ab))', '+(x+(y))', '+([0-9])', '+([a-z]).ts', 'a++', '(a)+', '(a)++', '[a]+', '{a,b}+', '(+a)', '+(?)', '+(a|?)', '+(\\a)', '+("a")', '+(a|b|a)', 'x+(*(a))', '+(*(a)|bc)', '+(*(-)|*(]))', '+(*(😀))'],
    () => around(`+(${times(1, 3, () => piece(1)).join('|')})`)],
  not: [['!(a)', '!(a|b)', '!(a)/b', 'a/!(b)', 'a/!(b|c)/d', '!(*.ts)', '*.!(ts)', '**/!(a)', '**/!(*.d).ts', '!(*.d).ts', '!(*.d).{ts,tsx}', '!(a).ts', 'src/!(*.test).ts', '!(a/b)', '!(a/**)', '!(**/a)', '!(!(a))', '!()', '!(a)*', 'a!(b)c', '!(a)!(b)', '@(!(a)|b)', '!(a|b/**)', 'src/**/!(*.spec|*.test).ts', '!(*)', '!(**)', '!(a)/**', '!(src)/**/*.ts', '!(.a)', '!(a', '!(a).!(b)', '*(!(a))', '+(!(a)b)', '!(*a).@(js)', '!(a*).b.c', '!(node_modules)/**', '(!(a))', '!(a)b', 'x!(*).ts'],
    () => around(`!(${times(1, 3, () => piece(1)).join('|')})`)],
  parens: [['(a|b)', '*.(ts|tsx)', '**/*.(ts|tsx)', '(a)', 'a(b)c', '()', '(a', 'a)', '(a|b)/**', '((a|b)|c)', '(a)?', '(a)*', '(*)', '(**)', '(?:a|b)', '(?=a)*', '(?!a)*', '(?!a).*', '(a/**)', 'a(/**)', 'a(/b/**)', 'test(/a/**)', '(a|b', 'a|b', 'a|b/c', '|', '(|a)', '(?a)', '(?i:a)', 'a))(b', '{a))', '({a))', '(?<x>a)', '(.a)', '(./a)'],
    () => around(`(${times(1, 3, () => piece(1)).join('|')})`)],
  posix: [['[[:alpha:]]', '[[:digit:]]*', 'a[[:digit:]]', '[[:alpha:][:digit:]]', '[^[:alpha:]]', '[![:alpha:]]', '[[:upper:]]*', '[[:lower:]]*', '[[:alnum:]_]', '[[:punct:]]', '[[:space:]]', '[[:xdigit:]]', '[[:word:]]', '[[:blank:]]', '[[:print:]]', '[[:graph:]]', '[[:cntrl:]]', '[[:ascii:]]', '[[:nope:]]', '[:alpha:]', '[[:alpha:]', '[[:alpha:]]/**', '**/[[:digit:]]', '[a[:digit:]b]', '[[:alpha:]-z]', '+([[:alpha:]])', 'src/[[:alpha:]].ts'],
    () => around(`[${pick(['', '^', '!'])}${times(1, 2, () => `[:${pick(['alpha', 'digit', 'upper', 'lower', 'alnum', 'word', 'x'])}:]`).join(pick(['', 'a', '-']))}]`)],
  brackets: [['[abc]', '[a-c]', '[!a]', '[^a]', '[!a-c]', '[^a-c]', '[lang]', 'app/[lang]/page.tsx', 'app/[...slug]/page.tsx', 'app/[[...slug]]/x', '[id].ts', '[a', 'a]', '[]', '[]a]', '[^]a]', '[!]a]', '[a-]', '[-a]', '[z-a]', '[a]b', '[a][b]', '[a/b]', '[^/]', '[*]', '[?]', '[.]', '[\\]]', '[\\a]', '[\\d]', '[[]', '[[a]', '[a]]', '[a[b]', '[]]', '[^]', '[!]', '[a-c]*', '*[a]', '[a]/**', '**/[id]', '[a]?', '[$]', '[{a,b}]', '{[a],b}', '[a,b]', '[(a)]', '[a|b]', '[a"b]', '[ab', 'x[', 'x]', '[é]', '[é-ü]', '[\\', '[\\]', '[a\\', '[[:a', '[--a]', '[a-b-c]', '(app)/page.tsx', '[\\w-a]'],
    () => around(`[${pick(['', '', '^', '!'])}${times(1, 4, () => pick([pick(LETTERS), 'a-c', '-', '.', '[', '\\]', '\\d', '^', '!', ':', '/', 'é', '*'])).join('')}]`)],
  escapes: [['\\*', '\\a', 'a\\*b', '\\?', '\\[a\\]', '\\{a,b\\}', '\\(a\\)', '\\!a', '\\\\', 'a\\', '\\d', '\\d+', '\\w', 'a/\\d', 'a/\\w*', '\\.', '\\.a', 'a\\.b', 'a\\/b', '\\;', '\\@(a)', '\\+(a)', '\\**', '*\\*', 'a/\\*', 'a/\\*\\*', '\\\\a', 'a/\\\\b', 'a/\\\\\\b', 'a/\\\\\\\\b', '\\\\\\a', '\\\\\\\\a', '\\$', '\\^a', '\\b', 'a/\\bb', 'a\\b', '\\n', '\\t', '\\x61', '\\u0061', 'a/\\x61', '\\cA', '\\0', '\\1', 'a/\\1', '{a\\,b}', '[\\a-c]', '\\{a,b}', '{a,b\\}', '\\é', '\\😀', 'a/\\k', '\\s', 'a/\\S', '\\"a\\"', 'a/\\\\\\\\{2}', 'a/\\u{2}', '\\?\\?', '\\??', '\\***', '\\..', 'a/\\-b'],
    () => times(1, 3, () => times(1, 3, () => pick([letters(), `\\${pick(CHARACTERS)}`, `\\${pick(LETTERS)}`, '*', `\\${pick([...'dwsbBDWSntx'])}`])).join('')).join('/')],
  prefixes: [['./a', './*.ts', './src/**', './**/*.ts', './**', './.a', '././a', './/a', '/a', '/src/**', '/**', '/*', '//a', '../a', '../**', './', '.', '..', '/', '...', './!a', '!./a', '!/a', '~/a', '*/./a', 'a/./b', 'a/../b', './{a,b}', './(a)', './[a]', '.a/b', './*', './.*'],
    () => pick(['./', '/', '../', '././', '.']) + pattern(1)],
  trailing: [['a/', 'a/b/', '*/', '**/', 'src/', 'src/**/', '*.ts/', 'a//', '{a,b}/', '@(a|b)/', '[a]/', '**/a/', '?/', 'a/*/', 'a/**//', '*//', 'a//b'],
    () => `${pattern(1)}/`],
  negation: [['!a', '!src/**', '!*.ts', '!**/*.ts', '!!a', '!!!a', '!', '!!', '!!(a)', '!(a)', 'a!', 'a/!b', '!*', '!**', '!**/*', '!{a,b}', '![a]', '!@(a|b)', '!a*', '!.a', '!/a', '!a/', '!!*.ts', '!!src/**', '!\\a', '!(?a)', '!(?:a)b', '!"a"', '!a/**/b', '!src/*.{ts,js}', '!!!(a)', '!(!a)', '!a(b'],
    () => pick(['!', '!', '!', '!!', '!!!']) + pattern(1)],
  quotes: [['"a"', '"*"', '"a*b"', 'a"b"', 'a/"b"', '"a/b"', '"a', 'a"', '""', '"', '*"a"', '"a"*', '"{a,b}"', '"[a]"', '"(a)"', '"a|b"', "'a'", '`a`', '"**"', '"a".ts', '/"*"', '"*.ts"', '{"a,b",c}', '@("a|b")', '"\\a"', '*."ts"'],
    () => times(1, 3, () => pick([`"${piece(1)}"`, letters(), '"', `*"${letters()}"`, word()])).join(pick(['', '/']))],
  unbalanced: [['(', ')', '[', ']', '{', '}', '((', '))', '{{', '}}', '[[', ']]', '(a', 'a)', '{a', 'a}', '{a,b', 'a,b}', '(a|b', '@(a', '!(a', '+(a', '*(a', '?(a', '*/(a', '*/{a', '*/[a', '(a))', '((a)', '{a}}', '{{a}', '[a]]', '[[a]', '({a)}', '{(a})', '{a,(b}', '(a,{b)', '*)', '*}', '*]', '@(a))', '{a..b', '+(a|{b)', '{a..+(b|b)}', '{a..*(b}c)', '*{a))', '**/{a', '**/(a', '(**', '{**', '@(**'],
    () => times(1, 9, () => pick(CHARACTERS)).join('')],
  metacharacters: [['a.b', 'a+b', 'a$', '^a', '$a', 'a^', 'a|b', 'a$b', '^', '$', 'a.*b', '.+', 'a/.+', 'a/b+', 'a{2}', 'a{2,3}', 'a/(b){2}', 'a/b?', '.*?', 'a#b', 'a&b', 'a=b', 'a:b', 'a;b', 'a<b>', 'a~', 'a%20b', "a'b", 'a b', 'a/$b', 'a/^b', '(a$)', '(^a)', '(a|^b)', 'x-y', 'C:/a', 'a/-', '(a)-(b)', '\\(a|b\\)', '(a)+b', '(.)', '(.+)', '(a.b)'],
    () => times(1, 3, () => times(1, 4, () => pick([pick(LETTERS), pick([...'.+$^|&=:;<>~%#\' -']), '*', '(a)'])).join('')).join('/')],
  unicode: [['é', '*.é', '日本/**', '**/日本/*', '?', '??', '😀', '?😀', '[😀]', '[é]', '{é,ü}', '@(é|😀)', '!(é)', '*é*', 'é?', '[^é]', '[!é]', '😀*', '**/😀', 'e\u0301', 'É', '[à-ÿ]', '{😀,a}', '+(😀)', '????', '(😀)', '"😀"', '\u00a0', '[😀-😂]', '*(é|日)', 'ß', 'SS'],
    () => around(pick(UNICODE) + pick(['', '*', '?', '??', `{${pick(UNICODE)},${pick(UNICODE)}}`, `[${pick(UNICODE)}]`, `@(${pick(UNICODE)}|a)`]))],
  linebreaks: [['*', '**', '**/*', 'a/**', '*\n*', 'a\nb', '?', '!a', '**/a', '*.ts', '**/*.ts', '[^a]', '(.)', '@(a|b\n)', '+([[:space:]])', '!(a)', 'a/!(b/c)'],
    () => around(pick(['*', '?', '**', 'a\nb', '[\n]', '!(a)', '{a,\n}', '(.*)']))],
  everyday: [['**/*.test.ts', 'src/**/*.{ts,tsx}', 'app/api/**', '**/__tests__/**', 'docs/**/*.md', 'packages/*/src/**', '*.{json,yml,yaml}', '.github/workflows/*.yml', '**/node_modules/**', '!**/node_modules/**', 'src/components/**/*.tsx', 'Makefile', '**/Makefile', 'tsconfig*.json', '**/tsconfig.*.json', '{src,test}/**/*.ts', '.cursor/rules/*.mdc', '**/.env*', 'crates/*/Cargo.toml', 'src/app/(group)/**', 'src/app/[locale]/**/page.tsx', '**/*.(spec|test).ts', '**/*.+(ts|tsx)', 'a/**/b/*.c', '**/*.{test,spec}.{ts,tsx}', '**/@(a|b)/**', '**/!(*.test).ts', '**/migrations/*.sql', 'src/**/index.ts', '*'],
    () => pick([`**/*.${pick(EXTENSIONS)}`, `${word()}/**/*.${pick(EXTENSIONS)}`, `**/${word()}/**/*.{${pick(EXTENSIONS)},${pick(EXTENSIONS)}}`, `{${word()},${word()}}/**`, `**/${word()}/*`, `${word()}/*/${file()}`, `**/*-${word()}.${pick(EXTENSIONS)}`, `${word()}/**/${word()}/**`, `*.{${pick(EXTENSIONS)},${pick(EXTENSIONS)}}`])],
  mixed: [[], () => pattern(2)],
};

const POOL = ['a', 'b', 'c', 'ab', 'abc', 'aa', 'aab', 'a/b', 'a/b/c', 'a/c', 'a.ts', 'b.ts', 'a.b', 'a.d.ts', 'src/a.ts', 'src/main.ts', 'src/a/b/c.ts', '.a', '.git/a', 'a/.b', '1', '12', 'a1', 'x.js', 'A', 'a/', 'a b', 'a-b', 'lib/index.js', '*', '(a)', '[a]', '{a}', 'a+b', 'a|b', '日本', '😀', 'é', 'lang', 'app/[lang]/page.tsx', 'a\nb', 'a/b\n/c', 'a"b', "'a'", '...', '..a', '.a.b', 'é/ü.ts', '-', 'x/a/y', 'x/y/a', 'src', 'src/', 'test/a.test.ts', 'a.tsx', 'src/a.spec.ts'];

/// A path that probably matches: wildcards are filled in, and one branch of each group is chosen.
const likely = pattern => {
  let text = pattern.replace(/^!+(?!\()/, '').replace(/^\.\//, '');
  for (let round = 0; round < 4; round++) {
    text = text.replace(/[@?*+!]?\(([^()]*)\)/g, (_, body) => pick(body.split('|')));
    text = text.replace(/\{([^{}]*)\}/g, (_, body) => pick(body.split(chance(0.5) && body.includes('..') ? '..' : ',')));
  }
  text = text.replace(/\[([^\]]*)\]/g, (all, body) => pick([all, [...body.replace(/[!^-]/g, '')][0] ?? '', pick(LETTERS)]));
  text = text.replace(/\*\*+/g, () => pick(['a', 'a/b', 'src/.x/c', word(), '']));
  text = text.replace(/\*/g, () => pick([letters(), '', word(), '.a', 'a.b']));
  text = text.replace(/\?/g, () => pick([...LETTERS, '.', '']));
  return chance(0.8) ? text.replace(/[\\"]/g, '') : text;
};

const altered = path => {
  const at = below(path.length + 1);
  return pick([
    () => path,
    () => `${path}/`,
    () => `${path}/${segment()}`,
    () => `${segment()}/${path}`,
    () => path.slice(0, at) + path.slice(at + 1),
    () => path.slice(0, at) + pick([...LETTERS, '.', '/', 'é', '😀', 'A', '\n', ' ']) + path.slice(at),
    () => path.toUpperCase(),
    () => path.split('/').slice(1).join('/'),
    () => path.split('/').slice(0, -1).join('/'),
  ])();
};

/// Root-relative, no empty, `.` or `..` segments; a trailing slash may stay.
const normal = path => {
  const parts = path.toWellFormed().split('/').filter(part => part !== '' && part !== '.' && part !== '..');
  if (parts.length === 0 || path.includes('\0')) return;
  return parts.join('/') + (path.endsWith('/') ? '/' : '');
};

const pathsFor = (pattern, count) => {
  const paths = new Set();
  for (let tries = 0; tries < count * 6 && paths.size < count; tries++) {
    const path = normal(pick([() => likely(pattern), () => altered(likely(pattern)), () => pick(POOL), rootPath])());
    if (path !== undefined) paths.add(path);
  }
  return [...paths];
};

/// Picomatch never returns from these.
const hangs = pattern => /\\{4,}$/.test(pattern) || /\[:\w*:?$/.test(pattern);

/// Claude Code expands braces one by one before it passes the pattern to its `.gitignore` library.
const expand = pattern => {
  const group = /^([^{]*)\{([^}]+)\}([^]*)$/.exec(pattern);
  if (!group) return [pattern];
  return group[2].split(',').flatMap(word => expand(group[1] + word.trim() + group[3]));
};
const claudeLine = line => expand(line).map(one => one.replace(/\/\*\*$/, ''));

const folder = mkdtempSync(join(tmpdir(), 'globs-'));
process.on('exit', () => rmSync(folder, { recursive: true }));
const git = (...args) => execFileSync('git', ['-C', folder, ...args], { stdio: ['pipe', 'pipe', 'ignore'], maxBuffer: 1 << 26 });
/// A repository whose list of patterns is rewritten for every pattern.
let repository = () => {
  git('init', '-q');
  repository = () => folder;
  return folder;
};

const isLine = text => !/[\n\r\0]/.test(text);
/// Git counts bytes; the others count characters.
const countsAlike = (pattern, path) => !/[?[]/.test(pattern) || /^[ -~]*$/.test(pattern + path);

/// The original implementation of each dialect. `ask` returns its answers for one pattern, or a list of lines, in the order of the paths.
const DIALECTS = {
  picomatch: {
    takes: pattern => !hangs(pattern),
    ask: (pattern, paths) => {
      const isMatch = picomatch(pattern, { dot: true, windows: false });
      return paths.map(path => isMatch(path));
    },
  },
  minimatch: {
    takes: () => true,
    ask: (pattern, paths) => paths.map(path => minimatch(path, pattern, { platform: 'linux' })),
  },
  gitignore: {
    takes: (pattern, feature) => feature === 'list' || isLine(pattern),
    // A leading colon has a special meaning on git's command line.
    keeps: (pattern, path) => isLine(path) && !/^:|\/$|^\.git(?:\/|$)/.test(path) && countsAlike(pattern, path),
    ask: (pattern, paths) => {
      writeFileSync(join(repository(), '.git/info/exclude'), pattern + '\n');
      const input = paths.map(path => path + '\0').join('');
      let output = '';
      try {
        output = execFileSync('git', ['-C', folder, '-c', 'core.ignoreCase=false', '-c', 'core.excludesFile=', 'check-ignore', '--no-index', '--stdin', '-z'], { input, stdio: ['pipe', 'pipe', 'ignore'] }).toString();
      } catch (error) {
        if (error.status !== 1) throw error;
      }
      const ignored = new Set(output.split('\0'));
      return paths.map(path => ignored.has(path));
    },
    hasLists: true,
  },
  claude: {
    // Left out: its library misreads escapes, and in brackets wildcards, slashes, some ranges and a range from a caret; the meaning of
    // a `!` or `#` that results from braces is our decision.
    takes: (pattern, feature) => feature === 'list' || (isLine(pattern) && !/\\|\[[^\]]*(?:[*?/]|\^-|[ -.]-[0-~])|[{,]\s*[!#]/.test(pattern)),
    keeps: (_, path) => isLine(path),
    ask: (pattern, paths) => {
      const rules = ignore().add(pattern.split('\n').flatMap(claudeLine));
      return paths.map(path => rules.ignores(path));
    },
    hasLists: true,
  },
  vscode: {
    takes: pattern => !pattern.startsWith('/') && pattern === pattern.trim(),
    // The folders above the workspace are unknown; leading stars may match some of them.
    ask: (pattern, paths) => paths.map(path => ['*', '**', '**/*'].includes(pattern) || vscode(`**/${pattern.replace(/^(?:\*+\/)+/, '')}`, path, { ignoreCase: true })),
  },
};

const answers = ({ takes, keeps = () => true, ask }, feature, pattern, paths) => {
  const kept = paths.filter(path => keeps(pattern, path));
  if (pattern === '' || kept.length === 0 || !takes(pattern, feature)) return [];
  try {
    const matches = ask(pattern, kept);
    return kept.map((path, at) => [feature, pattern, path, matches[at] ? '1' : '0']);
  } catch {
    return [];
  }
};

const ESCAPES = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r', '\0': '\\0', '\u2028': '\\L', '\u2029': '\\P' };
const escaped = text => text.replace(/[\\\t\n\r\0\u2028\u2029]/g, c => ESCAPES[c]);
const lines = rows => rows.map(row => row.map(escaped).join('\t') + '\n').join('');

/// Lists of several lines, in which a negated line reverts an earlier one.
const LISTS = [['a\n!a', '!a\na', 'a/\n!a/b', 'a/*\n!a/b', '*\n!*.ts', '*\n!*/\n!*.ts', 'src/**\n!src/gen/**', 'src/*\n!src/a.ts', '/*\n!/src', 'a\n!/a', '*.ts\n!src/*.ts', '**\n!a', 'src\n!src/a.ts', '# a\na', 'a\n\n!b'],
  () => times(2, 5, () => pick(['', '', '!']) + pick([word, () => `${word()}/`, () => `${word()}/*`, () => `*.${pick(EXTENSIONS)}`, () => `/${word()}`, () => `${word()}/**`, () => `**/${word()}`, () => `${word()}/${segment()}`])()).join('\n')];

const featuresOf = dialect => dialect.hasLists ? { ...FEATURES, list: LISTS } : FEATURES;
/// For a list, paths are generated from one of its lines.
const lineOf = pattern => pattern.includes('\n') ? pick(pattern.split('\n')) || 'a' : pattern;

const testData = dialect => {
  random = randomFrom(SEED);
  const rows = [];
  for (const [feature, [fixed, make]] of Object.entries(featuresOf(dialect))) {
    const patterns = new Set(fixed);
    for (let tries = 0; tries < 500 && patterns.size < fixed.length + PATTERNS_PER_FEATURE; tries++) patterns.add(make());
    for (const pattern of patterns) {
      const paths = feature === 'list' ? times(4, 4, () => pathsFor(lineOf(pattern), 2)).flat() : pathsFor(pattern, PATHS_PER_PATTERN);
      rows.push(...answers(dialect, feature, pattern.toWellFormed(), [...new Set(paths)]));
    }
  }
  return lines(rows);
};

const [, , mode, name, count, seed, only] = process.argv;
if (mode === 'fuzz') {
  random = randomFrom(Number(seed ?? 1));
  const dialect = DIALECTS[name];
  const features = Object.entries(featuresOf(dialect)).filter(([feature]) => !only || feature === only);
  for (let asked = 0; asked < Number(count); ) {
    const [feature, [fixed, make]] = pick(features);
    const pattern = (fixed.length > 0 && chance(0.1) ? pick(fixed) : make()).toWellFormed();
    const rows = answers(dialect, feature, pattern, pathsFor(lineOf(pattern), 5));
    asked += rows.length;
    process.stdout.write(lines(rows));
  }
} else {
  const target = new URL('../crates/rulebook/tests/globs/', import.meta.url);
  mkdirSync(target, { recursive: true });
  for (const [name, dialect] of Object.entries(DIALECTS)) writeFileSync(new URL(`${name}.tsv`, target), testData(dialect));
}
