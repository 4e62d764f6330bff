//! git: its options, settings and aliases, as far as they run something.

use super::command::{Word, joined};
use super::script::DoubtKind;
use super::starting::{Starting, text_after};

/// Options of git before its command which take a value as the next word.
const GIT_VALUED: &[&str] = &[
    "-C",
    "-c",
    "--attr-source",
    "--config-env",
    "--exec-path",
    "--git-dir",
    "--namespace",
    "--super-prefix",
    "--work-tree",
];

/// Parts of the names of settings whose values git runs.
#[rustfmt::skip]
const GIT_RUN_SETTINGS: &[&str] = &[
    "askpass", "browser", "clean", "cmd", "command", "difffilter", "driver", "editor", "external", "fsmonitor", "gitproxy", "helper",
    "hook", "httpd", "include", "pager", "process", "program", "receivepack", "smtpserver", "smudge", "templatedir", "textconv",
    "tunnel", "update", "uploadpack",
];

/// Options whose value git gives to a shell.
#[rustfmt::skip]
const GIT_TEXTS: &[&str] = &[
    "--browser", "--cc-cmd", "--commit-filter", "--env-filter", "--exec", "--extcmd", "--header-cmd", "--httpd", "--index-filter",
    "--msg-filter", "--open-files-in-pager", "--parent-filter", "--receive-pack", "--sendmail-cmd", "--tag-name-filter", "--to-cmd",
    "--tree-filter", "--upload-pack",
];
/// The shortest part of such an option that counts as the option.
const SHORTEST: usize = "--exe".len();

/// The same with one letter, and the commands that have them.
const GIT_SHORT_TEXTS: &[(&[&str], &str)] = &[
    (&["rebase", "difftool"], "-x"),
    (&["grep"], "-O"),
    (&["clone", "ls-remote"], "-u"),
    (&["instaweb"], "-b"),
];

/// The commands of git. Another one is an alias, or a program of its own.
#[rustfmt::skip]
const GIT_COMMANDS: &[&str] = &[
    "add", "am", "annotate", "apply", "archive", "backfill", "bisect", "blame", "branch", "bugreport", "bundle", "cat-file",
    "check-attr", "check-ignore", "check-mailmap", "check-ref-format", "checkout", "checkout-index", "cherry", "cherry-pick",
    "citool", "clean", "clone", "column", "commit", "commit-graph", "commit-tree", "config", "count-objects", "credential",
    "credential-cache", "credential-store", "cvsexportcommit", "cvsimport", "cvsserver", "daemon", "describe", "diagnose", "diff",
    "diff-files", "diff-index", "diff-pairs", "diff-tree", "difftool", "fast-export", "fast-import", "fetch", "fetch-pack",
    "filter-branch", "filter-repo", "flow", "fmt-merge-msg", "for-each-ref", "for-each-repo", "format-patch", "fsck",
    "fsmonitor--daemon", "gc", "get-tar-commit-id", "gitk", "grep", "gui", "hash-object", "help", "hook", "imap-send",
    "index-pack", "init", "init-db", "instaweb", "interpret-trailers", "last-modified", "lfs", "log", "ls-files", "ls-remote",
    "ls-tree", "mailinfo", "mailsplit", "maintenance", "merge", "merge-base", "merge-file", "merge-index", "merge-one-file",
    "merge-tree", "mergetool", "mktag", "mktree", "multi-pack-index", "mv", "name-rev", "notes", "p4", "pack-objects",
    "pack-redundant", "pack-refs", "patch-id", "prune", "prune-packed", "pull", "push", "quiltimport", "range-diff", "read-tree",
    "rebase", "receive-pack", "reflog", "refs", "remote", "repack", "replace", "replay", "repo", "request-pull", "rerere", "reset",
    "restore", "rev-list", "rev-parse", "revert", "rm", "scalar", "send-email", "send-pack", "sh-setup", "shortlog", "show",
    "show-branch", "show-index", "show-ref", "sparse-checkout", "stage", "stash", "status", "stripspace", "submodule", "subtree",
    "svn", "switch", "symbolic-ref", "tag", "unpack-file", "unpack-objects", "update-index", "update-ref", "update-server-info",
    "upload-archive", "upload-pack", "var", "verify-commit", "verify-pack", "verify-tag", "version", "whatchanged", "worktree",
    "write-tree",
];

