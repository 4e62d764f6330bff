//! Edits JSON with comments: adds our entries and takes them out again, and touches no other byte.
//!
//! What is added can be told from what was there by its shape alone, so taking it out needs no memory: a container we
//! made has white space behind its opening bracket, and one that stood empty before gets its first entry without any.

use jsonc_parser::ast::{Object, StringLit, Value};
use jsonc_parser::common::{Range, Ranged as _};
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use serde_json::{Map, Value as Json};

use super::program::Program;
use super::{Fault, print};

/// The name of our server in a host's list of them.
pub(super) const SERVER: &str = "rulebook";

/// The text of a new file.
pub(super) fn create(patch: &Json) -> String {
    print::broken(patch, "  ", "") + "\n"
}

/// The text with the patch's entries: objects are entered, lists get our entry at their end, what is ours but runs
/// another program is corrected where it stands.
pub(super) fn add(text: &str, patch: &Json, program: &Program) -> Result<String, Fault> {
    let document = Document::parse(text)?;
    let mut edits = Vec::new();
    document.merge(&document.root, patch, "the file", program, &mut edits)?;
    let added = apply(text, edits);
    Document::parse(&added)?;
    Ok(added)
}

/// The text without our entries; `None` when nothing else was in it.
pub(super) fn remove(text: &str, patch: &Json, program: &Program) -> Result<Option<String>, Fault> {
    let document = Document::parse(text)?;
    let mut edits = Vec::new();
    let is_emptied = document.strip(&document.root, patch, program, &mut edits);
    let range = document.root.range();
    let around = [&text[..range.start], &text[range.end..]];
    if is_emptied && around.iter().all(|text| text.trim().is_empty()) {
        return Ok(None);
    }
    let left = apply(text, edits);
    Document::parse(&left)?;
    Ok(Some(left))
}

/// What is put in place of a range.
type Edit = (std::ops::Range<usize>, String);

fn apply(text: &str, mut edits: Vec<Edit>) -> String {
    // Stable: of two insertions at one place the first stays first.
    edits.sort_by_key(|(range, _)| range.start);
    let (mut edited, mut done) = (String::new(), 0);
    for (range, new) in edits {
        edited.push_str(&text[done..range.start]);
        edited.push_str(&new);
        done = range.end;
    }
    edited + &text[done..]
}

struct Document<'t> {
    text: &'t str,
    root: Value<'t>,
    /// Everything but white space.
    tokens: Vec<TokenAndRange<'t>>,
}

/// A member of an object or an element of a list.
struct Item<'a, 't> {
    key: Option<&'a str>,
    start: usize,
    value: &'a Value<'t>,
}

impl Item<'_, '_> {
    fn end(&self) -> usize {
        self.value.range().end
    }
}

fn items<'a, 't>(value: &'a Value<'t>) -> Vec<Item<'a, 't>> {
    match value {
        Value::Object(object) => {
            let item = |prop: &'a jsonc_parser::ast::ObjectProp<'t>| Item {
                key: Some(prop.name.as_str()),
                start: prop.range.start,
                value: &prop.value,
            };
            object.properties.iter().map(item).collect()
        }
        Value::Array(array) => {
            let item = |value: &'a Value<'t>| Item { key: None, start: value.range().start, value };
            array.elements.iter().map(item).collect()
        }
        _ => Vec::new(),
    }
}

