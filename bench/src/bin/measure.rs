//! Measures whole processes: `measure RULEBOOK NODE BENCH WORK ROUNDS`.
//!
//! Every round runs each command once, so that other load on the machine affects all of them. The environment is empty
//! except for an empty `HOME`; standard output goes to `/dev/null`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rulebook_bench::sample::{Sample, ms};

/// One command in one workspace.
struct Case {
    name: &'static str,
    folder: &'static str,
    program: PathBuf,
    args: Vec<String>,
    /// The number of rounds between two runs.
    every: usize,
    /// The ledger of a hook, which is restored before each run. The event is on standard input.
    session: Option<&'static str>,
}

/// The goal of a ratio.
enum Goal {
    AtMost(f64),
    AtLeast(f64),
}

/// A ratio of sums of cases (command and workspace), with its goal.
struct Claim {
    what: &'static str,
    of: &'static [(&'static str, &'static str)],
    to: &'static [(&'static str, &'static str)],
    goal: Goal,
}

const CLAIMS: &[Claim] = &[
    Claim {
        what: "500 rules: rulebook / cat",
        of: &[("rulebook", "500")],
        to: &[("cat", "500")],
        goal: Goal::AtMost(1.5),
    },
    Claim {
        what: "50 rules: rulebook / (nothing + cat)",
        of: &[("rulebook", "50")],
        to: &[("nothing", "50"), ("cat", "50")],
        goal: Goal::AtMost(1.5),
    },
    Claim {
        what: "500 rules: peer / rulebook",
        of: &[("peer", "500")],
        to: &[("rulebook", "500")],
        goal: Goal::AtLeast(20.0),
    },
    Claim {
        what: "500 rules: peer-sync / rulebook",
        of: &[("peer-sync", "500")],
        to: &[("rulebook", "500")],
        goal: Goal::AtLeast(10.0),
    },
    Claim {
        what: "50 rules: peer / rulebook",
        of: &[("peer", "50")],
        to: &[("rulebook", "50")],
        goal: Goal::AtLeast(20.0),
    },
    Claim {
        what: "50 rules: peer-sync / rulebook",
        of: &[("peer-sync", "50")],
        to: &[("rulebook", "50")],
        goal: Goal::AtLeast(10.0),
    },
    Claim {
        what: "500 rules: hook / (nothing + cat)",
        of: &[("hook", "500")],
        to: &[("nothing", "500"), ("hook-cat", "500")],
        goal: Goal::AtMost(1.1),
    },
    Claim {
        what: "a Kiro file, 20,000 files: hook / (nothing + cat)",
        of: &[("hook", "kiro")],
        to: &[("nothing", "500"), ("hook-cat", "kiro")],
        goal: Goal::AtMost(1.1),
    },
    Claim {
        what: "500 rules: hook-peer / hook",
        of: &[("hook-peer", "500")],
        to: &[("hook", "500")],
        goal: Goal::AtLeast(20.0),
    },
    Claim {
        what: "500 rules: hook-peer-sync / hook",
        of: &[("hook-peer-sync", "500")],
        to: &[("hook", "500")],
        goal: Goal::AtLeast(10.0),
    },
    Claim {
        what: "500 rules: 100,000 files / few files",
        of: &[("rulebook", "large")],
        to: &[("rulebook", "500")],
        goal: Goal::AtMost(1.1),
    },
];

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [rulebook, node, bench, work, rounds] = args.as_slice() else {
        panic!("measure RULEBOOK NODE BENCH WORK ROUNDS")
    };
    let work = Path::new(work);
    let rounds: usize = rounds.parse().expect("rounds is a number");
    let cases = cases(rulebook, node, Path::new(bench), work);
    let mut samples = vec![Sample::default(); cases.len()];
    for round in 0..=rounds {
        for (case, sample) in cases.iter().zip(&mut samples) {
            if round % case.every == 0 {
                let took = run(case, work);
                // The first round only warms the caches.
                if round > 0 || rounds == 0 {
                    sample.push(took);
                }
            }
        }
    }
    report(&cases, &samples);
}

fn cases(rulebook: &str, node: &str, bench: &Path, work: &Path) -> Vec<Case> {
    let nothing = std::env::current_exe().expect("the program has a path").with_file_name("nothing");
    let mut cases = Vec::new();
    for folder in ["50", "500", "large"] {
        let mut add = |name, program: &Path, args, every| {
            cases.push(Case { name, folder, program: program.to_owned(), args, every, session: None });
        };
        let list = fs::read_to_string(work.join(folder).join("files.txt")).expect("the corpus is written");
        let prompt = ["prompt", "--json", "--evidence", "evidence.json"].map(str::to_owned);
        add("nothing", &nothing, Vec::new(), 1);
        add("cat", &find("cat"), list.lines().map(str::to_owned).collect(), 1);
        add("rulebook", Path::new(rulebook), prompt.to_vec(), 1);
        for (name, script) in [("peer", "peer.mjs"), ("peer-sync", "peer-sync.mjs")] {
            let script = bench.join(script).display().to_string();
            if folder != "large" && !node.is_empty() {
                add(name, Path::new(node), vec![script, "evidence.json".to_owned()], 5);
            }
        }
    }
    cases.extend(hooks(rulebook, node, bench, work));
    cases
}

