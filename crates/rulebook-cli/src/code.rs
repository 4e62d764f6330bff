//! Code for syntax triggers and conditions: the files of a workspace, and the grammars.

use rulebook_workspace::Workspace;

/// Lets a workspace parse code, if this build has grammars.
#[cfg(feature = "syntax")]
pub(crate) fn parsing(workspace: Workspace) -> Workspace {
    workspace.parsing_with(|texts| std::sync::Arc::new(with_grammars::Code { texts }))
}

#[cfg(not(feature = "syntax"))]
pub(crate) fn parsing(workspace: Workspace) -> Workspace {
    workspace
}

#[cfg(feature = "syntax")]
mod with_grammars {
    use std::sync::LazyLock;

    use rulebook::syntax::{FileText, NodeMatch, Syntax, SyntaxTrigger};
    use rulebook_syntax::Grammars;
    use rulebook_workspace::FileTexts;

    /// Keeps the trees of files while the process runs, however often a workspace is opened.
    static GRAMMARS: LazyLock<Grammars> = LazyLock::new(Grammars::default);

    #[derive(Debug)]
    pub(super) struct Code {
        pub(super) texts: FileTexts,
    }

    impl Syntax for Code {
        fn read(&self, root: usize, path: &str, limit: usize) -> FileText {
            self.texts.text(root, path, limit)
        }

        fn find(&self, trigger: &SyntaxTrigger, grammar: &str, text: &str) -> Result<Vec<NodeMatch>, String> {
            GRAMMARS.find(trigger, grammar, text)
        }

        fn find_changed(
            &self,
            trigger: &SyntaxTrigger,
            grammar: &str,
            texts: [&str; 2],
        ) -> Result<Option<[Vec<NodeMatch>; 2]>, String> {
            GRAMMARS.find_changed(trigger, grammar, texts)
        }

        fn problem(&self, trigger: &SyntaxTrigger, grammar: &str) -> Option<String> {
            GRAMMARS.problem(trigger, grammar)
        }
    }
}