impl<'t> Document<'t> {
    fn parse(text: &'t str) -> Result<Document<'t>, Fault> {
        let options = ParseOptions {
            allow_comments: true,
            allow_trailing_commas: true,
            allow_loose_object_property_names: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
        };
        let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
        let parsed = parse_to_ast(text, &collect, &options)
            .map_err(|error| Fault::new(error.range().start, lower(&error.kind().to_string())))?;
        let Some(root) = parsed.value else {
            return Err(Fault::new(0, "there is no JSON in it; write `{}`, or delete the file"));
        };
        Ok(Document { text, root, tokens: parsed.tokens.unwrap_or_default() })
    }

    fn merge(
        &self,
        value: &Value<'_>,
        patch: &Json,
        name: &str,
        program: &Program,
        edits: &mut Vec<Edit>,
    ) -> Result<(), Fault> {
        let wants = |what: &str| Fault::new(value.range().start, format!("{name} must be {what}"));
        match patch {
            Json::Object(parts) => {
                let object = value.as_object().ok_or_else(|| wants("an object"))?;
                let mut fresh = Map::new();
                for (key, part) in parts {
                    match member(object, key) {
                        None => {
                            fresh.insert(key.clone(), part.clone());
                        }
                        Some(own) if key == SERVER => self.correct_server(own, part, program, edits),
                        Some(below) if is_container(part) => {
                            self.merge(below, part, &format!("`{key}`"), program, edits)?;
                        }
                        Some(_) => {}
                    }
                }
                // A version number is part of what it is written with, and nothing by itself.
                if fresh.values().any(is_container) {
                    self.insert(value, &Json::Object(fresh), edits);
                }
            }
            Json::Array(_) => {
                let array = value.as_array().ok_or_else(|| wants("a list"))?;
                let ours: Vec<&StringLit<'_>> = array
                    .elements
                    .iter()
                    .flat_map(handlers)
                    .flat_map(|own| own_lines(own, program))
                    .collect();
                if ours.is_empty() {
                    self.insert(value, patch, edits);
                }
                let stale = ours.iter().filter(|line| line.value != program.line.as_str());
                edits.extend(
                    stale.map(|line| (span(line.range), Json::from(program.line.as_str()).to_string())),
                );
            }
            _ => {}
        }
        Ok(())
    }

    fn correct_server(&self, own: &Value<'_>, part: &Json, program: &Program, edits: &mut Vec<Edit>) {
        let words = |key: &str| own.as_object().and_then(|own| member(own, key)).map_or(Vec::new(), strings);
        if [words("command"), words("args")].concat() != [program.path.as_str(), "mcp"] {
            let range = own.range();
            let new = self.written(part, &self.indent_at(range.start), Layout::Lines);
            edits.push((span(range), new));
        }
    }

    /// Marks our entries for removal; true if the whole value is ours and goes with them.
    fn strip(&self, value: &Value<'_>, patch: &Json, program: &Program, edits: &mut Vec<Edit>) -> bool {
        // Lists of events that are not in the patch are looked through all the same.
        let other = patch.as_object().and_then(|parts| parts.values().find(|part| part.is_array()));
        let mut goes: Vec<bool> = Vec::new();
        for item in items(value) {
            let mut below = Vec::new();
            let gone = match item.key {
                None => self.strip_handlers(item.value, program, &mut below),
                Some(key) => match patch.get(key).or(other) {
                    Some(_) if key == SERVER => true,
                    Some(part) if is_container(part) => self.strip(item.value, part, program, &mut below),
                    Some(_) => goes.last().is_some_and(|before| *before),
                    None => false,
                },
            };
            if !gone {
                edits.append(&mut below);
            }
            goes.push(gone);
        }
        self.cut(value, &goes, edits);
        let inside = value.range().start + 1;
        let is_spaced = self.after(inside).is_some_and(|first| first.range.start > inside);
        !goes.is_empty() && goes.iter().all(|gone| *gone) && is_spaced && !self.has_comment(value)
    }

    /// Marks our handlers among those of one element; true if there are no others.
    fn strip_handlers(&self, element: &Value<'_>, program: &Program, edits: &mut Vec<Edit>) -> bool {
        let is_ours = |value: &Value<'_>| {
            value.as_object().is_some_and(|handler| !own_lines(handler, program).is_empty())
        };
        let group = element.as_object().and_then(|element| member(element, "hooks"));
        let Some(group) = group.filter(|group| group.as_array().is_some()) else { return is_ours(element) };
        let goes: Vec<bool> = items(group).iter().map(|item| is_ours(item.value)).collect();
        self.cut(group, &goes, edits);
        !goes.is_empty() && goes.iter().all(|gone| *gone)
    }