/// Hooks in the middle of a session, `cat` of their files, and one of them as a script.
fn hooks(rulebook: &str, node: &str, bench: &Path, work: &Path) -> Vec<Case> {
    let case = |name, folder, program: &Path, args: Vec<String>, every, session| Case {
        name,
        folder,
        program: program.to_owned(),
        args,
        every,
        session,
    };
    let mut cases = Vec::new();
    for (folder, ledger) in LEDGERS {
        let list = fs::read_to_string(work.join(folder).join("files.txt")).expect("the corpus is written");
        let mut read: Vec<String> = list.lines().map(str::to_owned).collect();
        read.push("ledger.jsonl".to_owned());
        let words = ["hook", "claude"].map(str::to_owned).to_vec();
        cases.push(case("hook-cat", folder, &find("cat"), read, 1, None));
        cases.push(case("hook", folder, Path::new(rulebook), words, 1, Some(ledger)));
    }
    if !node.is_empty() {
        let script = bench.join("hook-peer.mjs").display().to_string();
        let ledger = work.join("home/peer.jsonl").display().to_string();
        let sync = vec![script.clone(), ledger.clone(), "sync".to_owned()];
        cases.push(case("hook-peer", "500", Path::new(node), vec![script, ledger], 5, Some("peer.jsonl")));
        cases.push(case("hook-peer-sync", "500", Path::new(node), sync, 5, Some("peer.jsonl")));
    }
    cases
}

/// The workspaces with a hook, and the ledger of the session in each, relative to home.
const LEDGERS: [(&str, &str); 2] = [
    ("500", ".local/state/rulebook/sessions/claude/bench-500/main.jsonl"),
    ("kiro", ".local/state/rulebook/sessions/claude/bench-kiro/main.jsonl"),
];

fn find(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|file| file.is_file())
        .unwrap_or_else(|| panic!("`{program}` is not installed"))
}

fn run(case: &Case, work: &Path) -> Duration {
    let mut command = Command::new(&case.program);
    command.args(&case.args).current_dir(work.join(case.folder)).env_clear().env("HOME", work.join("home"));
    command.stdin(Stdio::null()).stdout(Stdio::null());
    if let Some(ledger) = case.session {
        let folder = work.join(case.folder);
        fs::copy(folder.join("ledger.jsonl"), work.join("home").join(ledger)).expect("the ledger is written");
        command.stdin(fs::File::open(folder.join("event.json")).expect("the event is written"));
    }
    let start = Instant::now();
    let status = command.status();
    let took = start.elapsed();
    match status {
        Ok(status) if status.success() => took,
        other => panic!("`{}` in `{}`: {other:?}", case.name, case.folder),
    }
}

fn report(cases: &[Case], samples: &[Sample]) {
    let sum = |of: &[(&str, &str)], measure: fn(&Sample) -> Duration| -> Option<f64> {
        of.iter()
            .map(|wanted| {
                let at = cases.iter().position(|case| (case.name, case.folder) == *wanted)?;
                Some(ms(measure(&samples[at])))
            })
            .sum()
    };
    println!("{:<10} {:<10} {:>9} {:>9} {:>9}", "workspace", "command", "min ms", "median", "min/cat");
    for (case, sample) in cases.iter().zip(samples) {
        let floor = ["cat", "hook-cat"].iter().find_map(|cat| sum(&[(cat, case.folder)], Sample::min));
        let floor = floor.unwrap_or(f64::NAN);
        let (min, median) = (ms(sample.min()), ms(sample.median()));
        println!("{:<10} {:<10} {min:>9.2} {median:>9.2} {:>9.2}", case.folder, case.name, min / floor);
    }
    println!("\n{:<50} {:>9} {:>9}   goal", "ratio", "of min", "of median");
    for Claim { what, of, to, goal } in CLAIMS {
        let ratio = |measure: fn(&Sample) -> Duration| Some(sum(of, measure)? / sum(to, measure)?);
        let (Some(min), Some(median)) = (ratio(Sample::min), ratio(Sample::median)) else { continue };
        let (sign, limit, met) = match *goal {
            Goal::AtMost(limit) => ("<=", limit, min <= limit),
            Goal::AtLeast(limit) => (">=", limit, min >= limit),
        };
        let verdict = if met { "met" } else { "MISSED" };
        println!("{what:<50} {min:>9.2} {median:>9.2}   {sign} {limit} {verdict}");
    }
}
