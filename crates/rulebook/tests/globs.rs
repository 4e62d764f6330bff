//! Globs agree with the tools that they are named after, match in linear time, and never panic.

use std::collections::BTreeMap;

use proptest::prelude::*;
use rulebook::glob::{Decision, Dialect, Glob, GlobError, PathIndex, PatternList, PatternSet};

/// Each line: feature, pattern, path and the answer of the original tool. Written by `scripts/globs.mjs`.
const ANSWERS: &[(Dialect, &str)] = &[
    (Dialect::Picomatch, include_str!("globs/picomatch.tsv")),
    (Dialect::Minimatch, include_str!("globs/minimatch.tsv")),
    (Dialect::Gitignore, include_str!("globs/gitignore.tsv")),
    (Dialect::Claude, include_str!("globs/claude.tsv")),
    (Dialect::VsCode, include_str!("globs/vscode.tsv")),
];

#[derive(Debug)]
struct Case<'a> {
    feature: &'a str,
    pattern: String,
    path: String,
    matches: bool,
}

impl Case<'_> {
    fn answer(&self, dialect: Dialect) -> Result<bool, GlobError> {
        if self.feature == "list" {
            let list = PatternList::new(self.pattern.lines(), dialect, |_, error| {
                assert_eq!(error, GlobError::Empty);
            });
            return Ok(list.decide(&self.path).matches);
        }
        Glob::new(&self.pattern, dialect).map(|glob| glob.is_match(&self.path))
    }
}

fn read(answers: &str) -> impl Iterator<Item = Case<'_>> {
    answers.lines().map(|line| {
        let mut cells = line.split('\t');
        let mut cell = || cells.next().expect("four cells per line");
        Case { feature: cell(), pattern: unescape(cell()), path: unescape(cell()), matches: cell() == "1" }
    })
}

fn unescape(cell: &str) -> String {
    let mut chars = cell.chars();
    std::iter::from_fn(|| match chars.next()? {
        '\\' => chars.next().map(|c| match c {
            't' => '\t',
            'n' => '\n',
            'r' => '\r',
            '0' => '\0',
            'L' => '\u{2028}',
            'P' => '\u{2029}',
            c => c,
        }),
        c => Some(c),
    })
    .collect()
}

fn glob(pattern: &str, dialect: Dialect) -> Glob {
    Glob::new(pattern, dialect).unwrap_or_else(|error| panic!("{} `{pattern}`: {error}", dialect.name()))
}

#[track_caller]
fn check(dialect: Dialect, pattern: &str, path: &str, want: bool) {
    assert_eq!(glob(pattern, dialect).is_match(path), want, "{} `{pattern}` and `{path}`", dialect.name());
}

#[test]
fn every_answer_agrees_with_the_original() {
    for &(dialect, answers) in ANSWERS {
        let differs = |case: &Case<'_>| case.answer(dialect) != Ok(case.matches);
        let differing: Vec<Case<'_>> = read(answers).filter(differs).collect();
        assert!(differing.is_empty(), "{}: {} differ: {differing:#?}", dialect.name(), differing.len());
    }
}

/// Checks answers printed by `scripts/globs.mjs fuzz`: `GLOBS=minimatch:FILE cargo test --test globs -- --ignored`.
#[test]
#[ignore = "needs a file of answers"]
#[allow(clippy::disallowed_methods, clippy::disallowed_macros, reason = "a tool rather than a test")]
fn every_answer_in_a_file_agrees() {
    let given = std::env::var("GLOBS").expect("GLOBS is DIALECT:FILE");
    let (name, file) = given.split_once(':').expect("GLOBS is DIALECT:FILE");
    let dialect = Dialect::all().find(|dialect| dialect.name() == name).expect("a dialect");
    let answers = std::fs::read_to_string(file).expect("a file");
    let (mut cases, mut rejected, mut differing) = (0, 0, 0);
    for case in read(&answers) {
        cases += 1;
        match case.answer(dialect) {
            Err(_) => rejected += 1,
            Ok(answer) if answer != case.matches => {
                differing += 1;
                if differing < 60 {
                    println!("{case:?}");
                }
            }
            Ok(_) => {}
        }
    }
    println!("{cases} cases, {rejected} rejected, {differing} differ");
}

