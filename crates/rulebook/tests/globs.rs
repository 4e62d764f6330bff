//! Globs agree with the tools they are named after, stay fast, and never panic.

use proptest::prelude::*;
use rulebook::glob::{Dialect, Glob, GlobError, PathIndex};

/// Feature, pattern, path and the original's answer; written by `scripts/globs.mjs`.
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

fn cases() -> impl Iterator<Item = Case<'static>> {
    read(include_str!("globs/picomatch.tsv"))
}

fn read(answers: &str) -> impl Iterator<Item = Case<'_>> {
    answers.lines().map(|line| {
        let mut cells = line.split('\t');
        let mut cell = || cells.next().expect("four cells a line");
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

fn glob(pattern: &str) -> Glob {
    Glob::new(pattern, Dialect::Picomatch).unwrap_or_else(|error| panic!("`{pattern}`: {error}"))
}

#[test]
fn every_answer_of_picomatch_is_ours() {
    let differing: Vec<Case<'_>> =
        cases().filter(|case| glob(&case.pattern).is_match(&case.path) != case.matches).collect();
    assert!(differing.is_empty(), "{} differ: {differing:#?}", differing.len());
}

/// For answers printed by `scripts/globs.mjs fuzz`: `GLOBS=minimatch:FILE cargo test --test globs -- --ignored`.
#[test]
#[ignore = "needs a file of answers"]
fn every_answer_in_a_file_is_ours() {
    let given = std::env::var("GLOBS").expect("GLOBS is DIALECT:FILE");
    let (name, file) = given.split_once(':').expect("GLOBS is DIALECT:FILE");
    let dialect = Dialect::all().find(|dialect| dialect.name() == name).expect("a dialect");
    let answers = std::fs::read_to_string(file).expect("a file");
    let (mut asked, mut refused, mut shown) = (0, 0, 0);
    for case in read(&answers) {
        asked += 1;
        if case.feature == "list" {
            continue;
        }
        match Glob::new(&case.pattern, dialect) {
            Err(_) => refused += 1,
            Ok(glob) if glob.is_match(&case.path) != case.matches => {
                shown += 1;
                if shown < 60 {
                    println!("{} {:?} {:?} {}", case.feature, case.pattern, case.path, case.matches);
                }
            }
            Ok(_) => {}
        }
    }
    println!("{asked} asked, {refused} refused, {shown} differ");
}

#[test]
fn every_feature_has_both_answers() {
    let mut features: Vec<&str> = cases().map(|case| case.feature).collect();
    features.dedup();
    for feature in features {
        let (hits, misses): (Vec<_>, Vec<_>) =
            cases().filter(|case| case.feature == feature).partition(|case| case.matches);
        assert!(hits.len() >= 20 && misses.len() >= 20, "{feature}: {} and {}", hits.len(), misses.len());
    }
    assert!(cases().count() >= 4000);
}

#[test]
fn the_index_finds_what_picomatch_finds() {
    let cases: Vec<Case<'_>> = cases().collect();
    let index = PathIndex::new(cases.iter().map(|case| case.path.as_str()));
    for (at, case) in cases.iter().enumerate() {
        let found = index.matches(&glob(&case.pattern));
        assert_eq!(found.binary_search(&at).is_ok(), case.matches, "{case:?}");
    }
}

/// Where picomatch has an answer and we refuse the pattern.
#[test]
fn what_no_linear_matcher_can_do_is_refused() {
    #[track_caller]
    fn check(pattern: &str, want: GlobError) {
        assert_eq!(Glob::new(pattern, Dialect::Picomatch).err(), Some(want), "{pattern}");
    }
    // Picomatch lets `\1` through as the back-reference it is in JavaScript.
    check("(a|b)/\\1", GlobError::BackReference);
    check("{a,b}/\\1", GlobError::BackReference);
    check("(?<x>a)/\\k<x>", GlobError::BackReference);
    check("(?<!a)b/*", GlobError::LookBehind);
    check("*(?<=a)/b", GlobError::LookBehind);
    // Picomatch throws.
    check("", GlobError::Empty);
    check("{a..+(b}|*)", GlobError::Torn);
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

/// Each would keep a backtracking engine busy for longer than anyone waits.
#[test]
fn bombs_do_not_go_off() {
    let path = format!("{}/{}", "a".repeat(200), "ab".repeat(100));
    let bombs = [
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
    ];
    for bomb in bombs {
        if let Ok(glob) = Glob::new(&bomb, Dialect::Picomatch) {
            assert!(!glob.is_match(&path), "{bomb}");
            PathIndex::new([path.as_str(), "a/b", &bomb]).matches(&glob);
        }
    }
}

fn patterns() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "*", "**", "?", "/", "/", "a", "b", "ab", ".", ".ts", "{", "}", ",", "(", ")", "|", "@(", "!(", "+(",
        "*(", "[", "]", "[a-c]", "!", "^", "\\", "\"", "..", "{a,b}", "**/", "**/*.", "{ts,a}", "src/", "é",
        "😀", "\n", "$",
    ]);
    prop::collection::vec(pieces, 1..12).prop_map(|pieces| pieces.concat())
}

/// Half of the lists are of ordinary files only.
fn paths() -> impl Strategy<Value = Vec<String>> {
    let segment =
        prop::sample::select(vec!["a", "b", "ab", "src", "a.ts", "b.ts", ".a", "é", "😀.ts", "a\nb"]);
    let path = prop::collection::vec(segment, 1..5).prop_map(|segments| segments.join("/"));
    let any = prop_oneof![4 => path.clone(), 1 => path.clone().prop_map(|path| path + "/"), 1 => patterns()];
    prop_oneof![prop::collection::vec(any, 0..90), prop::collection::vec(path, 0..90)]
}

proptest! {
    #[test]
    fn an_index_answers_as_its_paths_would(pattern in patterns(), paths in paths()) {
        if let Ok(glob) = Glob::new(&pattern, Dialect::Picomatch) {
            let index = PathIndex::new(paths.iter().map(String::as_str));
            let one_by_one: Vec<usize> = (0..paths.len()).filter(|&at| glob.is_match(&paths[at])).collect();
            prop_assert_eq!(index.matches(&glob), one_by_one);
        }
    }

    #[test]
    fn nothing_panics(pattern in ".{0,40}", signs in patterns(), path in ".{0,40}") {
        for pattern in [&pattern, &signs, &format!("{signs}{pattern}")] {
            if let Ok(glob) = Glob::new(pattern, Dialect::Picomatch) {
                glob.is_match(&path);
                glob.matches_ignoring_negation(&path);
                PathIndex::new([path.as_str()]).matches(&glob);
            }
        }
    }

    #[test]
    fn a_universal_glob_matches_all(pattern in patterns(), paths in paths()) {
        if let Ok(glob) = Glob::new(&pattern, Dialect::Picomatch) && glob.is_universal() {
            let normal = |path: &&String| !path.contains(['\n', '\\']) && path.split('/').all(|part| !matches!(part, "" | "." | ".."));
            for path in paths.iter().filter(normal) {
                prop_assert!(glob.is_match(path), "{}", path);
            }
        }
    }
}
