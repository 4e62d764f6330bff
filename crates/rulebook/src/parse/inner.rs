//! Explains what is below the keys of a header: the maps of syntax triggers and requirements, and the terms of `when`.

use crate::condition;
use crate::requirement::RequireRepeat;
use crate::syntax::LANGUAGES;

type Keys = &'static [(&'static str, &'static str)];

const EVENT: Keys = &[
    ("command", "a simple command of a shell line: a glob, or a regular expression `/…/`"),
    ("edit", "a file that is written: a glob"),
    ("read", "a file that is read, or named in a shell command: a glob"),
    ("tool", "a tool that is called: a glob"),
];
const REQUIRES: Keys = &[
    ("do", "what must be done"),
    ("before", "what must wait for it: an event, or `stop` for the end of the turn"),
    ("after", "what makes it due; without it, it is due from the start"),
    ("within", "for how many turns it counts as done"),
    ("repeat", "`once`: refused once, `always`: refused until it is done, at most three times a turn"),
];
const AFTER: Keys = &[("after", "refused only after this event")];
const SYNTAX: Keys = &[
    ("language", "the language of the code; without it, the file name decides"),
    ("constraints", "conditions on the meta variables of the pattern"),
    ("utils", "rules with names, for `matches`"),
];
const RULE: Keys = &[
    ("pattern", "code in which `$A` is any node, and `$$$` any number of them"),
    ("kind", "the kind of the node in the grammar"),
    ("regex", "a regular expression that the whole text of the node matches"),
    ("inside", "a node around it matches"),
    ("has", "a node in it matches"),
    ("follows", "a node before it matches"),
    ("precedes", "a node after it matches"),
    ("not", "the rule does not match"),
    ("all", "all of these match"),
    ("any", "one of these matches"),
    ("nthChild", "its position among its siblings"),
    ("matches", "a rule of `utils` matches"),
];
const RELATION: Keys =
    &[("stopBy", "how far is searched: `neighbor`, `end`, or a rule"), ("field", "the field of the node")];
const CONTENT: Keys = &[("ast", "a node of the file matches")];

/// Returns the keys of the map below these keys of a header, and what each means; none if there is no such map.
pub fn explain_inner_keys(parents: &[&str]) -> Vec<(&'static str, &'static str)> {
    let lists: &[Keys] = match parents {
        ["requires"] => &[REQUIRES],
        ["requires", "do" | "before" | "after"] | ["forbids", "after"] => &[EVENT],
        ["forbids"] => &[EVENT, AFTER],
        ["content"] => &[CONTENT],
        ["ast"] | ["content", "ast"] => &[SYNTAX, RULE],
        ["ast", .., last] | ["content", "ast", .., last] => match *last {
            "inside" | "has" | "follows" | "precedes" => &[RULE, RELATION],
            "language" | "pattern" | "kind" | "regex" | "constraints" | "utils" => &[],
            _ => &[RULE],
        },
        _ => &[],
    };
    lists.iter().copied().flatten().copied().collect()
}

/// Returns the words that a key below these keys accepts.
pub fn explain_inner_values(parents: &[&str], key: &str) -> Vec<&'static str> {
    match (parents, key) {
        (["ast", ..] | ["content", ..], "language") => {
            LANGUAGES.iter().flat_map(|one| one.names).copied().collect()
        }
        (["ast", ..] | ["content", ..], "stopBy") => vec!["neighbor", "end"],
        (["requires"], "repeat") => RequireRepeat::NAMES.iter().map(|(name, _)| *name).collect(),
        (["requires"], "before") => vec!["stop"],
        _ => Vec::new(),
    }
}

/// Whether the values of a key below these keys are globs for files.
pub fn is_inner_glob(parents: &[&str], key: &str) -> bool {
    matches!(parents, ["requires", _] | ["forbids"] | ["forbids", "after"]) && matches!(key, "edit" | "read")
}

/// Returns the terms of a `when` expression, each up to its value, and the words between them, and what each means.
pub fn explain_terms() -> Vec<(String, String)> {
    let kinds = condition::all().filter(|kind| kind.key != "when");
    let terms = kinds.map(|kind| (format!("{}:", kind.key), format!("holds when {}", kind.holds)));
    let words = [("AND", "both hold"), ("OR", "one holds"), ("NOT", "it does not hold")];
    terms.chain(words.map(|(word, meaning)| (word.to_owned(), meaning.to_owned()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_below_a_key_are_known() {
        #[track_caller]
        fn check(parents: &[&str], some: &[&str]) {
            let keys: Vec<&str> = explain_inner_keys(parents).into_iter().map(|(key, _)| key).collect();
            assert!(
                some.iter().all(|key| keys.contains(key)) && keys.is_empty() == some.is_empty(),
                "{parents:?}: {keys:?}"
            );
        }
        check(&["ast"], &["language", "pattern", "inside", "utils"]);
        check(&["ast", "inside", "not"], &["kind"]);
        check(&["ast", "has"], &["stopBy"]);
        check(&["content", "ast", "any"], &["pattern"]);
        check(&["requires", "do"], &["command", "tool"]);
        check(&["forbids"], &["edit", "after"]);
        check(&["globs"], &[]);
        check(&["ast", "language"], &[]);
        assert!(explain_inner_values(&["ast"], "language").contains(&"ts"));
        assert_eq!(explain_inner_values(&["requires"], "repeat"), ["once", "always"]);
    }
}
