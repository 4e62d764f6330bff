//! What programs do with the files that they name: the one table for evidence, requirements, the guard and written texts.

use super::command::{Word, joined};

/// What a program does with its files.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    Reads,
    /// It writes all of them, the first or, of several, the last.
    Writes,
    First,
    Last,
    /// It writes those after `--`. Without it, the first may be a branch or a commit instead.
    Restores,
    /// An editor: it may write them.
    Opens,
    /// A database: it writes the first, unless the word after it only asks something.
    Queries,
    /// It makes folders.
    Creates,
    /// It replaces each with the file that is packed in it, or packs it.
    Packs,
    /// `find`: it removes what is below them.
    Deletes,
}

/// What else is known of a program.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Note {
    /// It may run some of its words, or what it reads.
    Runs,
    /// It prints or compares its words, which need not be files.
    Prints,
    /// It changes only the form of the files below a folder.
    Formats,
    /// It removes or moves whole folders.
    Removes,
    /// It changes a folder, and not the files below it.
    Shallow,
    /// It may write other files that it names.
    Loose,
    /// What the files contain is in another file afterwards.
    Moves,
}

/// A program, or a command of git.
pub(super) struct Program {
    pub(super) names: &'static [&'static str],
    pub(super) effect: Effect,
    /// How many words come before its files: a script, a mode.
    pub(super) own: usize,
    /// It has the effect only with one of these options or words.
    pub(super) with: &'static [&'static str],
    /// It writes nothing with one of these, unless one of the others is given too.
    pub(super) unless: &'static [&'static str],
    pub(super) despite: &'static [&'static str],
    /// Options with which it makes links to its files, through which they can be written.
    pub(super) links: &'static [&'static str],
    /// Options with a file or folder that it writes.
    pub(super) outputs: &'static [&'static str],
    /// Options with a word that is none of its files. Then nothing else comes before its files.
    pub(super) valued: &'static [&'static str],
    /// Its options of one letter without a value: others may follow in the same word.
    pub(super) flags: &'static str,
    /// The characters of words such as `-x` that are no options: one of them comes before its files in place of another word.
    pub(super) signed: &'static str,
    pub(super) notes: &'static [Note],
}

const fn row(names: &'static [&'static str], effect: Effect) -> Program {
    Program {
        names,
        effect,
        own: 0,
        with: &[],
        unless: &[],
        despite: &[],
        links: &[],
        outputs: &[],
        valued: &[],
        flags: "",
        signed: "",
        notes: &[],
    }
}

/// A formatter that needs one of these options.
const fn formatter(names: &'static [&'static str], with: &'static [&'static str]) -> Program {
    Program { with, unless: DRY, notes: &[Note::Formats], ..row(names, Effect::Writes) }
}

/// A formatter with commands.
const fn formatter_command(names: &'static [&'static str], with: &'static [&'static str]) -> Program {
    Program { own: 1, ..formatter(names, with) }
}

const DRY: &[&str] = &[
    "--check",
    "--check-formatted",
    "--check-only",
    "--diff",
    "--dry-run",
    "--dryrun",
    "--lint",
    "--list-different",
    "-check",
];
const TARGET: &[&str] = &["-t", "--target-directory"];

/// Options with the file that a program writes, for programs that are not in the table.
pub(super) const OUTPUTS: &[&str] = &["-o", "-out", "--out", "--outfile", "--output", "--output-file"];