#[test]
fn every_feature_has_both_answers() {
    for &(dialect, answers) in ANSWERS {
        let mut features: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
        read(answers)
            .for_each(|case| features.entry(case.feature).or_default()[usize::from(case.matches)] += 1);
        // Extglobs rarely match in dialects that do not support them.
        let has_all = matches!(dialect, Dialect::Picomatch | Dialect::Minimatch);
        let enough = |counts: &[usize; 2]| !has_all || counts.iter().all(|&count| count >= 10);
        for (feature, counts) in &features {
            assert!(enough(counts), "{} {feature}: {counts:?}", dialect.name());
        }
        assert!(read(answers).filter(|case| case.matches).count() >= 1000);
    }
}

#[test]
fn the_index_finds_what_the_originals_find() {
    for &(dialect, answers) in ANSWERS {
        let cases: Vec<Case<'_>> = read(answers).filter(|case| case.feature != "list").collect();
        // The index uses different lookups for few and for many paths.
        for cases in cases.chunks(400).chain(cases.chunks(2000)) {
            let index = PathIndex::new(cases.iter().map(|case| case.path.as_str()));
            for (at, case) in cases.iter().enumerate() {
                let found = index.matches(&glob(&case.pattern, dialect));
                assert_eq!(found.binary_search(&at).is_ok(), case.matches, "{} {case:?}", dialect.name());
            }
        }
    }
}

/// Reads the table with a pattern, a path, and one column per dialect.
#[test]
fn the_table_in_the_documentation_is_correct() {
    let page = include_str!("../../../docs/globs.md");
    let (_, table) = page.split_once("| pattern | path |").expect("the page contains the table");
    let (head, rows) = table.split_once('\n').expect("the table has rows");
    let names = || head.split('|').map(str::trim).filter(|name| !name.is_empty());
    assert!(names().eq(Dialect::all().map(Dialect::name)));
    for row in rows.lines().skip(1).take_while(|line| !line.is_empty()) {
        let row = row.replace("\\|", "\u{1}");
        let cells: Vec<String> = row.split('|').map(|cell| cell.trim().replace('\u{1}', "|")).collect();
        let (pattern, path) = (cells[1].trim_matches('`'), cells[2].trim_matches('`'));
        for (dialect, want) in Dialect::all().zip(&cells[3..]) {
            let found = if glob(pattern, dialect).is_match(path) { "yes" } else { "no" };
            assert_eq!(found, want, "{} `{pattern}` and `{path}`", dialect.name());
        }
    }
}

#[test]
fn claude_matches_as_observed() {
    let check = |pattern: &str, path: &str, want: bool| check(Dialect::Claude, pattern, path, want);
    for pattern in ["src", "src/", "src/*", "src/**", "/src", "SRC/**"] {
        check(pattern, "src/deep/a.ts", true);
    }
    check("deep", "src/deep/a.ts", true);
    check("a.ts", "src/deep/a.ts", true);
    check("deep/*.ts", "src/deep/a.ts", false);
    check("*", ".hidden/a.ts", true);
    check("**", "src/a.ts", true);
    for pattern in ["./src/**", "/repo/src/**", "../x", "@(src)/**", "{1..3}", "src/[a", "#src"] {
        for path in ["src/a.ts", "x", "2"] {
            check(pattern, path, false);
        }
    }
    for pattern in ["[!b].ts", "[^b].ts"] {
        check(pattern, "b.ts", true);
        check(pattern, "a.ts", false);
    }
    // The first `{` pairs with the first `}`.
    check("{src/{a,b},lib/c}.ts", "src/a.ts", true);
    check("{src/{a,b},lib/c}.ts", "src/b.ts", false);
    check("{src/{a,b},lib/c}.ts", "lib/c.ts", false);
    // A `!` inside braces does not exclude anything.
    check("{a,!b}", "b", false);
    check("{a,!b}", "!b", true);
}

#[test]
fn the_copilot_cli_matches_as_observed() {
    let check = |pattern: &str, path: &str, want: bool| check(Dialect::CopilotCli, pattern, path, want);
    check("a.ts", "src/deep/a.ts", true);
    check("*.ts", "src/deep/a.ts", true);
    check("*.TS", "src/deep/a.ts", false);
    for pattern in ["src", "src/", "deep", "src/*"] {
        check(pattern, "src/deep/a.ts", false);
    }
    check("src/*", "src/a.ts", true);
    check("[!b].ts", "a.ts", true);
    // A class and `?` match one byte of a character, and a star beside them the others.
    check("[!b]*.ts", "src/語.ts", true);
    check("*[!b].ts", "é.ts", true);
    check("?*.ts", "é.ts", true);
    check("[!b].ts", "é.ts", false);
    check("[ab]*.ts", "é.ts", false);
    check("{src/{a,b},lib/c}.ts", "src/b.ts", true);
    check("!src/**", "src/a.ts", true);
}

