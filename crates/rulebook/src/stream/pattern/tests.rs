//! Patterns and their meaning.

use super::*;

/// Both engines must agree: the fallback gets the pattern after a look-ahead that always holds.
#[track_caller]
fn check(written: &str, text: &str, matches: bool) {
    let pattern = read(written).unwrap_or_else(|error| panic!("{written}: {error}"));
    assert_eq!(pattern.engine, Engine::Automaton, "{written}");
    let regex = regex::bytes::RegexBuilder::new(&pattern.regex).crlf(true).build().unwrap();
    assert_eq!(regex.is_match(text.as_bytes()), matches, "{written} → {} on {text:?}", pattern.regex);
    if !written.starts_with('/') {
        check_fallback(&format!("(?=){written}"), text, matches);
    }
}

#[track_caller]
fn check_fallback(written: &str, text: &str, matches: bool) {
    let pattern = read(written).unwrap_or_else(|error| panic!("{written}: {error}"));
    assert_eq!(pattern.engine, Engine::Fallback, "{written}");
    let regex = fancy_regex::RegexBuilder::new(&pattern.regex).crlf(true).build().unwrap();
    assert_eq!(regex.is_match(text).unwrap(), matches, "{written} → {} on {text:?}", pattern.regex);
}

#[test]
fn patterns_match_as_in_javascript() {
    check(r"\bnew\s+(Set|Map)\b", "new Map(", true);
    check(r"\bnew\s+(Set|Map)\b", "new Mapper(", false);
    check(r"\d", "٣", false);
    check(r"\w+é", "naïve é", false);
    check(r"[\d_]x", "_x", true);
    check(r"[^\s]", "\u{feff}", false);
    check(r"\s", "\u{2003}", true);
    check(r"a.b", "a\u{2028}b", false);
    check(r"(?s)a.b", "a\nb", true);
    check(r"/FOO\/bar/i", "foo/BAR", true);
    check(r"(?i)foo", "FOO", true);
    check(r"[^]x", "\nx", true);
    check(r"function {", "function {", true);
    check(r"a{2}", "aa", true);
    check(r"x{,3}", "x{,3}", true);
    check(r"[[]a", "[a", true);
    check(r"[a&&b]", "&", true);
    check(r"\<div\>", "<div>", true);
    check(r"[\w-.]+x", "-.x", true);
    check(r"\p{Lu}", "É", true);
    check(r"\pL1", "é1", true);
    check(r"a\p*", "app", true);
    check(r"\p", "p", true);
    check(r"\u{1F600}", "😀", true);
    check(r"\u0041\x42", "AB", true);
    check(r"foo$", "foo\n", false);
    check(r"(?m)foo$", "foo\nx", true);
    check(r"(?m)foo$", "foo\r\nx", true);
    check(r"(?m:^foo)$", "x\nfoo", true);
    check(r"a.b", "a\rb", false);
    check(r"(?s:a.)b.c", "a\nb\nc", false);
    check(r"(?s)a(?-s:.)b", "a\nb", false);
    check(r"\uD83D\uDE00", "😀", true);
    check(r"[\uD83D\uDE00-\uD83D\uDE02x]", "😁", true);
    check(r"\cA\cz", "\u{1}\u{1a}", true);
    check(r"\c!", "\\c!", true);
    check(r"[\cA]", "\u{1}", true);
    check(r"\u{e9}\x{e8}", "éè", true);
    check(r"\u12\xg\u{}", "u12xgu{}", true);
    check(r"a\/b", "a/b", true);
    check(r"(?<year>\d{4})-(?<mask>x)", "2024-x", true);
    check(r"(?i)(?<mask>k)\w", "KK", true);
    check(r"[!--]x", ",x", true);
    check(r"[!--]x", "/x", false);
    check(r"[+--/]x", ".x", false);
    check(r"[a\-z]x", "-x", true);
    check(r"[a\-z]x", "bx", false);
    check(r"[-a]", "-", true);
    check(r"[a-]", "-", true);
    check(r"[\d-x]", "-", true);
    check(r"[x-\d]", "y", false);
    check(r"[]|x", "x", true);
    check(r"[^\s\S]|x", "y", false);
    check(r"[\s\S]x", "\nx", true);
    check(r"[\D]", "5", false);
    check(r"[^\W]", "é", false);
    check(r"[\b]", "\u{8}", true);
    check(r"a\0b", "a\0b", true);
    check(r"\e\y\A\z\Q\%\@\ é", "eyAzQ%@ é", true);
    check(r"a#b c", "a#b c", true);
    check(r"x}y]z", "x}y]z", true);
    check(r"\bMap\b", "éMapé", true);
    check(r"\B\w\B", "abc", true);
    check(r"[[:alpha:]]", "a]", true);
    check(r"[a~~+--c]", "~", true);
    check("\u{7f}[\u{1}]", "\u{7f}\u{1}", true);
}

#[test]
fn ascii_letters_have_only_two_cases() {
    for (written, text, matches) in [
        (r"(?i)\w", "ſ", false),
        (r"(?i)\w", "\u{212A}", false),
        (r"(?i)\W", "\u{212A}", true),
        (r"(?i)[a-z]", "ſ", false),
        (r"(?i)[^a-z]", "ſ", true),
        (r"(?i)[a-zé]", "É", true),
        (r"(?i)[a-zſ]", "ſ", true),
        (r"(?i)k", "\u{212A}", false),
        ("(?i)ſ", "s", false),
        ("(?i)ſ", "ſ", true),
        ("(?i)[ſé]", "S", false),
        ("(?i)[ſé]", "É", true),
        ("(?i)[sſ]", "S", true),
        ("(?i)\u{212A}", "k", false),
        (r"(?i)mask", "MASK", true),
        (r"(?i)\x4b", "k", true),
        (r"(?i)É", "é", true),
        (r"(?i:a)k", "Ak", true),
        (r"(?i:a)k", "AK", false),
        (r"(?i)a(?-i)k", "AK", false),
    ] {
        check(written, text, matches);
    }
    check("/K/i", "k", true);
    check("/K/i", "\u{212A}", false);
}