#[rustfmt::skip]
pub(super) const PROGRAMS: &[Program] = &[
    row(&[
        "ack", "ag", "apropos", "basename", "bat", "batcat", "cal", "cat", "cd", "cksum", "cmp", "column", "comm", "cut", "df",
        "cowsay", "diff", "dirname", "du", "egrep", "eza", "fgrep", "file", "fold", "free", "git", "grep", "head", "hexdump", "id",
        "jest", "jq", "logger", "ls", "lsd", "lsof", "man", "md5sum", "mocha", "more", "mypy", "nl", "notify-send", "od", "paste", "pgrep", "popd",
        "ps", "pushd", "pwd", "pytest", "py.test", "readlink", "realpath", "rev", "rg", "rulebook", "say", "sha1sum", "sha256sum",
        "sha512sum", "shasum", "stat", "strings", "sum", "tac", "tail", "tldr", "tokei", "tr", "tsc", "type", "uname",
        "vitest", "wc", "whatis", "whereis", "which", "zcat", "zgrep",
    ], Effect::Reads),
    Program { notes: &[Note::Prints], ..row(&[
        "[", "[[", ":", "alias", "date", "declare", "echo", "exit", "export", "expr", "false", "local", "printf", "read",
        "readonly", "return", "seq", "set", "shift", "sleep", "test", "true", "typeset", "unset", "wait",
    ], Effect::Reads) },
    Program { with: &["clone"], outputs: &["-D", "--dir", "-O", "--output"], ..row(&["gh"], Effect::Last) },
    Program { outputs: &["-o", "--output"], flags: TRACE_FLAGS, notes: &[Note::Runs], ..row(&["ltrace", "strace", "time"], Effect::Reads) },
    Program { notes: &[Note::Runs, Note::Loose], ..row(&["kubectl", "ssh"], Effect::Reads) },
    Program { notes: &[Note::Runs, Note::Loose], ..row(&["sftp"], Effect::Reads) },
    Program { outputs: &["-o", "--output"], ..row(&["http", "tree"], Effect::Reads) },
    Program { outputs: &["-O", "-o", "--LOG-FILE", "--log-file"], ..row(&["less"], Effect::Reads) },
    Program { notes: &[Note::Moves], ..row(&[
        "copy-item", "dos2unix", "mac2dos", "mcp", "mln", "mmv", "ren", "rename", "unix2dos", "unix2mac",
    ], Effect::Writes) },
    row(&[
        "add-content", "chattr", "del", "mkfifo", "out-file", "set-content", "shred", "sponge", "tee", "truncate", "unlink",
    ], Effect::Writes),
    Program {
        unless: &["-C", "--check", "--dry-run"], outputs: &["-d", "--directory", "-o", "--output", "-r", "--reject-file"],
        valued: &["-B", "-D", "-F", "-g", "-i", "-p", "-V", "-Y", "-z", "--fuzz", "--input", "--prefix", "--strip", "--suffix"],
        flags: "bcEeflNnRstTuvZ", ..row(&["patch"], Effect::First)
    },
    Program { notes: &[Note::Runs], ..row(&["mount"], Effect::Writes) },
    Program {
        unless: &["-readonly", "--readonly"], valued: &["-cmd", "-init", "-newline", "-nullvalue", "-separator"],
        notes: &[Note::Runs], ..row(&["sqlite3"], Effect::Queries)
    },
    Program {
        valued: &["-A", "-d", "-r", "-t", "--date", "--reference"], flags: "acfhm", notes: &[Note::Shallow],
        ..row(&["touch"], Effect::Writes)
    },
    Program {
        own: 1, valued: &["--from", "--reference"], signed: "rwxXstugo,+-=", notes: &[Note::Shallow],
        ..row(&["chmod"], Effect::Writes)
    },
    Program {
        own: 1, valued: &["--reference"], notes: &[Note::Shallow], ..row(&["chgrp", "chown"], Effect::Writes)
    },
    Program { own: 1, valued: &["-m", "-x", "-M", "-X"], ..row(&["setfacl"], Effect::Writes) },
    Program { own: 1, ..row(&["uniq"], Effect::Writes) },
    Program { own: 1, notes: &[Note::Moves], ..row(&["file-rename", "prename"], Effect::Writes) },
    Program { own: 2, ..row(&["rpl", "sd"], Effect::Writes) },
    row(&["mkdir"], Effect::Creates),
    Program {
        unless: &["-c", "-l", "-t", "--list", "--stdout", "--test", "--to-stdout"], outputs: &["-o"],
        valued: &["-b", "-D", "-F", "-M", "-S", "-T", "--suffix", "--threads"], flags: "0123456789adfhkLnNqrsvVz", notes: &[Note::Moves],
        ..row(&[
            "bunzip2", "bzip2", "gunzip", "gzip", "lz4", "lzma", "uncompress", "unlzma", "unxz", "unzstd", "xz", "zstd",
        ], Effect::Packs)
    },
    Program { notes: &[Note::Moves, Note::Removes], ..row(&["move-item"], Effect::Writes) },
    Program { notes: &[Note::Removes], ..row(&["remove-item", "rm", "rmdir", "trash"], Effect::Writes) },
    Program { outputs: TARGET, notes: &[Note::Moves, Note::Removes], ..row(&["mv"], Effect::Writes) },
    Program { outputs: TARGET, flags: "bdfFiLnPrsTv", ..row(&["ln"], Effect::Writes) },
    Program {
        outputs: TARGET, links: &["-l", "-s", "--link", "--symbolic-link"], flags: "abdfHiLlnPpRrsTuvxZ",
        ..row(&["cp"], Effect::Last)
    },
    Program { outputs: TARGET, ..row(&["install"], Effect::Last) },
    Program { notes: &[Note::Runs], ..row(&["rsync", "scp", "split"], Effect::Last) },
    Program { notes: &[Note::Runs], ..row(&["script"], Effect::Writes) },
    row(&["xxd"], Effect::Last),
    Program { outputs: &["-f", "--prefix"], ..row(&["csplit"], Effect::Reads) },
    Program {
        outputs: &["-D", "--dump-header", "-c", "--cookie-jar", "-o", "--output", "--output-dir"], flags: CURL_FLAGS,
        notes: &[Note::Loose], ..row(&["curl"], Effect::Reads)
    },
    Program {
        outputs: &["-O", "--output-document", "-P", "--directory-prefix", "-a", "-o", "--output-file"], flags: "bcdFhHkKLmNnprSqvV46x",
        notes: &[Note::Runs, Note::Loose], ..row(&["wget"], Effect::Reads)
    },
    Program { outputs: &["-o"], ..row(&["c++", "cc", "clang", "clang++", "g++", "gcc", "ld", "rustc", "tcc"], Effect::Reads) },
    Program { outputs: &["of"], ..row(&["dd"], Effect::Reads) },
    Program { outputs: &["-o", "--output"], flags: "bcCdfgimMnrRsuVz", notes: &[Note::Runs], ..row(&["sort"], Effect::Reads) },
    Program {
        outputs: &["-C", "--directory"], with: &["--remove-files"], flags: "cxtvzjJpkP", notes: &[Note::Runs],
        ..row(&["tar"], Effect::Writes)
    },
    Program { outputs: &["-d"], ..row(&["unzip"], Effect::Reads) },
    Program {
        outputs: &["-fls", "-fprint", "-fprint0", "-fprintf"], notes: &[Note::Removes], ..row(&["find"], Effect::Deletes)
    },
    Program { own: 1, with: &["-i", "--in-place"], valued: SCRIPTS, flags: "nErsuz", ..row(&["gsed", "sed"], Effect::Writes) },
    Program { own: 1, with: &["-i"], valued: &["-e", "-E"], flags: "0acnplsStTuUwWX", ..row(&["jruby", "perl", "ruby"], Effect::Writes) },
    Program { own: 1, with: &["inplace"], valued: &["-f"], ..row(&["awk", "gawk", "mawk", "nawk"], Effect::Writes) },
    Program { own: 1, with: &["-i", "--inplace"], notes: &[Note::Runs], ..row(&["yq"], Effect::Writes) },
    Program { notes: &[Note::Runs], ..row(&[
        "atom", "code", "code-insiders", "cursor", "emacs", "emacsclient", "gedit", "gvim", "helix", "hx", "idea", "joe", "kak",
        "kate", "mcedit", "micro", "nano", "ne", "notepad", "nvim", "open", "pico", "subl", "vi", "view", "vim", "windsurf", "xdg-open",
        "zed",
    ], Effect::Opens) },
    formatter(&["alejandra", "black", "isort", "nixfmt", "pyupgrade", "rustfmt", "standardrb", "stylua", "swiftformat"], &[]),
    formatter(&["autoflake", "autopep8", "yapf"], &["-i", "--in-place"]),
    formatter(&["prettier"], &["--write", "-w"]),
    formatter(&["eslint", "markdownlint", "markdownlint-cli2", "oxlint", "standard", "stylelint", "tslint", "xo"], &["--fix"]),
    formatter(&["gofmt", "gofumpt", "goimports", "shfmt", "codespell"], &["-w", "--write", "--write-changes"]),
    formatter(&["clang-format", "google-java-format", "fourmolu", "ormolu"], &["-i", "--in-place", "--replace"]),
    formatter(&["rubocop"], &["-a", "-A", "--auto-correct", "--autocorrect", "--fix-layout", "-x"]),
    formatter(&["ktlint"], &["-F", "--format"]),
    formatter_command(&["ruff"], &["format", "--fix", "--fix-only"]),
    formatter_command(&["biome"], &["--write", "--fix", "--apply", "--apply-unsafe", "migrate"]),
    formatter_command(&["buf", "dart", "deno", "dprint", "php-cs-fixer", "sqlfluff", "taplo", "terraform", "tofu"], &["fmt", "format", "fix"]),
    Program { notes: &[Note::Formats, Note::Runs], ..formatter_command(&["mix"], &["format"]) },
    formatter(&["ast-grep"], &["-U", "--update-all"]),
];