/// Git reads the rest after the literal start of a pattern as a new pattern.
#[test]
fn git_starts_a_new_pattern_after_leading_literals() {
    let check = |pattern: &str, path: &str, want: bool| check(Dialect::Gitignore, pattern, path, want);
    check("a**/**", "a", true);
    check("a/**/**", "a", false);
    check("a/b**", "a/b", true);
    check("a/b**", "a/bc/d", true);
    check("a**/b", "ab", true);
    check("a/**", "a", false);
}

#[test]
fn claude_checks_for_slashes_before_trimming() {
    let check = |pattern: &str, path: &str, want: bool| check(Dialect::Claude, pattern, path, want);
    check("a/ ", "a/b", true);
    check("a/ ", "x/a/b", false);
    check("a/", "x/a/b", true);
    // Documented difference: in the library, this range includes `/`, and so does the folder's name.
    check("*[.-:]", ".git/a", false);
    check("*[.-:]", "a.", true);
}

#[test]
fn a_list_reports_the_deciding_pattern() {
    #[track_caller]
    fn check(dialect: Dialect, patterns: &[&str], path: &str, matches: bool, by: Option<usize>) {
        let list = PatternList::new(patterns.iter().copied(), dialect, |at, error| panic!("{at}: {error}"));
        assert_eq!(list.decide(path), Decision { matches, by }, "{} {patterns:?} {path}", dialect.name());
    }
    let both = ["src/**", "!src/gen/**"];
    check(Dialect::Picomatch, &both, "src/a.ts", true, Some(0));
    check(Dialect::Picomatch, &both, "src/gen/a.ts", false, Some(1));
    check(Dialect::Picomatch, &both, "lib/a.ts", false, None);
    check(Dialect::Picomatch, &["!src/**"], "lib/a.ts", true, None);
    check(Dialect::Minimatch, &both, "src/gen/a.ts", true, Some(0));
    check(Dialect::Minimatch, &["a", "!b"], "c", true, Some(1));
    check(Dialect::Gitignore, &["src/*", "!src/gen"], "src/gen/a.ts", false, None);
    check(Dialect::Gitignore, &["src/*", "!src/a.ts"], "src/a.ts", false, Some(1));
    check(Dialect::Gitignore, &["src/*", "!src/gen", "*.ts"], "src/gen/a.ts", true, Some(2));
    check(Dialect::Gitignore, &["!src/a.ts", "src/*"], "src/a.ts", true, Some(1));
    // Paths in a matched folder cannot be excluded.
    check(Dialect::Claude, &["src", "!src/a.ts"], "src/a.ts", true, Some(0));
    check(Dialect::Claude, &["!a"], "b", false, None);
}

#[test]
fn claude_limits_the_alternatives_of_a_whole_list() {
    let list = format!("{{{}}}", (0..600).map(|n| n.to_string()).collect::<Vec<_>>().join(","));
    let mut rejected = Vec::new();
    let patterns = [list.as_str(), list.as_str(), "a.ts"];
    let list = PatternList::new(patterns, Dialect::Claude, |at, error| rejected.push((at, error)));
    assert_eq!(rejected, [(1, GlobError::TooManyAlternatives)]);
    assert_eq!(list.decide("7").by, Some(0));
    assert_eq!(list.decide("a.ts").by, Some(2));
}

/// Patterns that picomatch accepts and Rulebook rejects.
#[test]
fn patterns_that_need_backtracking_are_rejected() {
    #[track_caller]
    fn check(pattern: &str, want: GlobError) {
        assert_eq!(Glob::new(pattern, Dialect::Picomatch).err(), Some(want), "{pattern}");
    }
    // picomatch passes `\1` on as a back-reference.
    check("(a|b)/\\1", GlobError::BackReference);
    check("{a,b}/\\1", GlobError::BackReference);
    check("(?<x>a)/\\k<x>", GlobError::BackReference);
    check("(?<!a)b/*", GlobError::LookBehind);
    check("*(?<=a)/b", GlobError::LookBehind);
    // picomatch throws.
    check("", GlobError::Empty);
    check("{a..+(b}|*)", GlobError::SplitGroup);
}