#[test]
fn slashes_enclose_a_pattern_unless_it_is_a_path() {
    for (written, text, matches) in [
        ("/foo/", "foo", true),
        ("/foo/gi", "FOO", true),
        (r"/a\/b/", "a/b", true),
        ("/a[/]b/", "a/b", true),
        ("/^b/m", "a\nb", true),
        ("/a.b/s", "a\nb", true),
        ("/home/user/my", "cd /home/user/my", true),
        ("/home/user/my", "home/user", false),
        ("/home/user/ms", "home/user", false),
        ("/etc/passwd", "etc", false),
        ("/home/my", "home", false),
        ("//", "//", true),
        ("/", "/", true),
    ] {
        check(written, text, matches);
    }
}

#[test]
fn the_fallback_matches_as_in_javascript() {
    for (written, text, matches) in [
        (r"(?<!\w)\d(?!\d)", "٣", false),
        (r"(?<=\bnaïve )\w", "naïve é", false),
        (r"(?<a>x)\k<a>", "xx", true),
        (r"(\w)\1", "éé", false),
        (r"^(?:(a)|b)\1$", "b", true),
        (r"^(?:(a)|b)\1$", "aa", true),
        (r"^(?:(a)|b)\1$", "a", false),
        (r"^(?:(?<x>a)|b)\k<x>$", "b", true),
        (r"(?:(\w)x|b)\1!", "ax!", false),
        (r"(?i)(?=k)\w", "\u{212A}", false),
        (r"/(?=a)A/i", "a", true),
        (r"(?!x)[\uD83D\uDE00]", "😀", true),
        (r"(?=a)a{,2}", "a{,2}", true),
    ] {
        check_fallback(written, text, matches);
    }
}

#[test]
fn patterns_that_match_the_empty_text_are_recognized() {
    for (written, empty) in
        [(".*", true), ("a?|b", true), ("^$", true), ("(a{0,2})*", true), ("a+", false), (r"\bfoo", false)]
    {
        assert_eq!(read(written).unwrap().matches_empty, empty, "{written}");
    }
}

#[test]
fn realistic_nested_repetitions_are_accepted() {
    for fits in [r"(\d{1,3}\.){3}\d{1,3}", "([a-z]{1,20} ){1,10}x", ".{0,1000}x", r"(?:\w{2,30}\s){0,8}end"] {
        assert!(read(fits).is_ok(), "{fits}");
    }
    for large in ["(a{0,200}){0,99}b", "(?:(?:a{0,9}){0,99}){0,9}", "(x|a{0,90}){0,90}"] {
        assert!(read(large).is_err(), "{large}");
    }
}

#[test]
fn look_around_needs_the_fallback_and_invalid_patterns_are_rejected() {
    assert_eq!(read("console\\.log(?!ger)").unwrap().engine, Engine::Fallback);
    assert_eq!(read(r"(a)\1").unwrap().engine, Engine::Fallback);
    for bad in
        ["(", "*.rs", "[z-a]", "[a", r"a\", "(?P<n", &"(".repeat(5000), "(?=a", "((a{1000}){1000}){1000}"]
    {
        assert!(read(bad).is_err(), "{}", &bad[..bad.len().min(20)]);
    }
    let half = read(r"[\uD800-\uDFFF]").unwrap_err();
    assert_eq!(read(r"a|\p{Nope}").unwrap_err(), r"`\p{Nope}` is not a known character class");
    assert_eq!(half, r"`\uD800` is half of a surrogate pair: write the whole character, such as `\u{1F600}`");
}

#[test]
fn patterns_that_never_match_are_rejected() {
    for never in [
        "[]",
        "a[]",
        "(a[])+",
        "[^\\s\\S]",
        "[^\\d\\D]x",
        "[]|[]",
        "a^b",
        "a$b",
        "a$\nb",
        "(?!)",
        "(?<=a)[]",
        "(?!a*)x",
        "(?=[])",
        "x(?<!)",
        "(?:(?!)|[](?=a))",
    ] {
        assert!(read(never).unwrap_err().starts_with(NEVER_MATCHES), "{never}");
    }
    for fine in [
        "[]|a",
        "[]*a",
        "a*^b",
        "(?m)a\n^b",
        "(?m)a$\nb",
        "^$",
        "(^|,)a",
        "(?!$)a",
        "(?!)|(?=a)",
        "(?!a)(?:[])?",
    ] {
        assert!(read(fine).is_ok(), "{fine}");
    }
}

#[test]
fn reading_a_pattern_takes_linear_time() {
    let check = |start: &str, piece: &str, length: usize| {
        let pattern = |length: usize| format!("{start}{}", piece.repeat(length / piece.len()));
        work::assert_linear(&pattern(length / 2), &pattern(length), |pattern| drop(read(pattern)));
    };
    for piece in [
        "{", "[", "[[", "\\", "\\p{", "\\u{", "\\k<", "(?<", "(?<a>", "(?i)", "(?i:k", "[\\d", "\\d", "[a-",
        "(?=", "a{", "(?", "[^", "(a+)+", "a|", "/", "\\1",
    ] {
        check("", piece, MAX_LEN - 1024);
        check("(?=a)", piece, MAX_FALLBACK - 1024);
    }
    check("(?i)[", "\\d", MAX_LEN - 1024);
}
