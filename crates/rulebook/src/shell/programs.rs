//! Programs that start others, by name: tables for what a line runs in turn.

/// A program whose arguments are another command.
pub(super) struct Starter {
    pub(super) name: &'static str,
    /// Its short options that take a value as the next word.
    pub(super) valued: &'static str,
    /// Its long options that take a value as the next word.
    pub(super) long: &'static [&'static str],
    /// How many of its own arguments come before the command.
    pub(super) own: usize,
    /// Options with the folder in which the command runs.
    pub(super) folder: &'static [&'static str],
    /// It starts a command only after one of these words.
    pub(super) after: &'static [&'static str],
    /// Words that may come before that one, each with the number of its own arguments.
    pub(super) via: &'static [(&'static str, usize)],
}

const fn starter(name: &'static str, valued: &'static str, own: usize) -> Starter {
    Starter { name, valued, long: &[], own, folder: &[], after: &[], via: &[] }
}

/// A program that runs others of a project or a package, after one of these words.
const fn runner(name: &'static str, after: &'static [&'static str]) -> Starter {
    Starter { after, long: RUNNER_LONG, folder: RUNNER_FOLDERS, ..starter(name, "pCw", 0) }
}

const RUNNER_LONG: &[&str] = &[
    "--package",
    "--with",
    "--python",
    "--from",
    "--directory",
    "--project",
    "--prefix",
    "--cwd",
    "--dir",
    "--spec",
    "--filter",
    "--group",
    "--extra",
    "--env-file",
    "--workspace",
    "--cd",
    "--include",
    "--exclude",
    "--jobs",
];
const RUNNER_FOLDERS: &[&str] = &["-C", "--directory", "--prefix", "--cwd", "--dir", "--cd"];

/// Programs that run the rest of their words.
pub(super) const STARTERS: &[Starter] = &[
    starter("ash", "", 0),
    starter("builtin", "", 0),
    starter("busybox", "", 0),
    starter("caffeinate", "tw", 0),
    starter("chroot", "", 1),
    starter("chrt", "", 1),
    starter("command", "", 0),
    starter("doas", "uC", 0),
    Starter { long: &["--unset", "--chdir"], folder: &["-C", "--chdir"], ..starter("env", "uC", 0) },
    Starter { after: &["exec"], ..starter("direnv", "", 1) },
    starter("exec", "a", 0),
    Starter { long: &["--timeout"], ..starter("flock", "wE", 1) },
    starter("gtimeout", "ks", 1),
    Starter { long: &["--class", "--classdata", "--pid"], ..starter("ionice", "cnp", 0) },
    starter("ltrace", "aAeFlnopsuwxS", 0),
    Starter { long: &["--adjustment"], ..starter("nice", "n", 0) },
    starter("nohup", "", 0),
    starter("noglob", "", 0),
    Starter { long: &["--target"], ..starter("nsenter", "t", 0) },
    Starter {
        long: &[
            "--arg-file",
            "--colsep",
            "--delay",
            "--delimiter",
            "--env",
            "--halt",
            "--jobs",
            "--joblog",
            "--load",
            "--max-args",
            "--max-procs",
            "--memfree",
            "--results",
            "--retries",
            "--sshlogin",
            "--sshloginfile",
            "--tempdir",
            "--timeout",
            "--tmpdir",
            "--workdir",
        ],
        ..starter("parallel", "aCdIjJnNPsS", 0)
    },
    runner("bun", &["x"]),
    runner("bundle", &["exec"]),
    runner("bunx", &[]),
    runner("hatch", &["run"]),
    runner("mise", &["exec", "x"]),
    runner("npm", &["exec", "x"]),
    runner("npx", &[]),
    runner("pdm", &["run"]),
    runner("pipenv", &["run"]),
    runner("pipx", &["run"]),
    runner("pixi", &["run"]),
    runner("pnpm", &["dlx", "exec"]),
    runner("pnpx", &[]),
    runner("poetry", &["run"]),
    starter("proxychains", "f", 0),
    runner("rye", &["run"]),
    starter("runuser", "ugG", 0),
    starter("setarch", "", 1),
    starter("setsid", "", 0),
    Starter { long: &["--input", "--output", "--error"], ..starter("stdbuf", "ioe", 0) },
    Starter { long: &["--output", "--attach", "--trace"], ..starter("strace", "abEeIoOpPsSuUX", 0) },
    Starter {
        long: &[
            "--user",
            "--group",
            "--host",
            "--chdir",
            "--prompt",
            "--chroot",
            "--close-from",
            "--command-timeout",
            "--other-user",
            "--role",
            "--type",
        ],
        folder: &["-D", "--chdir"],
        ..starter("sudo", "ugpCThRDrt", 0)
    },
    Starter {
        long: &["--property", "--unit", "--uid", "--gid", "--slice", "--setenv"],
        folder: &["--working-directory"],
        ..starter("systemd-run", "puE", 0)
    },
    starter("taskset", "", 1),
    Starter { long: &["--output", "--format"], ..starter("time", "of", 0) },
    Starter { long: &["--signal", "--kill-after"], ..starter("timeout", "ks", 1) },
    starter("toybox", "", 0),
    starter("unbuffer", "", 0),
    starter("unshare", "", 0),
    runner("uv", &["run"]),
    runner("uvx", &[]),
    Starter { long: &["--interval"], ..starter("watch", "nd", 0) },
    Starter {
        long: &["--max-args", "--max-procs", "--replace", "--delimiter", "--arg-file", "--max-lines"],
        ..starter("xargs", "IdEnLPsa", 0)
    },
    Starter { via: &[("workspace", 1), ("workspaces", 1)], ..runner("yarn", &["dlx", "exec"]) },
];

/// Shells: they run a text after `-c`, a file, or their input.
pub(super) const SHELLS: &[&str] = &[
    "ash", "bash", "csh", "dash", "elvish", "fish", "ksh", "mksh", "nu", "osh", "posh", "rbash", "sh",
    "tcsh", "yash", "zsh",
];

/// Options of shells with a file that they run first.
pub(super) const STARTUP_OPTIONS: &[&str] = &["--rcfile", "--init-file"];

/// Files that shells, git and others run or read commands from without anyone naming them.
pub(super) const STARTUP_FILES: &[&str] = &[
    ".bash_aliases",
    ".bash_login",
    ".bash_logout",
    ".bash_profile",
    ".bashrc",
    ".envrc",
    ".gitconfig",
    ".profile",
    ".zlogin",
    ".zprofile",
    ".zshenv",
    ".zshrc",
];

/// Extensions of scripts for shells.
pub(super) const SCRIPTS: &[&str] = &["bash", "bat", "cmd", "fish", "ksh", "ps1", "sh", "zsh"];

/// Programs that set variables for others.
pub(super) const SETTERS: &[&str] =
    &["declare", "doas", "env", "export", "local", "readonly", "setenv", "sudo", "typeset"];

/// Commands of the shell that evaluate arithmetic in their words: a subscript may contain a substitution.
#[rustfmt::skip]
pub(super) const EVALUATORS: &[&str] = &[
    "[", "declare", "export", "getopts", "let", "local", "mapfile", "printf", "read", "readarray", "readonly", "test", "typeset",
    "unset", "wait",
];

/// Variables whose value is run.
#[rustfmt::skip]
pub(super) const RUN_VARIABLES: &[&str] = &[
    "BASH_ENV", "BROWSER", "DYLD_INSERT_LIBRARIES", "EDITOR", "ENV", "GIT_ASKPASS", "GIT_CONFIG", "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_SYSTEM", "GIT_EDITOR", "GIT_EXEC_PATH", "GIT_EXTERNAL_DIFF", "GIT_PAGER",
    "GIT_PROXY_COMMAND", "GIT_SEQUENCE_EDITOR", "GIT_SSH", "GIT_SSH_COMMAND", "LD_PRELOAD", "LESSOPEN", "MANPAGER",
    "NODE_OPTIONS", "PAGER", "PERL5OPT", "PROMPT_COMMAND", "PS0", "PS1", "PS2", "PS4", "PYTHONSTARTUP", "RUBYOPT",
    "SSH_ASKPASS", "VISUAL", "ZDOTDIR",
];

/// Variables whose value is run where it has arguments, or a folder: a compiler, a tool of a build. The value is read as a command.
#[rustfmt::skip]
pub(super) const TOOL_VARIABLES: &[&str] = &[
    "AR", "AS", "CC", "CPP", "CVS_RSH", "CXX", "FCEDIT", "HGEDITOR", "LD", "MAKE", "RUSTC", "RUSTDOC", "SHELL", "SVN_SSH",
];
/// How the names of others end: `RUSTC_WRAPPER`, `CARGO_TARGET_X_RUNNER`.
pub(super) const TOOL_ENDS: &[&str] =
    &["_ASKPASS", "_BROWSER", "_EDITOR", "_LAUNCHER", "_LINKER", "_PAGER", "_RSH", "_RUNNER", "_WRAPPER"];

/// Variables of shells whose elements are aliases, functions, or the files of commands.
#[rustfmt::skip]
pub(super) const ALIAS_VARIABLES: &[&str] = &[
    "BASH_ALIASES", "BASH_CMDS", "aliases", "commands", "dis_aliases", "dis_functions", "functions", "galiases", "saliases",
];

/// Options of containers with the name of a program whose arguments come later.
pub(super) const ENTRY_POINTS: &[&str] = &["--entrypoint"];

/// Programs that run a text for a shell, after one of these options.
pub(super) const TEXT_AFTER: &[(&str, &[&str])] = &[
    ("ag", &["--pager"]),
    ("bat", &["--pager"]),
    ("cmd", &["/c", "/k", "/C", "/K"]),
    ("entr", &["-s"]),
    ("flock", &["-c", "--command"]),
    ("man", &["-P", "--pager", "-H", "--html"]),
    ("nix-shell", &["--run", "--command"]),
    ("npm", &["-c", "--call"]),
    ("npx", &["-c", "--call"]),
    ("powershell", &["-command", "-c", "-Command", "-C"]),
    ("pwsh", &["-command", "-c", "-Command", "-C"]),
    ("rg", &["--pre", "--hostname-bin"]),
    ("runuser", &["-c", "--command"]),
    ("script", &["-c", "--command"]),
    ("su", &["-c", "--command"]),
    ("tmux", &["new-session", "new", "send-keys"]),
];

/// Interpreters with the options after which code of another language follows.
pub(super) const INTERPRETERS: &[(&str, &[&str])] = &[
    ("awk", &[]),
    ("babel-node", &["-e", "--eval", "-p"]),
    ("bun", &["-e", "--eval", "-p", "--print"]),
    ("clisp", &["-x"]),
    ("clojure", &["-e", "--eval"]),
    ("coffee", &["-e", "--eval"]),
    ("crystal", &["eval"]),
    ("csi", &["-e"]),
    ("deno", &["eval"]),
    ("ed", &[]),
    ("elixir", &["-e", "--eval", "--rpc-eval"]),
    ("emacs", &["--eval", "--batch"]),
    ("erl", &["-eval", "-run", "-s"]),
    ("ex", &[]),
    ("fennel", &["-e"]),
    ("gawk", &[]),
    ("gdb", &["-ex", "-batch"]),
    ("ghc", &["-e"]),
    ("groovy", &["-e"]),
    ("guile", &["-c"]),
    ("iex", &["-e", "--eval"]),
    ("ipython", &["-c"]),
    ("janet", &["-e"]),
    ("jruby", &["-e", "-ne", "-pe"]),
    ("jshell", &[]),
    ("julia", &["-e", "-E", "--eval", "--print"]),
    ("kotlin", &["-e"]),
    ("lua", &["-e"]),
    ("luajit", &["-e"]),
    ("m4", &[]),
    ("mawk", &[]),
    ("micropython", &["-c"]),
    ("nawk", &[]),
    ("node", &["-e", "--eval", "-p", "--print", "-pe"]),
    ("nodejs", &["-e", "--eval", "-p", "--print", "-pe"]),
    ("nvim", &["-c", "-es", "-Es", "+"]),
    ("ocaml", &["-e"]),
    ("octave", &["--eval"]),
    ("osascript", &["-e"]),
    ("perl", &["-e", "-E", "-ne", "-pe", "-i", "-pi", "-0pe", "-0777"]),
    ("php", &["-r", "-B", "-R", "-E"]),
    ("powershell", &["-encodedcommand", "-enc", "-e", "-EncodedCommand"]),
    ("pwsh", &["-encodedcommand", "-enc", "-e", "-EncodedCommand"]),
    ("pypy", &["-c"]),
    ("python", &["-c"]),
    ("r", &["-e"]),
    ("racket", &["-e"]),
    ("raku", &["-e", "-ne", "-pe"]),
    ("rscript", &["-e"]),
    ("ruby", &["-e", "-ne", "-pe"]),
    ("sbcl", &["--eval"]),
    ("scala", &["-e"]),
    ("swift", &["-e"]),
    ("tclsh", &[]),
    ("ts-node", &["-e", "--eval", "-p", "-pe"]),
    ("tsx", &["-e", "--eval", "-p", "--print"]),
    ("uv", &["-"]),
    ("vi", &["-c", "-es", "+"]),
    ("vim", &["-c", "-es", "-Es", "+"]),
    ("zx", &["--eval", "-e"]),
];
