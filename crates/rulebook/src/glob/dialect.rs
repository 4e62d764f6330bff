//! The dialects: whose glob rules a pattern follows.

use super::traits::Traits;

/// Whose glob rules a pattern follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dialect {
    /// npm's picomatch 4 with `dot: true`.
    Picomatch,
    /// npm's minimatch 11 with its defaults.
    Minimatch,
    /// Claude Code's `paths`.
    Claude,
    /// `applyTo` as Copilot reads it in VS Code.
    VsCode,
    /// One line of a `.gitignore`, or many.
    Gitignore,
    /// Amp's `globs`.
    Amp,
    /// `applyTo` as Copilot's command line reads it.
    CopilotCli,
}

/// Every dialect: its name, and what it means in one sentence.
const DIALECTS: [(Dialect, &str, &str); 7] = [
    (
        Dialect::Picomatch,
        "picomatch",
        "picomatch 4 with `dot: true`: `*` stays in its folder, `**` crosses folders",
    ),
    (
        Dialect::Minimatch,
        "minimatch",
        "minimatch 11 with its defaults: as picomatch, but wildcards leave dotfiles alone",
    ),
    (
        Dialect::Claude,
        "claude",
        "a line of `.gitignore` whatever its case, with braces: a name without a slash is found at any depth, a folder stands for all in it",
    ),
    (
        Dialect::VsCode,
        "vscode",
        "VS Code's own globs whatever their case, found at any depth unless they start with `/`",
    ),
    (
        Dialect::Gitignore,
        "gitignore",
        "a line of `.gitignore`: a name without a slash is found at any depth, a folder stands for all in it",
    ),
    (Dialect::Amp, "amp", "as picomatch, found at any depth unless it starts with `./`, `../` or `/`"),
    (
        Dialect::CopilotCli,
        "copilot-cli",
        "as minimatch with dotfiles, a pattern without a slash is found at any depth",
    ),
];

impl Dialect {
    /// Every dialect there is.
    pub fn all() -> impl Iterator<Item = Dialect> {
        DIALECTS.iter().map(|row| row.0)
    }

    /// The name, as in documentation and settings.
    pub fn name(self) -> &'static str {
        DIALECTS[self as usize].1
    }

    /// What patterns mean in it, in one sentence without its full stop.
    pub fn meaning(self) -> &'static str {
        DIALECTS[self as usize].2
    }

    /// Whether paths match whatever their case.
    pub(super) fn folds(self) -> bool {
        matches!(self, Dialect::Claude | Dialect::VsCode)
    }

    /// Whether a folder, with its slash, may match without the segments its pattern names: VS Code's expressions ask for no
    /// slash behind them.
    pub(super) fn is_loose(self) -> bool {
        self == Dialect::VsCode
    }

    /// Whether a folder that matches stands for all in it.
    pub(super) fn reaches_below(self) -> bool {
        matches!(self, Dialect::Claude | Dialect::Gitignore)
    }

    /// Traits of paths that a plain pattern cannot decide about.
    pub(super) fn minds(self) -> Traits {
        match self {
            Dialect::Picomatch | Dialect::Amp => Traits::LINE_BREAK,
            Dialect::Minimatch => Traits::FOLDER.and(Traits::HIDDEN),
            Dialect::VsCode => Traits::FOLDER.and(Traits::BACKSLASH),
            Dialect::CopilotCli | Dialect::Claude | Dialect::Gitignore => Traits::FOLDER,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Dialect;

    #[test]
    fn rows_stand_in_the_order_of_the_variants() {
        for (at, dialect) in Dialect::all().enumerate() {
            assert_eq!(dialect as usize, at);
            assert!(!dialect.name().is_empty() && !dialect.meaning().ends_with('.'));
        }
    }
}
