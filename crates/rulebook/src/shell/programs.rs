//! Shells, interpreters, variables and options that run a text or a program: tables for what a line runs in turn.

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

/// Folders whose files git or a tool around it runs.
pub(super) const HOOK_FOLDERS: &[&str] = &[".githooks", ".husky"];

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
    "BASH_ENV", "BROWSER", "COMPILER_PATH", "DYLD_INSERT_LIBRARIES", "EDITOR", "ENV", "EXINIT", "FZF_DEFAULT_COMMAND",
    "GCC_EXEC_PREFIX", "GIT_ASKPASS", "GIT_CONFIG", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_PARAMETERS", "GIT_CONFIG_SYSTEM",
    "GIT_EDITOR", "GIT_EXEC_PATH", "GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_PROXY_COMMAND", "GIT_SEQUENCE_EDITOR", "GIT_SSH",
    "GIT_SSH_COMMAND", "GIT_TEMPLATE_DIR", "KUBECTL_EXTERNAL_DIFF", "LD_AUDIT", "LD_PRELOAD", "LESSCLOSE", "LESSOPEN",
    "MANPAGER", "PAGER", "PERL5DB", "PROMPT_COMMAND", "PS0", "PS1", "PS2", "PS4", "PYTHONSTARTUP", "RIPGREP_CONFIG_PATH",
    "SSH_ASKPASS", "VIMINIT", "VISUAL", "ZDOTDIR", "NPM_CONFIG_SCRIPT_SHELL", "npm_config_git", "npm_config_script_shell",
    "npm_config_shell",
];

const OF_JAVA: &[&str] = &["-XX:On", "-XX:Flags", "-agent", "-javaagent"];
const OF_COMPILERS: &[&str] = &["-fplugin", "-specs", "--specs", "-wrapper"];
const OF_MAKE: &[&str] = &["--eval", "--file", "--makefile", "-f", "$", "SHELL="];
const OF_NODE: &[&str] = &["--experimental-loader", "--import", "--loader", "--require", "-r"];

/// Variables with options for a program, and those that name something to run; without a `-`, a part of the value.
pub(super) const OPTION_VARIABLES: &[(&str, &[&str])] = &[
    ("CARGO_BUILD_RUSTFLAGS", &["linker"]),
    ("CARGO_ENCODED_RUSTFLAGS", &["linker"]),
    ("CFLAGS", OF_COMPILERS),
    ("CGO_CFLAGS", OF_COMPILERS),
    ("CPPFLAGS", OF_COMPILERS),
    ("CXXFLAGS", OF_COMPILERS),
    ("FZF_DEFAULT_OPTS", &["--bind", "--preview"]),
    ("GNUMAKEFLAGS", OF_MAKE),
    ("GOFLAGS", &["--exec", "--toolexec", "--vettool", "-exec", "-toolexec", "-vettool"]),
    ("GRADLE_OPTS", OF_JAVA),
    ("JAVA_OPTS", OF_JAVA),
    ("JAVA_TOOL_OPTIONS", OF_JAVA),
    ("JDK_JAVA_OPTIONS", OF_JAVA),
    ("LESS", &["!", "|", "#"]),
    ("MAKEFLAGS", OF_MAKE),
    ("MAVEN_OPTS", OF_JAVA),
    ("NODE_OPTIONS", OF_NODE),
    ("PERL5OPT", &["-I", "-M", "-d", "-m"]),
    ("RUBYOPT", &["-I", "-r"]),
    ("RUSTDOCFLAGS", &["--runtool", "--test-runtool", "linker"]),
    ("RUSTFLAGS", &["linker"]),
    (
        "TAR_OPTIONS",
        &[
            "--checkpoint-action",
            "--info-script",
            "--new-volume-script",
            "--rmt-command",
            "--rsh-command",
            "--to-command",
            "--use-compress-program",
            "-F",
            "-I",
        ],
    ),
    ("_JAVA_OPTIONS", OF_JAVA),
    ("npm_config_node_options", OF_NODE),
];

/// Options of programs whose value names something that they run; if parts are given, only a value with one of them does.
#[rustfmt::skip]
pub(super) const RUN_OPTIONS: &[(&[&str], &[&str], &[&str])] = &[
    (&["c++", "cc", "clang", "clang++", "g++", "gcc"], OF_COMPILERS, &[]),
    (&["cargo"], &["--config"], &["alias", "credential", "linker", "runner", "rustc", "rustdoc", "wrapper"]),
    (&["go"], &["--exec", "--toolexec", "--vettool", "-exec", "-toolexec", "-vettool"], &[]),
    (&["install"], &["--strip-program"], &[]),
    (&["ld"], &["--plugin", "-plugin"], &[]),
    (&["npm", "npx", "pnpm", "yarn"], &["--script-shell"], &[]),
    (&["rustc", "rustdoc"], &["--codegen", "-C"], &["linker"]),
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
    ("ack", &["--pager"]),
    ("ag", &["--pager"]),
    ("bat", &["--pager"]),
    ("batcat", &["--pager"]),
    ("cmd", &["/c", "/k", "/C", "/K"]),
    ("entr", &["-s"]),
    ("fish", &["-C", "--command", "--init-command"]),
    ("flock", &["-c", "--command"]),
    ("man", &["-P", "--pager", "-H", "--html"]),
    ("nix-shell", &["--run", "--command"]),
    ("npm", &["-c", "--call"]),
    ("npx", &["-c", "--call"]),
    ("nu", &["-e", "--commands", "--execute"]),
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
    ("mix", &["-e", "--eval"]),
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