    /// Takes items out with the space before them and one comma each: the one behind, or, where no other item
    /// follows and the list does not end in a comma, the one before.
    fn cut(&self, value: &Value<'_>, goes: &[bool], edits: &mut Vec<Edit>) {
        let items = items(value);
        let comma_after = |at: usize| items.get(at).and_then(|item| self.comma_after(item.end()));
        let ends_in_comma = items.len().checked_sub(1).and_then(comma_after).is_some();
        let last_kept = goes.iter().rposition(|gone| !gone);
        // Where the text goes on behind a run of items that go.
        let mut after = 0;
        for (at, item) in items.iter().enumerate().rev().filter(|(at, _)| goes[*at]) {
            let follows = ends_in_comma || last_kept.is_some_and(|kept| kept > at);
            let comma = if follows { comma_after(at) } else { at.checked_sub(1).and_then(comma_after) };
            if goes.get(at + 1) != Some(&true) {
                after = item.end() + usize::from(follows && comma == Some(item.end()));
            }
            edits.push((self.start_of_space(item.start, after)..item.end(), String::new()));
            edits.extend(comma.map(|comma| (comma..comma + 1, String::new())));
        }
    }

    /// Where the space before an item begins; a line comment keeps the line end it needs.
    fn start_of_space(&self, start: usize, after: usize) -> usize {
        let Some(before) = self.before(start) else { return start };
        let rest = self.text[after..].trim_start_matches([' ', '\t']);
        let is_needed = matches!(before.token, Token::CommentLine(_)) && !rest.starts_with(['\r', '\n']);
        if is_needed { start } else { before.range.end }
    }

    /// Puts the patch's items behind the last one.
    fn insert(&self, value: &Value<'_>, patch: &Json, edits: &mut Vec<Edit>) {
        let (range, items) = (value.range(), items(value));
        let close = range.end - 1;
        let Some(before) = self.before(close) else { return };
        let at = before.range.end;
        let breaks = |from: usize, to: usize| self.text[from..to].contains('\n');
        let is_spread = breaks(at, close)
            || match items.first() {
                Some(first) => breaks(range.start, first.start),
                None => {
                    breaks(0, self.text.trim_end().len())
                        || at == range.start + 1 && range == self.root.range()
                }
            };
        let shape = if is_spread { Layout::Lines } else { Layout::Line };
        let own_line = items.last().and_then(|last| self.indent_of_line(last.start));
        let indent = own_line.map_or_else(|| self.indent_at(range.start) + &self.unit(), str::to_owned);
        let lead = match shape {
            Layout::Lines => format!("{}{indent}", self.line_end()),
            Layout::Line => " ".to_owned(),
        };
        let written = |part: &Json| self.written(part, &indent, shape);
        let parts: Vec<String> = match patch {
            Json::Object(parts) => print::pairs(parts, written),
            Json::Array(parts) => parts.iter().map(written).collect(),
            _ => Vec::new(),
        };
        let new = parts.join(&format!(",{lead}"));
        match items.last().map(|last| (last.end(), self.comma_after(last.end()))) {
            Some((end, None)) => edits.extend([(end..end, ",".to_owned()), (at..at, lead + &new)]),
            Some((_, Some(_))) => edits.push((at..at, format!("{lead}{new},"))),
            // Without space, which tells that the container is not ours.
            None if at == range.start + 1 => edits.push((at..at, new)),
            None => edits.push((at..at, lead + &new)),
        }
    }

    fn written(&self, value: &Json, indent: &str, shape: Layout) -> String {
        match shape {
            Layout::Lines => print::lines(value, &self.unit(), indent).replace('\n', self.line_end()),
            Layout::Line => print::line(value),
        }
    }

    /// What the file indents by.
    fn unit(&self) -> String {
        let first = items(&self.root).first().and_then(|first| self.indent_of_line(first.start));
        first.filter(|unit| !unit.is_empty()).unwrap_or("  ").to_owned()
    }