const TRACE_FLAGS: &str = "apqvVcCdfFhiknrtTwxyYzZ";
const CURL_FLAGS: &str = "#46fgiIJkLnNORsSv";
const SCRIPTS: &[&str] = &["-e", "-f", "--expression", "--file"];

/// The commands of git that write files other than through a revision, some with the word after them.
#[rustfmt::skip]
pub(super) const GIT: &[Program] = &[
    Program { unless: &["--check", "--stat", "--numstat", "--summary"], outputs: &["--directory"], ..row(&["apply"], Effect::Writes) },
    Program {
        unless: &["-B", "-b", "--orphan"], flags: "dflmqt", notes: &[Note::Removes],
        ..row(&["checkout"], Effect::Restores)
    },
    Program { notes: &[Note::Removes], ..row(&["clean"], Effect::Writes) },
    Program { unless: &["-n", "--dry-run"], flags: "fkv", notes: &[Note::Moves, Note::Removes], ..row(&["mv"], Effect::Writes) },
    Program { unless: &["--cached", "-n", "--dry-run"], flags: "fqr", notes: &[Note::Removes], ..row(&["rm"], Effect::Writes) },
    Program {
        unless: &["-S", "--staged"], despite: &["-W", "--worktree"], valued: &["-s", "--source"], flags: "mpqSW",
        notes: &[Note::Removes],
        ..row(&["restore"], Effect::Writes)
    },
    Program { outputs: &["--prefix"], ..row(&["checkout-index"], Effect::Writes) },
    row(&["stash branch", "worktree list", "worktree lock", "worktree prune", "worktree repair", "worktree unlock"], Effect::Reads),
    Program {
        valued: &["-B", "-b", "--reason"], flags: "dfq", ..row(&["worktree add"], Effect::First)
    },
    row(&["clone", "init", "lfs", "mergetool", "sparse-checkout", "stash", "submodule", "update-index", "worktree"], Effect::Writes),
    Program { outputs: &["-P", "--prefix"], ..row(&["subtree"], Effect::Writes) },
    Program { unless: &["-p", "--stdout"], ..row(&["merge-file"], Effect::First) },
    Program { own: 1, with: &["create"], ..row(&["bundle"], Effect::First) },
    Program { with: &["--in-place"], ..row(&["interpret-trailers"], Effect::Writes) },
    Program { outputs: &["-o", "--output", "--output-directory"], flags: "knNqsv", ..row(&["archive", "format-patch", "mailsplit"], Effect::Reads) },
    Program {
        outputs: &["-f", "--file"], unless: &["--get", "--get-all", "--get-regexp", "--get-urlmatch", "-l", "--list", "get", "list"],
        ..row(&["config"], Effect::Reads)
    },
    Program { outputs: &["--file"], ..row(&["credential-store"], Effect::Reads) },
    Program { outputs: &["--export-marks"], ..row(&["fast-export", "fast-import"], Effect::Reads) },
    Program { outputs: &["--output"], ..row(&["diff", "diff-files", "diff-index", "diff-tree", "log", "range-diff", "reflog", "show", "whatchanged"], Effect::Reads) },
];