#[test]
fn limits_hold_in_every_dialect() {
    for dialect in Dialect::all() {
        #[track_caller]
        fn check(pattern: &str, dialect: Dialect, want: Result<(), GlobError>) {
            assert_eq!(Glob::new(pattern, dialect).map(|_| ()), want, "{}", dialect.name());
        }
        let list = |words: usize| format!("x{{{}}}", vec!["a"; words].join(","));
        check("", dialect, Err(GlobError::Empty));
        check(&"a".repeat(4000), dialect, Ok(()));
        check(&"a".repeat(4097), dialect, Err(GlobError::TooLong { len: 4097 }));
        check(&list(1000), dialect, Ok(()));
        let has_braces = dialect != Dialect::Gitignore;
        check(&list(1001), dialect, if has_braces { Err(GlobError::TooManyAlternatives) } else { Ok(()) });
    }
}

#[test]
fn limits_are_errors() {
    #[track_caller]
    fn check(pattern: &str, want: Result<(), GlobError>) {
        assert_eq!(Glob::new(pattern, Dialect::Picomatch).map(|_| ()), want);
    }
    let nested = |depth: usize| format!("{}a{}", "@(b|".repeat(depth), ")".repeat(depth));
    let list = |words: usize| format!("x{{{}}}", vec!["a"; words].join(","));
    check(&"a".repeat(4096), Ok(()));
    check(&"a".repeat(4097), Err(GlobError::TooLong { len: 4097 }));
    check(&list(1000), Ok(()));
    check(&list(1001), Err(GlobError::TooManyAlternatives));
    check(&nested(60), Ok(()));
    check(&nested(100), Err(GlobError::TooDeep));
    check(&nested(800), Err(GlobError::TooDeep));
    check("x/\\\\\\\\{99999999}", Err(GlobError::TooLarge));
}

/// Paths are relative to a root and have no empty segments; others do not confuse the index.
#[test]
fn the_index_agrees_on_paths_with_empty_segments() {
    let odd = ["/a", "/", "//", "//a", "/a/b", "a//b", "a//", "/a/"];
    let others: Vec<String> = (0..600).map(|at| format!("other-{at}/x")).collect();
    let index = PathIndex::new(odd.into_iter().chain(others.iter().map(String::as_str)));
    for pattern in ["**//", "/", "//", "/**", "**/", "a", "a/", "*/", "a//b", "/a", "**//a", "!**//"] {
        for dialect in Dialect::all() {
            let Ok(glob) = Glob::new(pattern, dialect) else { continue };
            let found: Vec<usize> = index.matches(&glob).into_iter().filter(|at| *at < odd.len()).collect();
            let one_by_one: Vec<usize> = (0..odd.len()).filter(|&at| glob.is_match(odd[at])).collect();
            assert_eq!(found, one_by_one, "{} `{pattern}`", dialect.name());
        }
    }
}

/// Each of these takes a backtracking engine exponential time.
#[test]
fn exponential_patterns_are_matched_or_rejected() {
    let path = format!("{}/{}", "a".repeat(200), "ab".repeat(100));
    let patterns = [
        format!("{}c", "{a,b}".repeat(400)),
        format!("{}c", "{a,b,*}".repeat(300)),
        format!("{}b", "*a".repeat(1000)),
        format!("{}/b", "**/*a".repeat(200)),
        format!("{}c", "**/".repeat(800)),
        "+(+(a))".repeat(100),
        "+(x|+(a|+(a|b)))".repeat(50),
        "+(b+(c|a+(d|a+(a|e))))c".to_owned(),
        format!("{}a{}c", "*(b|".repeat(30), ")".repeat(30)),
        format!("{}a{}c", "@(b|*(c|a".repeat(15), "))".repeat(15)),
        format!("{}a{}c", "!(b|".repeat(30), ")".repeat(30)),
        format!("{}c", "!(a)".repeat(300)),
        format!("{}c", "(a*)+".repeat(50)),
        format!("((((a?){})+)+)+c", "a?".repeat(50)),
        format!("{}c", "?".repeat(4000)),
        format!("[{}]", "a-z".repeat(1300)),
        format!("{{2..900}}/{}", "[".repeat(3000)),
        format!("{{2..900}}/{}\\]", "[".repeat(3000)),
        format!("{{1..999}}{}", "[[:alpha:]]".repeat(370)),
        format!("{{1..999}}{}", "[/-\u{ff00}]".repeat(8)),
        format!("{{1..999}}[{}]", "[:cntrl:]".repeat(440)),
        format!("{{2..900}}/{}[:alpha:]", "[".repeat(3000)),
        format!("{{{}}}{}", "a,".repeat(990), "?".repeat(2000)),
        format!("{{{}}}[{}]", "a,".repeat(990), "\u{100}\u{102}\u{104}".repeat(300)),
        "+(!(*a*b)|!(*c*d))*".repeat(40) + "c",
        format!("{}a{}c", "(".repeat(60), ")*".repeat(60)).repeat(20),
    ];
    for pattern in &patterns {
        for dialect in Dialect::all() {
            let Ok(glob) = Glob::new(pattern, dialect) else { continue };
            let is_match = glob.is_match(&path);
            assert!(!is_match || dialect != Dialect::Picomatch, "{pattern}");
            PathIndex::new([path.as_str(), "a/b", pattern]).matches(&glob);
        }
    }
}

