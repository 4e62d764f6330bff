//! Grammars for syntax triggers: ast-grep's rules on the syntax trees of texts.
//!
//! This crate is the only one with C code (tree-sitter). The engine decides which texts are judged; this crate finds the nodes.

#![forbid(unsafe_code)]

mod difference;

use std::collections::HashMap;
use std::ops::Range;
use std::str::FromStr as _;
use std::sync::{Arc, Mutex, PoisonError};

use ast_grep_config::{DeserializeEnv, RuleCore, SerializableRuleCore};
use ast_grep_core::matcher::MatcherExt as _;
use ast_grep_core::tree_sitter::{LanguageExt as _, StrDoc};
use ast_grep_core::{AstGrep, Matcher as _, Node, Pattern};
use ast_grep_language::SupportLang;
use difference::Difference;
use rulebook::syntax::{NodeMatch, SyntaxTrigger};
use serde_json::Value;
use tree_sitter::Parser;

/// How many parsed texts are kept, and how many bytes they have together; the text of a file before and after an edit
/// always has room.
const MAX_TREES: usize = 32;
const MAX_BYTES: usize = 2 << 20;

/// How many compiled rules are kept.
const MAX_RULES: usize = 4096;

/// Finds nodes, and keeps what it parsed last: the rules of a workspace look at the same texts, and a text that differs little
/// from one of them is parsed from its tree.
#[derive(Default)]
pub struct Grammars {
    kept: Mutex<Kept>,
}

type Matcher = Result<Arc<RuleCore>, String>;
type SyntaxTree = AstGrep<StrDoc<SupportLang>>;
type SyntaxNode<'t> = Node<'t, StrDoc<SupportLang>>;

#[derive(Default)]
struct Kept {
    /// The last used one is the last.
    trees: Vec<(SupportLang, SyntaxTree)>,
    parsers: HashMap<SupportLang, Parser>,
    /// Compiled rules, by grammar and text.
    rules: HashMap<(String, String), Matcher>,
}

impl std::fmt::Debug for Grammars {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Grammars")
    }
}

impl Grammars {
    /// The nodes of a text that match a trigger, outermost first, or why the trigger cannot be used. Broken code has the
    /// nodes that the grammar recognises.
    pub fn find(&self, trigger: &SyntaxTrigger, grammar: &str, text: &str) -> Result<Vec<NodeMatch>, String> {
        let language = language(grammar)?;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let matcher = kept.matcher(trigger, grammar, language)?;
        let tree = kept.tree(language, text)?;
        let root = tree.root();
        let matches = root
            .find_all(&*matcher)
            .map(|found| NodeMatch { range: found.range(), kind: found.kind().into_owned() });
        Ok(matches.collect())
    }

    /// The nodes of two texts that match a trigger and touch what differs in their trees; `None` for broken code, whose trees
    /// depend on how they were parsed.
    ///
    /// # Errors
    /// As [`Grammars::find`].
    pub fn find_changed(
        &self,
        trigger: &SyntaxTrigger,
        grammar: &str,
        [before, after]: [&str; 2],
    ) -> Result<Option<[Vec<NodeMatch>; 2]>, String> {
        let language = language(grammar)?;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let matcher = kept.matcher(trigger, grammar, language)?;
        let new = kept.tree(language, after)?.clone();
        let old = kept.tree(language, before)?;
        let (new_root, old_root) = (new.root(), old.root());
        let trees = [&old_root, &new_root].map(|root| &root.get_doc().tree);
        if trees.iter().any(|tree| tree.root_node().has_error()) {
            return Ok(None);
        }
        let difference = Difference::between(after, before);
        let mut edited = trees[1].clone();
        edited.edit(&difference.edit(after, before));
        let changed = edited.changed_ranges(trees[0]).map(|range| range.start_byte..range.end_byte);
        let difference = difference.without(changed, before);
        let nodes = |root, text| touching(root, &difference.part(text), &matcher);
        Ok(Some([nodes(old_root.clone(), before), nodes(new_root.clone(), after)]))
    }

    /// Parses a text, as the first search in it does.
    ///
    /// # Errors
    /// If there is no such grammar.
    pub fn parse(&self, grammar: &str, text: &str) -> Result<(), String> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.tree(language(grammar)?, text).map(drop)
    }

    /// What is wrong with a trigger in a grammar: it cannot be used, or a pattern in it is broken code, which matches nothing
    /// that its author meant.
    pub fn problem(&self, trigger: &SyntaxTrigger, grammar: &str) -> Option<String> {
        let language = match language(grammar) {
            Ok(language) => language,
            Err(why) => return Some(why),
        };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let broken = patterns(&trigger.rule).into_iter().find_map(|pattern| {
            let parsed = Pattern::try_new(pattern, language).ok()?;
            parsed.has_error().then(|| format!("`{pattern}` is not valid {grammar}"))
        });
        broken.or_else(|| kept.matcher(trigger, grammar, language).err())
    }
}

