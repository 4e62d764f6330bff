//! Grammars for syntax triggers: ast-grep's rules on the syntax trees of texts.
//!
//! This crate is the only one with C code (tree-sitter). The engine decides which texts are judged; this crate finds the nodes.

#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::str::FromStr as _;
use std::sync::{Arc, Mutex, PoisonError};

use ast_grep_config::{DeserializeEnv, RuleCore, SerializableRuleCore};
use ast_grep_core::AstGrep;
use ast_grep_core::tree_sitter::{LanguageExt as _, StrDoc};
use ast_grep_language::SupportLang;
use rulebook::stream::syntax::{NodeMatch, SyntaxTrigger};

/// How many parsed texts are kept: the text of a file before and after an edit, for several files.
const KEPT: usize = 8;

/// Finds nodes, and keeps what it parsed last: the rules of a workspace look at the same texts.
#[derive(Default)]
pub struct Grammars {
    kept: Mutex<Kept>,
}

type Matcher = Result<Arc<RuleCore>, String>;

#[derive(Default)]
struct Kept {
    trees: Vec<(String, AstGrep<StrDoc<SupportLang>>)>,
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
        let language =
            SupportLang::from_str(grammar).map_err(|_| format!("there is no grammar for `{grammar}`"))?;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let matcher = kept.matcher(trigger, grammar, language)?;
        let tree = kept.tree(grammar, language, text);
        let root = tree.root();
        let matches = root
            .find_all(&*matcher)
            .map(|found| NodeMatch { range: found.range(), kind: found.kind().into_owned() });
        Ok(matches.collect())
    }
}

impl Kept {
    fn matcher(&mut self, trigger: &SyntaxTrigger, grammar: &str, language: SupportLang) -> Matcher {
        let key = (grammar.to_owned(), trigger.rule.to_string());
        self.rules.entry(key).or_insert_with(|| compile(trigger, language)).clone()
    }

    fn tree(&mut self, grammar: &str, language: SupportLang, text: &str) -> &AstGrep<StrDoc<SupportLang>> {
        let is_it = |(known, tree): &(String, AstGrep<StrDoc<SupportLang>>)| {
            known == grammar && tree.source() == text
        };
        let at = self.trees.iter().position(is_it).unwrap_or_else(|| {
            if self.trees.len() >= KEPT {
                self.trees.remove(0);
            }
            self.trees.push((grammar.to_owned(), language.ast_grep(text)));
            self.trees.len() - 1
        });
        &self.trees[at].1
    }
}

fn compile(trigger: &SyntaxTrigger, language: SupportLang) -> Matcher {
    let rule: SerializableRuleCore =
        serde_json::from_value(trigger.rule.clone()).map_err(|error| error.to_string())?;
    let matcher = rule.get_matcher(DeserializeEnv::new(language));
    matcher.map(Arc::new).map_err(|error| {
        let mut text = error.to_string();
        let mut source = std::error::Error::source(&error);
        while let Some(cause) = source {
            text = format!("{text} {cause}");
            source = cause.source();
        }
        text
    })
}

#[cfg(test)]
mod tests;
