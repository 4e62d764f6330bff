//! The glob dialects.

use super::traits::Traits;

/// The tool whose glob rules a pattern follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dialect {
    /// picomatch 4 (npm) with `dot: true`.
    Picomatch,
    /// minimatch 11 (npm) with its defaults.
    Minimatch,
    /// Claude Code's `paths`.
    Claude,
    /// `applyTo` as Copilot reads it in VS Code.
    VsCode,
    /// Lines of a `.gitignore`.
    Gitignore,
    /// Amp's `globs`.
    Amp,
    /// `applyTo` as Copilot's command line reads it.
    CopilotCli,
}

/// Every dialect with its name and its meaning in one sentence.
const DIALECTS: [(Dialect, &str, &str); 7] = [
    (
        Dialect::Picomatch,
        "picomatch",
        "picomatch 4 with `dot: true`: `*` stays in its folder, `**` crosses folders",
    ),
    (
        Dialect::Minimatch,
        "minimatch",
        "minimatch 11 with its defaults: like picomatch, but wildcards do not match dotfiles",
    ),
    (
        Dialect::Claude,
        "claude",
        "a line of `.gitignore`, case-insensitive and with braces: a name without a slash matches at any depth, a folder matches everything in it",
    ),
    (
        Dialect::VsCode,
        "vscode",
        "VS Code's own globs, case-insensitive: they match at any depth unless they start with `/`",
    ),
    (
        Dialect::Gitignore,
        "gitignore",
        "a line of `.gitignore`: a name without a slash matches at any depth, a folder matches everything in it",
    ),
    (
        Dialect::Amp,
        "amp",
        "like picomatch, but matches at any depth unless it starts with `./`, `../` or `/`",
    ),
    (
        Dialect::CopilotCli,
        "copilot-cli",
        "the crate globset, where `*` stays in its folder; a pattern may match the path or only the file name",
    ),
];

impl Dialect {
    /// Every dialect.
    pub fn all() -> impl Iterator<Item = Dialect> {
        DIALECTS.iter().map(|row| row.0)
    }

    /// The name used in documentation and settings.
    pub fn name(self) -> &'static str {
        DIALECTS[self as usize].1
    }

    /// What patterns mean in it: one sentence without a full stop.
    pub fn meaning(self) -> &'static str {
        DIALECTS[self as usize].2
    }

    /// Whether matching ignores case.
    pub(super) fn ignores_case(self) -> bool {
        matches!(self, Dialect::Claude | Dialect::VsCode)
    }

    /// Whether a folder with a trailing slash may match without containing the segments that the pattern names: VS Code's
    /// expressions require no slash after them.
    pub(super) fn matches_folders_loosely(self) -> bool {
        self == Dialect::VsCode
    }

    /// Whether a matching folder covers everything below it.
    pub(super) fn covers_folders(self) -> bool {
        matches!(self, Dialect::Claude | Dialect::Gitignore)
    }

    /// The path traits for which a plain pattern needs its full expression.
    pub(super) fn special_traits(self) -> Traits {
        match self {
            Dialect::Picomatch | Dialect::Amp => Traits::LINE_BREAK,
            Dialect::Minimatch => Traits::FOLDER.union(Traits::HIDDEN),
            Dialect::VsCode => Traits::FOLDER.union(Traits::BACKSLASH),
            Dialect::CopilotCli | Dialect::Claude | Dialect::Gitignore => Traits::FOLDER,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Dialect;

    #[test]
    fn rows_are_in_the_order_of_the_variants() {
        for (at, dialect) in Dialect::all().enumerate() {
            assert_eq!(dialect as usize, at);
            assert!(!dialect.name().is_empty() && !dialect.meaning().ends_with('.'));
        }
    }
}
