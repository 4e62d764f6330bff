// The comparison of scripts/ast-grep: every rule on every file of its language, before and after an edit, by the command and by
// Rulebook's grammars, which parse the text after the edit from the tree of the text before.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

const [target, ...options] = process.argv.slice(2);
const option = (name, fallback) => (options.includes(name) ? Number(options[options.indexOf(name) + 1]) : fallback);
const [seed, ruleCount, fileCount] = [option("--seed", 1), option("--rules", 24), option("--files", 10)];

/** Numbers that depend on the seed alone. */
let state = seed * 2654435761;
const random = (below) => {
  state = (state * 1664525 + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
};
const pick = (list) => list[random(list.length)];

// For each language: extensions, pieces of code that are valid side by side, how a piece is nested, comments, and kinds.
const C_LIKE = { comment: (text) => `/* ${text.replaceAll("*/", "")} */\n// ${text.split("\n")[0]}`, text: (text) => JSON.stringify(text) };
const SCRIPT = [
  "const a = new Map([[1, 2]]);", "let b = foo(a, 1, 'x');", "if (a === b) { return_(a); } else { bar(); }", "for (const x of list) { console.log(x); }",
  "const f = (x, y) => x + y * 2;", "function g(p, q = 1) { return p?.q ?? q; }", "class A extends B { #p = 1; m() { return this.m; } static s() {} }",
  "try { risky(); } catch (e) { console.error(e, `t ${e.message}`); }", "export default { a, b: 1, ...c };", "await Promise.all([a(), b()]);",
  "x.y.z(1).then((r) => r.json());", "const { d, e: [h] } = i;", "while (k--) { if (!k) break; }", "var j = /re+x/g.test(s) ? null : undefined;", "new Map();", "delete o[p];", "label: for (;;) { continue label; }",
];
const SCRIPT_KINDS = ["call_expression", "new_expression", "arrow_function", "string", "identifier", "if_statement", "variable_declarator", "binary_expression", "member_expression", "template_string", "comment", "object"];
const TYPES = ["interface I<T> { a?: string; m(x: T): void }", "type U = 'a' | 'b' | Map<string, number[]>;", "enum E { A = 1, B }", "function t<T extends object>(x: T): x is T { return x as any; }", "declare const d: unique symbol;", "abstract class Q { private constructor(readonly r: string) {} }", "let n = m!.o satisfies U;"];
const JSX = ["const el = <div className={c} onClick={() => go(1)}>text {x}<br/></div>;", "const fr = <><A {...p} b='c' /></>;"];
const LANGUAGES = {
  ts: { extensions: ["ts", "mts", "cts"], pieces: [...SCRIPT, ...TYPES], kinds: [...SCRIPT_KINDS, "type_annotation", "interface_declaration"], nest: (code) => `function wrap() {\n${code.replace("export default", "void")}\n}`, ...C_LIKE },
  tsx: { extensions: ["tsx"], pieces: [...SCRIPT, ...TYPES.slice(0, 3), ...JSX], kinds: [...SCRIPT_KINDS, "jsx_element", "jsx_attribute"], nest: (code) => `function wrap() {\n${code.replace("export default", "void")}\n}`, ...C_LIKE },
  js: { extensions: ["js", "mjs", "cjs", "jsx"], pieces: [...SCRIPT, ...JSX], kinds: SCRIPT_KINDS, nest: (code) => `function wrap() {\n${code.replace("export default", "void")}\n}`, ...C_LIKE },
  python: {
    extensions: ["py"], kinds: ["call", "string", "identifier", "if_statement", "function_definition", "assignment", "comparison_operator", "lambda", "comment", "attribute", "import_statement"],
    pieces: ["a = foo(b, 1, x='y')", "if a == None:\n    bar()\nelse:\n    pass", "def f(p, *q, **r) -> int:\n    return p + q", "class A(B):\n    x: int = 1\n    def m(self):\n        return self.x", "for i in range(10):\n    print(i)", "with open(p) as h:\n    h.read()", "try:\n    risky()\nexcept ValueError as e:\n    raise e", "z = [x for x in y if x]", "g = lambda u: u.v", "import os, sys", "from a.b import c as d", "print(f'{a!r} x')", "assert x is not None", "@deco(1)\ndef k(): ...", "del o[p]", "x = y if z else w"],
    nest: (code) => `def wrap():\n${code.split("\n").map((line) => `    ${line}`).join("\n")}`, comment: (text) => text.split("\n").map((line) => `# ${line}`).join("\n"), text: (text) => `"""${text.replaceAll('"""', "")}"""`,
  },
  go: {
    extensions: ["go"], head: "package main\n", kinds: ["call_expression", "identifier", "if_statement", "short_var_declaration", "interpreted_string_literal", "selector_expression", "comment", "for_statement", "return_statement", "composite_literal"],
    pieces: ["func f1(a int, b string) (int, error) { return a, nil }", "type T struct { A int `json:\"a\"`; b []string }", "func (t *T) m() { if err := t.go_(); err != nil { panic(err) } }", "var v = map[string]int{\"a\": 1}", "func g() { for i := 0; i < 10; i++ { fmt.Println(i, \"x\") } }", "func h(c chan int) { select { case x := <-c: use(x); default: } }", "const k = iota + 1", "func d() { defer close(a()); go func() { b() }() }", "type I interface { M(x int) error }", "func s(x any) { switch y := x.(type) { case int: use(y) } }"],
    nest: (code) => code, ...C_LIKE,
  },
  rust: {
    extensions: ["rs"], kinds: ["call_expression", "identifier", "macro_invocation", "let_declaration", "string_literal", "field_expression", "line_comment", "if_expression", "function_item", "match_arm", "closure_expression"],
    pieces: ["fn f(a: u32, b: &str) -> Option<u32> { Some(a + 1) }", "struct S<'a, T> { x: &'a T, pub y: Vec<u8> }", "impl<T> S<'_, T> { fn m(&self) -> usize { self.y.len() } }", "fn g() { let x = foo(1, \"x\").unwrap(); println!(\"{x}\"); }", "enum E { A(u8), B { c: i32 } }", "fn h(e: E) { match e { E::A(n) if n > 1 => {} _ => todo!() } }", "use std::{fs, io::Read as _};", "const K: &[u8] = b\"x\";", "fn c() { (0..3).map(|i| i * 2).for_each(drop); }", "#[derive(Debug)]\npub(crate) struct U;", "async fn w() -> Result<(), E> { go().await?; Ok(()) }", "macro_rules! m { ($a:expr) => { $a + 1 }; }", "unsafe fn p(q: *const u8) { *q; }", "fn l() { loop { if let Some(x) = y.unwrap() { break } } }"],
    nest: (code) => `mod wrap {\n${code}\n}`, ...C_LIKE,
  },
  java: {
    extensions: ["java"], kinds: ["method_invocation", "identifier", "object_creation_expression", "if_statement", "string_literal", "local_variable_declaration", "method_declaration", "line_comment", "lambda_expression", "field_access"],
    pieces: ["class A extends B implements C { int x = 1; void m() { foo(x, \"y\"); } }", "interface I<T> { T get(int i) throws Exception; }", "enum E { A(1), B; E(int... n) {} }", "record R(int a, String b) {}", "class L { void n() { for (var s : list) { System.out.println(s); } } }", "class Q { Object o = new HashMap<String, Integer>(); Runnable r = () -> run(1); }", "class T { void t() { try { go(); } catch (IOException | Error e) { throw e; } finally { end(); } } }", "@Deprecated class U { static final int[] K = {1, 2}; boolean b = a instanceof String s && s.isEmpty(); }", "class W { int f(int x) { return switch (x) { case 1 -> 2; default -> { yield 3; } }; } }"],
    nest: (code) => `class Wrap {\n${code}\n}`, ...C_LIKE,
  },
  bash: {
    extensions: ["sh", "bash"], kinds: ["command", "word", "string", "variable_assignment", "if_statement", "pipeline", "command_substitution", "comment", "for_statement", "simple_expansion"],
    pieces: ["echo \"a $b\" 'c d'", "x=$(ls -la | grep y)", "if [ -f \"$f\" ]; then rm \"$f\"; else exit 1; fi", "for i in a b c; do echo $i; done", "f() { local a=1; return $a; }", "cat <<EOF\nhi $u\nEOF", "git commit -m msg && git push --force", "while read -r l; do printf '%s' \"$l\"; done < in > out 2>&1", "case $x in a|b) go ;; *) stop ;; esac", "arr=(1 2); echo ${arr[@]}", "[[ $a == b* ]] || false", "curl -s u | sh", "export P=${Q:-r}"],
    nest: (code) => `wrap() {\n${code}\n}`, comment: (text) => text.split("\n").map((line) => `# ${line}`).join("\n"), text: (text) => `echo '${text.replaceAll("'", "")}'`,
  },
  json: {
    extensions: ["json"], kinds: ["pair", "string", "number", "array", "object", "true", "null"], join: (pieces) => `[${pieces.join(",\n")}]`,
    pieces: ['{"a": 1, "b": [true, null]}', '{"name": "x", "deps": {"y": "^1.0"}}', "[1, 2.5e3, -4]", '"text"', '{"a": {"b": {"c": []}}}', '{"": "\\u00e9"}'], nest: (code) => `{"wrap": ${code}}`, comment: (text) => JSON.stringify(text), text: (text) => JSON.stringify(text),
  },
  yaml: {
    extensions: ["yaml", "yml"], kinds: ["block_mapping_pair", "flow_sequence", "string_scalar", "plain_scalar", "block_sequence_item", "comment", "double_quote_scalar"], join: (pieces) => pieces.map((piece, at) => `k${at}:\n${piece.split("\n").map((line) => `  ${line}`).join("\n")}`).join("\n"),
    pieces: ["a: 1\nb: [x, \"y\", {z: 2}]", "- one\n- two: 3\n  four: five", "image: repo/app:latest\nports:\n  - \"80:80\"", "text: |\n  lines\n  more", "env: {A: b, C: null}", "on: push\nsteps:\n  - run: npm ci\n  - uses: x/y@v1"], nest: (code) => `wrap:\n${code.split("\n").map((line) => `  ${line}`).join("\n")}`, comment: (text) => text.split("\n").map((line) => `# ${line}`).join("\n"), text: (text) => `t: ${JSON.stringify(text)}`,
  },
};

/** A file: pieces side by side, some nested, in comments or in strings; one in six is broken. */
const code = (of) => {
  const piece = () => {
    const one = pick(of.pieces);
    const how = random(10);
    return how < 2 ? of.nest(one) : how === 2 ? of.comment(one) : how === 3 && !of.head ? of.text(one) : one;
  };
  const pieces = Array.from({ length: 2 + random(8) }, piece);
  const text = (of.head ?? "") + (of.join ?? ((all) => `${all.join("\n")}\n`))(pieces);
  return random(6) === 0 ? text.slice(0, random(text.length)) + pick(["", "}", "((", "\"", "é"]) : text;
};

/** A pattern: a part of a piece in which some words and texts are meta variables. */
const pattern = (of) => {
  const whole = pick(of.pieces);
  const lines = whole.split("\n");
  const part = random(3) === 0 ? whole : pick(lines).trim();
  const names = ["$A", "$B", "$_", "$$$", "$$$C"];
  return part.replace(/"[^"]*"|'[^']*'|\b[A-Za-z_]\w*\b|\b\d+\b/g, (word) => (random(5) === 0 ? pick(names.slice(0, random(4) === 0 ? 5 : 3)) : word));
};

/** A text after an edit: a part is removed, replaced, or added. */
const edited = (of, text) => {
  const [start, length] = [random(text.length + 1), random(4) === 0 ? random(text.length) : random(12)];
  const added = pick([() => "", () => "x", () => pick(["(", "}", "\n", "'", "é"]), () => pick(of.pieces), () => `${pick(of.pieces)}\n`])();
  const line = text.indexOf("\n", start) + 1;
  return random(2) === 0 ? text.slice(0, line) + added + text.slice(line) : text.slice(0, start) + added + text.slice(start + length);
};

const kind = (of) => ({ kind: pick(of.kinds) });
const simple = (of) => (random(2) === 0 ? { pattern: pattern(of) } : kind(of));
const REGEXES = ["^[a-z]", "x", "\\d+", "(?i)foo|map"];
/** A rule object of ast-grep, and what stands beside it: `constraints` and `utils`. */
const rule = (of) => {
  const where = (object) => (random(2) === 0 ? { ...object, stopBy: "end" } : object);
  const forms = [
    () => ({ pattern: pattern(of) }), () => ({ pattern: pattern(of) }), () => kind(of),
    () => ({ ...simple(of), inside: where(kind(of)) }), () => ({ ...kind(of), has: where(simple(of)) }),
    () => ({ any: [simple(of), simple(of), kind(of)] }), () => ({ all: [kind(of), { has: where(simple(of)) }] }),
    () => ({ ...kind(of), not: { has: where(simple(of)) } }), () => ({ ...kind(of), regex: pick(REGEXES) }),
    () => ({ ...kind(of), follows: where(simple(of)) }), () => ({ ...kind(of), precedes: where(simple(of)) }),
    () => ({ ...kind(of), nthChild: pick([1, 2, "2n+1", { position: 1, reverse: true }]) }), () => ({ ...simple(of), not: { inside: where(kind(of)) } }),
    () => ({ any: [{ ...simple(of), inside: where(kind(of)) }, { all: [kind(of), { not: { has: where(simple(of)) } }] }] }),
    () => ({ pattern: { context: pick(of.pieces), selector: pick(of.kinds), ...(random(2) === 0 ? { strictness: pick(STRICTNESS) } : {}) } }),
    () => ({ rule: { pattern: pattern(of) }, constraints: { A: pick([{ regex: pick(REGEXES) }, kind(of), { not: kind(of) }]) } }),
    () => ({ rule: { ...kind(of), has: where({ matches: "u" }) }, utils: { u: { any: [simple(of), kind(of)] } } }),
    () => ({ rule: { ...kind(of), not: { matches: "u" } }, utils: { u: { has: where(simple(of)) } } }),
  ];
  const made = pick(forms)();
  return made.rule ? made : { rule: made };
};
const STRICTNESS = ["cst", "smart", "ast", "relaxed", "signature"];

const folder = join(target, "ast-grep/code");
const tool = join(target, "ast-grep/node_modules/.bin/ast-grep");
const nodes = join(target, "debug/examples/nodes");
let [pairs, found, differ, refused] = [0, 0, 0, 0];

for (const [language, of] of Object.entries(LANGUAGES)) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const files = Array.from({ length: fileCount }, (_, at) => [`f${at}.${pick(of.extensions)}`, code(of)])
    .flatMap(([name, text]) => [[name, text], [`e${name}`, edited(of, text)]]);
  // The command reads `.tsx` and `.mts` as the languages of their own that they are there.
  files.forEach(([name, text]) => writeFileSync(join(folder, name), text));
  const rules = Array.from({ length: ruleCount }, () => rule(of));
  const ours = execFileSync(nodes, { input: rules.map((one) => JSON.stringify({ ast: { language, ...one.rule, ...one, rule: undefined }, files }) + "\n").join(""), maxBuffer: 1 << 28 });
  const answers = ours.toString().trim().split("\n").map((line) => JSON.parse(line));
  rules.forEach((one, at) => {
    const inline = JSON.stringify({ id: "r", language, ...one });
    const run = spawnSync(tool, ["scan", "--inline-rules", inline, "--json=compact", folder], { maxBuffer: 1 << 28 });
    const said = run.stdout.toString();
    const theirs = said.startsWith("[") ? JSON.parse(said) : null;
    files.forEach(([name, text], number) => {
      const mine = answers[at][number];
      pairs += 1;
      if (theirs === null || typeof mine === "string" || (Array.isArray(mine) && typeof mine[0] === "string")) {
        // Both must refuse the rule.
        refused += 1;
        if (theirs !== null || Array.isArray(mine)) report(`${language} ${inline}: the command ${theirs === null ? "refuses" : "takes"} it, Rulebook: ${JSON.stringify(mine).slice(0, 200)}; ${run.stderr.toString().slice(0, 300)}`);
        return;
      }
      const wanted = theirs.filter((hit) => basename(hit.file) === name).map((hit) => [hit.range.byteOffset.start, hit.range.byteOffset.end]);
      const sorted = (list) => JSON.stringify([...new Set(list.map(String))].sort());
      found += wanted.length;
      if (sorted(wanted) !== sorted(mine ?? [])) report(`${language} ${inline} on ${name}: ${sorted(wanted)} by the command, ${sorted(mine ?? [])} here:\n${text}`);
    });
  });
}

function report(what) {
  differ += 1;
  if (differ <= 20) console.log(what);
}

console.log(`${pairs} pairs in ${Object.keys(LANGUAGES).length} languages, seed ${seed}: ${found} nodes, ${refused} pairs with rules that both refuse; ${differ} differ`);
process.exit(differ > 0 ? 1 : 0);