    fn line_end(&self) -> &'static str {
        if self.text.contains("\r\n") { "\r\n" } else { "\n" }
    }

    /// How far the line of a place is indented.
    fn indent_at(&self, at: usize) -> String {
        let line = &self.text[..at];
        let line = &line[line.rfind('\n').map_or(0, |end| end + 1)..];
        line[..line.len() - line.trim_start_matches([' ', '\t']).len()].to_owned()
    }

    /// The indentation of what stands first on its line.
    fn indent_of_line(&self, start: usize) -> Option<&'t str> {
        let (_, line) = self.text[..start].rsplit_once('\n')?;
        line.chars().all(|c| matches!(c, ' ' | '\t')).then_some(line)
    }

    fn before(&self, at: usize) -> Option<&TokenAndRange<'t>> {
        self.tokens[..self.tokens.partition_point(|token| token.range.start < at)].last()
    }

    fn after(&self, at: usize) -> Option<&TokenAndRange<'t>> {
        self.tokens.get(self.tokens.partition_point(|token| token.range.start < at))
    }

    fn comma_after(&self, at: usize) -> Option<usize> {
        let from = self.tokens.partition_point(|token| token.range.start < at);
        let next = self.tokens[from..].iter().find(|next| !is_comment(&next.token))?;
        matches!(next.token, Token::Comma).then_some(next.range.start)
    }

    /// Whether a comment stands among a value's items.
    fn has_comment(&self, value: &Value<'_>) -> bool {
        let is_comment =
            |token: Option<&TokenAndRange<'_>>| token.is_some_and(|token| is_comment(&token.token));
        let mut items = items(value).into_iter();
        is_comment(self.before(value.range().end - 1))
            || items.any(|item| is_comment(self.before(item.start)) || is_comment(self.after(item.end())))
    }
}

fn is_comment(token: &Token<'_>) -> bool {
    matches!(token, Token::CommentLine(_) | Token::CommentBlock(_))
}

#[derive(Clone, Copy)]
enum Layout {
    Line,
    Lines,
}

/// Of two members of one name the last counts.
fn member<'a, 't>(object: &'a Object<'t>, key: &str) -> Option<&'a Value<'t>> {
    object.properties.iter().rfind(|prop| prop.name.as_str() == key).map(|prop| &prop.value)
}

/// The handlers of an element: those of its group, or itself.
fn handlers<'a, 't>(element: &'a Value<'t>) -> Vec<&'a Object<'t>> {
    let Some(object) = element.as_object() else { return Vec::new() };
    match member(object, "hooks").and_then(Value::as_array) {
        Some(group) => group.elements.iter().filter_map(Value::as_object).collect(),
        None => vec![object],
    }
}

/// The command lines of a handler that run our hook.
fn own_lines<'a, 't>(handler: &'a Object<'t>, program: &Program) -> Vec<&'a StringLit<'t>> {
    let lines = handler
        .properties
        .iter()
        .filter(|prop| ["command", "bash", "powershell"].contains(&prop.name.as_str()));
    lines.filter_map(|prop| prop.value.as_string_lit()).filter(|line| program.runs(&line.value)).collect()
}

