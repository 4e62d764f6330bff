//! Code for syntax triggers: the files of a workspace, and the grammars.

use std::sync::Arc;

use rulebook::resolve::Rulebook;
use rulebook::stream::syntax::Syntax;
use rulebook_workspace::Workspace;

/// Who parses code for the syntax triggers of these rules; nothing if they have none, or this build has no grammars.
pub(crate) fn syntax(workspace: &Workspace, book: &Rulebook) -> Option<Arc<dyn Syntax>> {
    let has_triggers =
        book.rules().any(|(rule, _)| rule.stream.as_ref().is_some_and(|one| !one.syntax.is_empty()));
    if has_triggers { parser(workspace) } else { None }
}

#[cfg(feature = "syntax")]
fn parser(workspace: &Workspace) -> Option<Arc<dyn Syntax>> {
    Some(Arc::new(with_grammars::Code {
        texts: workspace.texts(),
        grammars: rulebook_syntax::Grammars::default(),
    }))
}

#[cfg(not(feature = "syntax"))]
fn parser(_: &Workspace) -> Option<Arc<dyn Syntax>> {
    None
}

#[cfg(feature = "syntax")]
mod with_grammars {
    use rulebook::stream::syntax::{FileText, NodeMatch, Syntax, SyntaxTrigger};
    use rulebook_syntax::Grammars;
    use rulebook_workspace::FileTexts;

    #[derive(Debug)]
    pub(super) struct Code {
        pub(super) texts: FileTexts,
        pub(super) grammars: Grammars,
    }

    impl Syntax for Code {
        fn read(&self, root: usize, path: &str, limit: usize) -> FileText {
            self.texts.text(root, path, limit)
        }

        fn find(&self, trigger: &SyntaxTrigger, grammar: &str, text: &str) -> Result<Vec<NodeMatch>, String> {
            self.grammars.find(trigger, grammar, text)
        }
    }
}