impl Program {
    pub(super) fn of(name: &str) -> Option<&'static Program> {
        PROGRAMS.iter().find(|program| program.names.contains(&name))
    }

    /// A command of git by its words, and how many of them are its name.
    pub(super) fn of_git(words: &[Word]) -> Option<(&'static Program, usize)> {
        let named = |count: usize| {
            let name = joined(words.get(..count)?).text;
            Some((GIT.iter().find(|program| program.names.contains(&name.as_str()))?, count))
        };
        named(2).or_else(|| named(1))
    }

    pub(super) fn is(&self, note: Note) -> bool {
        self.notes.contains(&note)
    }
}

/// How a word gives one of some options.
pub(super) enum Given {
    /// Its value, if it takes one, is the next word.
    Alone,
    /// Its value starts here: `--output=x`, `-ox`, `-sLox`.
    Joined(usize),
}

/// Whether a word gives one of these options, and where the value is.
pub(super) fn given(word: &str, options: &[&str], flags: &str) -> Option<Given> {
    let whole = options.iter().find_map(|option| match word.strip_prefix(option)?.chars().next() {
        None => Some(Given::Alone),
        Some('=') => Some(Given::Joined(option.len() + 1)),
        Some(_) => None,
    });
    let joined = |option: &&str| {
        let letter = option.strip_prefix('-').filter(|letter| letter.len() == 1)?;
        let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'))?;
        let at = letters.find(letter)?;
        let is_value = at + 2 < word.len();
        let before = &letters[..at];
        // The letters of a program that is not known well may all be flags, if they are few.
        let are_flags = before.chars().all(|c| flags.contains(c))
            || !is_value && letters.len() < 8 && before.bytes().all(|byte| byte.is_ascii_alphabetic());
        are_flags.then(|| if is_value { Given::Joined(at + 2) } else { Given::Alone })
    };
    whole.or_else(|| options.iter().find_map(joined))
}