fn strings<'a>(value: &'a Value<'_>) -> Vec<&'a str> {
    match value {
        Value::StringLit(text) => vec![text.value.as_ref()],
        Value::Array(array) => array.elements.iter().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}

fn is_container(value: &Json) -> bool {
    value.is_object() || value.is_array()
}

fn span(range: Range) -> std::ops::Range<usize> {
    range.start..range.end
}

fn lower(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or(String::new(), |first| first.to_lowercase().chain(chars).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::hosts::{FileKind, HOSTS};
    use super::*;

    fn program() -> Program {
        Program::new("rulebook", "x").unwrap()
    }

    /// One of everything, small enough to read.
    fn patch() -> Json {
        let handler = json!({ "command": "rulebook hook x" });
        json!({ "hooks": { "E": [handler] }, "version": 1 })
    }

    fn servers() -> Json {
        json!({ "mcpServers": { "rulebook": { "command": "rulebook", "args": ["mcp"] } } })
    }

    #[track_caller]
    fn comes_back(before: &str, patch: &Json, program: &Program) -> String {
        let after = add(before, patch, program).unwrap();
        assert_ne!(after, before);
        assert_eq!(add(&after, patch, program).unwrap(), after, "a second time, to {before:?}");
        assert_eq!(remove(&after, patch, program).unwrap().as_deref(), Some(before), "from {after:?}");
        assert_eq!(remove(before, patch, program).unwrap().as_deref(), Some(before));
        after
    }

    #[test]
    fn entries_are_written_the_way_the_file_is() {
        #[track_caller]
        fn check(before: &str, after: &str) {
            assert_eq!(comes_back(before, &patch(), &program()), after);
        }
        check(
            r#"{"a":1}"#,
            r#"{"a":1, "hooks": { "E": [ { "command": "rulebook hook x" } ] }, "version": 1}"#,
        );
        check(
            "{\n\t\"a\": 1, // one\n\t// end\n}",
            "{\n\t\"a\": 1, // one\n\t// end\n\t\"hooks\": { \"E\": [ { \"command\": \"rulebook hook x\" } ] },\n\t\"version\": 1,\n}",
        );
        check(
            "{\r\n    \"a\": 1 // one\r\n}\r\n",
            "{\r\n    \"a\": 1, // one\r\n    \"hooks\": { \"E\": [ { \"command\": \"rulebook hook x\" } ] },\r\n    \"version\": 1\r\n}\r\n",
        );
        check(
            "{ \"hooks\": { \"E\": [ 1 ] } }",
            "{ \"hooks\": { \"E\": [ 1, { \"command\": \"rulebook hook x\" } ] } }",
        );
        check(
            "{\n  \"version\": 1,\n  \"hooks\": {\n    \"E\": []\n  }\n}\n",
            "{\n  \"version\": 1,\n  \"hooks\": {\n    \"E\": [{ \"command\": \"rulebook hook x\" }]\n  }\n}\n",
        );
    }

    #[test]
    fn what_stood_empty_stays() {
        for before in [
            "{}",
            "{ }",
            "{\n}",
            "{\n}\n",
            "{ // c\n}",
            "{/* c */}",
            "// c\n{}\n",
            "{\"hooks\":{}}",
            "{\n  \"hooks\": {\n  }\n}",
            "{\"hooks\":{\"E\":[]}}",
            "{\"hooks\":{\"E\":[ ],},}",
            "{\"version\":1}",
            "{\"hooks\":{\"F\":[{}]}, // c\n \"version\":1}",
        ] {
            comes_back(before, &patch(), &program());
        }
        for before in ["{}", "{\"mcpServers\": {}}", "{\"mcpServers\": {\"a\": {}}}"] {
            comes_back(before, &servers(), &program());
        }
    }

    #[test]
    fn what_was_written_around_ours_stays() {
        #[track_caller]
        fn check(text: &str, left: Option<&str>) {
            assert_eq!(remove(text, &patch(), &program()).unwrap().as_deref(), left, "{text}");
        }
        let ours = r#"{"command":"/opt/rulebook hook x"}"#;
        check(&create(&patch()), None);
        check(
            "{\n  \"hooks\": {\n    \"E\": [\n      {\n        \"command\": \"rulebook hook x\"\n      }\n    ]\n  },\n  \"version\": 1\n}",
            None,
        );
        check(
            &format!("{{ \"hooks\": {{ \"E\": [ {ours}, 1 ] }} }}"),
            Some("{ \"hooks\": { \"E\": [ 1 ] } }"),
        );
        check(
            &format!("{{ \"hooks\": {{ \"E\": [ 1, {ours}, 2 ] }} }}"),
            Some("{ \"hooks\": { \"E\": [ 1, 2 ] } }"),
        );
        check(&format!("{{ \"hooks\": {{ \"old\": [ {ours} ] }}, \"a\": 1 }}"), Some("{ \"a\": 1 }"));
        check(
            &format!(
                "{{ \"hooks\": {{ \"E\": [ {{\"hooks\": [{ours}, {{}}]}}, {{\"hooks\": [{ours}]}} ] }} }}"
            ),
            Some("{ \"hooks\": { \"E\": [ {\"hooks\": [ {}]} ] } }"),
        );
        check(
            &format!("{{ \"hooks\": {{ \"E\": [ {{\"hooks\": [1, {ours}, 2]}} ] }} }}"),
            Some("{ \"hooks\": { \"E\": [ {\"hooks\": [1, 2]} ] } }"),
        );
        check(
            &format!("{{ \"hooks\": {{ // why\n \"E\": [ // c\n {ours}] }} }}"),
            Some("{ \"hooks\": { // why\n \"E\": [ // c\n ] } }"),
        );
        check(
            r#"{"hooks": {"E": [{"command": "rulebook hook y"}]}}"#,
            Some(r#"{"hooks": {"E": [{"command": "rulebook hook y"}]}}"#),
        );
    }

    #[test]
    fn another_program_is_put_in_its_place() {
        #[track_caller]
        fn check(patch: &Json, before: &str, after: &str) {
            assert_eq!(add(before, patch, &program()).unwrap(), after);
        }
        check(
            &patch(),
            r#"{"hooks":{"E":[{"x":1,"command":"/opt/rulebook hook x","timeout":9}]}}"#,
            r#"{"hooks":{"E":[{"x":1,"command":"rulebook hook x","timeout":9}]}}"#,
        );
        let kept = r#"{"mcpServers":{"rulebook":{"env":{},"args":["mcp"],"command":"rulebook"}}}"#;
        check(&servers(), kept, kept);
        let other = create(&servers()).replace("\"rulebook\",", "\"rb\",");
        check(&servers(), &other, &create(&servers()));
    }

    #[test]
    fn a_file_that_cannot_be_edited_is_told() {
        #[track_caller]
        fn check(text: &str, at: usize, message: &str) {
            let fault = add(text, &patch(), &program()).unwrap_err();
            assert_eq!((fault.at, fault.message.as_str()), (at, message), "{text}");
        }
        check("", 0, "there is no JSON in it; write `{}`, or delete the file");
        check("// c", 0, "there is no JSON in it; write `{}`, or delete the file");
        check("[]", 0, "the file must be an object");
        check("{\"hooks\": []}", 10, "`hooks` must be an object");
        check("{\"hooks\": {\"E\": {}}}", 16, "`E` must be a list");
        check("{\"a\": 1", 0, "unterminated object");
        check("{\"a\": 1 \"b\": 2}", 7, "expected comma");
        check(&"[".repeat(100_000), 512, "maximum nesting depth exceeded");
    }

    /// Space and comments.
    fn gap() -> impl Strategy<Value = &'static str> {
        prop::sample::select(vec![
            "",
            "",
            "",
            " ",
            "\n",
            "\n  ",
            "\n\t",
            "\r\n",
            "/* c */",
            " // é\n",
            "\n    // c, }\n  ",
        ])
    }

    fn list(open: char, items: Vec<(String, &str)>, trailing: bool, gap: &str, close: char) -> String {
        let ends_in_comma = trailing && !items.is_empty();
        let items: Vec<String> = items.into_iter().map(|(item, gap)| format!("{gap}{item}")).collect();
        let comma = if ends_in_comma { "," } else { "" };
        format!("{open}{}{comma}{gap}{close}", items.join(","))
    }

    fn object(value: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
        let key = prop::sample::select(vec![
            "a",
            "hooks",
            "hooks",
            "mcpServers",
            "mcp",
            "version",
            "PreToolUse",
            "preToolUse",
            "SessionStart",
        ]);
        let member = (key, gap(), value, gap())
            .prop_map(|(key, space, value, gap)| (format!("\"{key}\":{space}{value}"), gap));
        (prop::collection::vec(member, 0..4), any::<bool>(), gap())
            .prop_map(|(items, trailing, gap)| list('{', items, trailing, gap, '}'))
    }

    fn file() -> impl Strategy<Value = String> {
        let leaf = prop::sample::select(vec!["1", "\"x\"", "null", "[]", "{}", "{\"command\":\"x\"}"])
            .prop_map(str::to_owned);
        let value = leaf.prop_recursive(3, 24, 4, |inner| {
            let array = (prop::collection::vec((inner.clone(), gap()), 0..3), any::<bool>(), gap())
                .prop_map(|(items, trailing, gap)| list('[', items, trailing, gap, ']'));
            prop_oneof![array, object(inner)]
        });
        (gap(), object(value), gap()).prop_map(|(before, object, after)| format!("{before}{object}{after}"))
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_file_comes_back_byte_for_byte(before in file()) {
            for host in HOSTS {
                let program = Program::new("rulebook", host.id.name()).unwrap();
                let (mut text, mut written) = (before.clone(), Vec::new());
                for wire in host.wires {
                    let (FileKind::Json(patch) | FileKind::Jsonc(patch)) = wire.kind else { continue };
                    let patch = patch(&program);
                    // A file that cannot be edited is left alone.
                    let Ok(after) = add(&text, &patch, &program) else { continue };
                    prop_assert_eq!(&add(&after, &patch, &program).unwrap(), &after);
                    text = after;
                    written.push(patch);
                }
                for patch in written.iter().rev() {
                    text = remove(&text, patch, &program).unwrap().unwrap();
                }
                prop_assert_eq!(&text, &before, "{}", host.id.name());
            }
        }
    }
}
