//! Programs that run the rest of their words, by name, with the options before these.

use super::options::Options;

/// A program whose arguments are another command.
pub(super) struct Starter {
    pub(super) name: &'static str,
    pub(super) options: Options,
    /// Whether a word before its options is its own: `setarch x86_64 -R ls`.
    pub(super) leads: bool,
    /// How many of its own arguments come before the command.
    pub(super) own: usize,
    /// Options with the folder in which the command runs.
    pub(super) folder: &'static [&'static str],
    /// It starts a command only after one of these words.
    pub(super) after: &'static [&'static str],
    /// Words that may come before that one, each with the number of its own arguments.
    pub(super) via: &'static [(&'static str, usize)],
    /// Whether the command follows `--`, if that is given.
    pub(super) dashes: bool,
}

/// A program with its letters that take a value, and those that take none.
const fn starter(name: &'static str, valued: &'static str, flags: &'static str) -> Starter {
    let options = Options { flags, ..Options::new(valued) };
    Starter { name, options, leads: false, own: 0, folder: &[], after: &[], via: &[], dashes: false }
}

impl Starter {
    const fn own(self, own: usize) -> Starter {
        Starter { own, ..self }
    }

    const fn leads(self) -> Starter {
        Starter { leads: true, ..self }
    }

    /// Letters that take only the rest of their word.
    const fn attached(self, attached: &'static str) -> Starter {
        Starter { options: Options { attached, ..self.options }, ..self }
    }

    const fn long(self, long: &'static [&'static str]) -> Starter {
        Starter { options: Options { long, ..self.options }, ..self }
    }

    const fn folder(self, folder: &'static [&'static str]) -> Starter {
        Starter { folder, ..self }
    }
}

/// A program that runs others of a project or a package, after one of these words.
const fn runner(name: &'static str, after: &'static [&'static str]) -> Starter {
    Starter { after, ..starter(name, "pCw", "qsvy").long(RUNNER_LONG).folder(RUNNER_FOLDERS) }
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
/// The letters of `setarch`, under all of its names.
const ARCHITECTURE: &str = "3BFhILRSTvXZ";

/// Programs that run the rest of their words.
pub(super) const STARTERS: &[Starter] = &[
    starter("builtin", "", ""),
    starter("busybox", "", ""),
    starter("caffeinate", "tw", "dimsu"),
    starter("chroot", "gGu", "").own(1),
    starter("chrt", "DPT", "abdefhimoprvV").own(1).long(&[
        "--sched-deadline",
        "--sched-period",
        "--sched-runtime",
    ]),
    starter("command", "", "pvV"),
    starter("doas", "aCu", "Lns"),
    starter("env", "aCLPSuU", "0iv")
        .long(&["--argv0", "--chdir", "--split-string", "--unset"])
        .folder(&["-C", "--chdir"]),
    Starter { after: &["exec"], ..starter("direnv", "", "").own(1) },
    starter("exec", "a", "cl"),
    starter("flock", "cEw", "eFnosuvx").own(1).long(&["--command", "--conflict-exit-code", "--timeout"]),
    starter("gtimeout", "ks", "fpv").own(1).long(&["--kill-after", "--signal"]),
    starter("i386", "", ARCHITECTURE),
    starter("ionice", "cnpPu", "t").long(&["--class", "--classdata", "--pid"]),
    starter("linux32", "", ARCHITECTURE),
    starter("linux64", "", ARCHITECTURE),
    starter("ltrace", "aADeFlnopsuwx", "bcCdfhiLrStTV"),
    starter("nice", "n", "0123456789").long(&["--adjustment"]),
    starter("nohup", "", ""),
    starter("noglob", "", ""),
    starter("nsenter", "GSt", "aceFZ").attached("CimnprTuUwW").long(&["--setgid", "--setuid", "--target"]),
    starter("parallel", "aCdEIjJLnNPsSUW", "0hkmopqrtuvVxX").attached("eil").long(&[
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
    ]),
    runner("bun", &["x"]),
    runner("bundle", &["exec"]),
    runner("bunx", &[]),
    runner("hatch", &["run"]),
    Starter { dashes: true, ..runner("mise", &["exec", "x"]) },
    runner("npm", &["exec", "x"]),
    runner("npx", &[]),
    runner("pdm", &["run"]),
    runner("pipenv", &["run"]),
    runner("pipx", &["run"]),
    runner("pixi", &["run"]),
    runner("pnpm", &["dlx", "exec"]),
    runner("pnpx", &[]),
    runner("poetry", &["run"]),
    starter("proxychains", "f", "q"),
    starter("proxychains4", "f", "q"),
    Starter { dashes: true, ..runner("rulebook", &["acp", "proxy"]) },
    runner("rye", &["run"]),
    starter("runuser", "cgGsuw", "flmpPT").long(&[
        "--command",
        "--group",
        "--shell",
        "--supp-group",
        "--user",
    ]),
    starter("setarch", "", ARCHITECTURE).leads(),
    starter("setsid", "", "cfw"),
    starter("stdbuf", "ioe", "").long(&["--input", "--output", "--error"]),
    starter("strace", "abEeIoOpPsSuUX", "AcCdDfFhiknNqrtTvVwxyYzZ")
        .long(&["--output", "--attach", "--trace"]),
    starter("sudo", "acCDghprRtTuU", "ABbEeHiKklNnPSsVv")
        .long(&[
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
        ])
        .folder(&["-D", "--chdir"]),
    starter("systemd-run", "EHMpu", "dGPqrSt")
        .long(&["--gid", "--host", "--machine", "--property", "--setenv", "--slice", "--uid", "--unit"])
        .folder(&["--working-directory"]),
    starter("taskset", "", "acp").own(1),
    starter("time", "fo", "ahlpqv").long(&["--output", "--format"]),
    starter("timeout", "ks", "fpv").own(1).long(&["--signal", "--kill-after"]),
    starter("toybox", "", ""),
    starter("uname26", "", ARCHITECTURE),
    starter("unbuffer", "", "p"),
    starter("unshare", "GRSw", "cfr").attached("CimnpTuU"),
    runner("uv", &["run"]),
    runner("uvx", &[]),
    starter("watch", "nqs", "bceghprtvwx").long(&["--interval"]),
    starter("x86_64", "", ARCHITECTURE),
    starter("xargs", "adEIJLnPRsS", "0oprtx").attached("eil").long(&[
        "--arg-file",
        "--delimiter",
        "--max-args",
        "--max-chars",
        "--max-procs",
        "--process-slot-var",
    ]),
    Starter { via: &[("workspace", 1), ("workspaces", 1)], ..runner("yarn", &["dlx", "exec"]) },
];

/// Whether a program runs others, and has no files of its own.
pub(super) fn starts_others(name: &str) -> bool {
    STARTERS.iter().any(|starter| starter.name == name && starter.after.is_empty())
}