fn patterns() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "*", "**", "?", "/", "/", "a", "b", "ab", ".", ".ts", "{", "}", ",", "(", ")", "|", "@(", "!(", "+(",
        "*(", "[", "]", "[a-c]", "!", "^", "\\", "\"", "..", "{a,b}", "**/", "**/*.", "{ts,a}", "src/", "é",
        "😀", "\n", "$", "#",
    ]);
    prop::collection::vec(pieces, 1..12).prop_map(|pieces| pieces.concat())
}

fn dialects() -> impl Strategy<Value = Dialect> {
    prop::sample::select(Dialect::all().collect::<Vec<_>>())
}

/// Half of the lists contain only ordinary files.
fn paths() -> impl Strategy<Value = Vec<String>> {
    let segment = prop::sample::select(vec![
        "a", "b", "ab", "src", "a.ts", "b.ts", ".a", "é", "😀.ts", "a\nb", "SRC", "B.TS", "É", "#a",
    ]);
    let path = prop::collection::vec(segment, 1..5).prop_map(|segments| segments.join("/"));
    let any = prop_oneof![4 => path.clone(), 1 => path.clone().prop_map(|path| path + "/"), 1 => patterns()];
    prop_oneof![prop::collection::vec(any, 0..90), prop::collection::vec(path, 0..90)]
}

proptest! {
    #[test]
    fn an_index_agrees_with_single_matches(pattern in patterns(), dialect in dialects(), paths in paths()) {
        if let Ok(glob) = Glob::new(&pattern, dialect) {
            let index = PathIndex::new(paths.iter().map(String::as_str));
            let one_by_one: Vec<usize> = (0..paths.len()).filter(|&at| glob.is_match(&paths[at])).collect();
            prop_assert_eq!(&index.matches(&glob), &one_by_one);
            // The same among many other paths.
            let others: Vec<String> = (0..600).map(|at| format!("other-{at}/x")).collect();
            let among = PathIndex::new(paths.iter().chain(&others).map(String::as_str));
            let found = among.matches(&glob).into_iter().filter(|at| *at < paths.len());
            prop_assert_eq!(found.collect::<Vec<usize>>(), one_by_one);
        }
    }

    #[test]
    fn a_set_agrees_with_its_globs(
        patterns in prop::collection::vec((patterns(), dialects()), 0..30),
        paths in paths(),
    ) {
        let globs: Vec<Glob> =
            patterns.iter().filter_map(|(pattern, dialect)| Glob::new(pattern, *dialect).ok()).collect();
        let mut set = PatternSet::new(&globs);
        let mut found = Vec::new();
        for path in &paths {
            let one_by_one: Vec<usize> = (0..globs.len()).filter(|&at| globs[at].is_match(path)).collect();
            set.matches(path, &mut found);
            prop_assert_eq!(&found, &one_by_one, "{} {:?}", path, patterns);
        }
    }

    #[test]
    fn nothing_panics(pattern in ".{0,40}", special in patterns(), dialect in dialects(), path in ".{0,40}") {
        PatternList::new([pattern.as_str(), special.as_str()], dialect, |_, _| {}).decide(&path);
        for pattern in [&pattern, &special, &format!("{special}{pattern}")] {
            if let Ok(glob) = Glob::new(pattern, dialect) {
                glob.is_match(&path);
                glob.matches_ignoring_negation(&path);
                PathIndex::new([path.as_str()]).matches(&glob);
            }
        }
    }
}