/// The nodes that match and touch a part of the text, outermost first.
fn touching(root: SyntaxNode<'_>, part: &Range<usize>, matcher: &RuleCore) -> Vec<NodeMatch> {
    let kinds = matcher.potential_kinds();
    let touches = |node: &SyntaxNode<'_>| node.range().start <= part.end && node.range().end >= part.start;
    let mut found = Vec::new();
    let mut open = vec![root];
    while let Some(node) = open.pop().filter(touches) {
        let is_candidate = kinds.as_ref().is_none_or(|kinds| kinds.contains(node.kind_id().into()));
        if is_candidate && let Some(one) = matcher.match_node(node.clone()) {
            found.push(NodeMatch { range: one.range(), kind: one.kind().into_owned() });
        }
        let first = open.len();
        open.extend(node.children().filter(|child| touches(child)));
        open[first..].reverse();
    }
    found
}

fn language(grammar: &str) -> Result<SupportLang, String> {
    SupportLang::from_str(grammar).map_err(|_| format!("there is no grammar for `{grammar}`"))
}

/// The patterns in a rule object that are written as text.
fn patterns(rule: &Value) -> Vec<&str> {
    match rule {
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(key, value)| match (key.as_str(), value.as_str()) {
                ("pattern", Some(pattern)) => vec![pattern],
                _ => patterns(value),
            })
            .collect(),
        Value::Array(items) => items.iter().flat_map(patterns).collect(),
        _ => Vec::new(),
    }
}

impl Kept {
    fn matcher(&mut self, trigger: &SyntaxTrigger, grammar: &str, language: SupportLang) -> Matcher {
        if self.rules.len() >= MAX_RULES {
            self.rules.clear();
        }
        let key = (grammar.to_owned(), trigger.rule.to_string());
        self.rules.entry(key).or_insert_with(|| compile(trigger, language)).clone()
    }

    /// The tree of a text: known, or parsed from the one of a similar text.
    fn tree(&mut self, language: SupportLang, text: &str) -> Result<&SyntaxTree, String> {
        let own = |(of, _): &(SupportLang, SyntaxTree)| *of == language;
        let is_it = |known: &(SupportLang, SyntaxTree)| own(known) && known.1.source() == text;
        if let Some(at) = self.trees.iter().position(is_it) {
            let known = self.trees.remove(at);
            self.trees.push(known);
        } else {
            let similar = self.trees.iter().filter(|known| own(known)).map(|(_, tree)| tree);
            let similar = similar
                .map(|tree| (Difference::between(tree.source(), text), tree))
                .max_by_key(|(difference, _)| difference.same())
                .filter(|(difference, tree)| difference.same() * 2 > text.len().max(tree.source().len()));
            let before = similar.map(|(difference, tree)| {
                let mut before = tree.root().get_doc().tree.clone();
                before.edit(&difference.edit(tree.source(), text));
                before
            });
            let parser = self.parsers.entry(language).or_default();
            parser.set_language(&language.get_ts_language()).map_err(|error| error.to_string())?;
            let continued = before.and_then(|before| parser.parse(text, Some(&before)));
            // Of broken code, a tree depends on what was there before.
            let continued = continued.filter(|tree| !tree.root_node().has_error());
            let tree = continued.or_else(|| parser.parse(text, None)).ok_or("the code cannot be parsed")?;
            let parsed = StrDoc { src: text.to_owned(), lang: language, tree };
            self.trees.push((language, SyntaxTree::doc(parsed)));
            self.drop_oldest();
        }
        self.trees.last().map(|(_, tree)| tree).ok_or_else(|| "no tree".to_owned())
    }

    fn drop_oldest(&mut self) {
        let bytes = |trees: &[(SupportLang, SyntaxTree)]| {
            trees.iter().map(|(_, tree)| tree.source().len()).sum::<usize>()
        };
        while self.trees.len() > MAX_TREES || self.trees.len() > 2 && bytes(&self.trees) > MAX_BYTES {
            self.trees.remove(0);
        }
    }
}

fn compile(trigger: &SyntaxTrigger, language: SupportLang) -> Matcher {
    let rule: SerializableRuleCore =
        serde_json::from_value(trigger.rule.clone()).map_err(|error| error.to_string())?;
    let matcher = rule.get_matcher(DeserializeEnv::new(language)).map_err(|error| {
        // The causes are ever more specific.
        let mut cause: &dyn std::error::Error = &error;
        while let Some(next) = cause.source() {
            cause = next;
        }
        cause.to_string()
    })?;
    // The command refuses such rules too: a pattern that is not code, or conditions alone.
    if matcher.potential_kinds().is_none() {
        return Err("it names no kind of nodes: add a `kind`, or a `pattern` that is valid code".to_owned());
    }
    Ok(Arc::new(matcher))
}

#[cfg(test)]
mod tests;