impl Starting<'_> {
    /// git with an alias, or a command as a setting or the value of an option.
    pub(super) fn git(&mut self, rest: &[Word]) {
        let command = git_command(rest);
        let after = command.map_or(rest, |at| &rest[at..]);
        let name = after.first().filter(|_| command.is_some()).map_or("", |word| &word.text);
        let pairs = || rest.windows(2).map(|pair| (&*pair[0].text, &*pair[1].text));
        let value = |option: &'static str| {
            let joined =
                rest.iter().filter_map(move |word| word.text.strip_prefix(option)?.strip_prefix('='));
            pairs().filter(move |(word, _)| *word == option).map(|(_, value)| value).chain(joined)
        };
        let given = value("-c").chain(value("--config"));
        let from_variable = value("--config-env");
        let stored =
            after.windows(2).filter(|_| name == "config").map(|pair| (&*pair[0].text, &*pair[1].text));
        let mut settings = given
            .map(|setting| setting.split_once('=').unwrap_or((setting, "")))
            .chain(from_variable.map(|setting| (setting.split('=').next().unwrap_or(setting), "$")))
            .chain(stored);
        let is_alias = !name.is_empty() && !GIT_COMMANDS.contains(&name) && after[0].holes.is_empty();
        if is_alias || settings.any(|(key, value)| runs_in_git(key, value)) {
            self.doubt(DoubtKind::Alias);
        }
        let short = GIT_SHORT_TEXTS.iter().find(|(of, _)| of.contains(&name)).map(|(_, option)| *option);
        let options: Vec<&str> = GIT_TEXTS.iter().copied().chain(short).collect();
        for at in 0..after.len() {
            let pair = &after[at..after.len().min(at + 2)];
            let part = pair[0].text.split('=').next().unwrap_or_default();
            let is_part = part.len() >= SHORTEST
                && GIT_TEXTS.iter().any(|option| *option != part && option.starts_with(part));
            let shortened = || text_after(&[part], pair).filter(|text| text.text.contains(' '));
            if let Some(text) = text_after(&options, pair).or_else(|| is_part.then(shortened).flatten()) {
                self.text(&text);
            }
        }
        // Hooks are copied from it.
        if matches!(name, "clone" | "init") && after.iter().any(|word| word.text.starts_with("--template")) {
            self.doubt(DoubtKind::Later);
        }
        // A remote that is a command.
        for word in rest {
            if let Some(at) = word.text.find("ext::") {
                self.text(&word.tail(at + "ext::".len()));
            }
        }
        let run = after.iter().position(|word| matches!(&*word.text, "run" | "foreach"));
        match (name, run) {
            ("bisect" | "submodule", Some(run)) => self.text(&joined(&after[run + 1..])),
            ("for-each-repo", _) => {
                let words = after[1..].iter().filter(|word| !word.text.starts_with('-'));
                self.words(std::iter::once(&Word::known("git")).chain(words).cloned().collect());
            }
            _ => {}
        }
    }
}

/// Whether git runs the value of a setting: always, or if it is more than the name of a program.
pub(super) fn runs_in_git(key: &str, value: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let is_more = value.contains(|c: char| c == '/' || c == '!' || c == '$' || c.is_whitespace());
    value != "/dev/null"
        && !value.starts_with('-')
        && (key.starts_with("alias.")
            || key.ends_with(".hookspath")
            || is_more
                && key.contains('.')
                && (key.contains("tool.") && key.ends_with(".path")
                    || GIT_RUN_SETTINGS.iter().any(|part| key.contains(part))))
}

/// Where the command of git is, after its own options.
pub(super) fn git_command(rest: &[Word]) -> Option<usize> {
    let mut at = 0;
    while let Some(word) = rest.get(at).filter(|word| word.text.starts_with('-')) {
        at += 1 + usize::from(GIT_VALUED.contains(&word.text.as_str()));
    }
    (at < rest.len()).then_some(at)
}
