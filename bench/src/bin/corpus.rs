//! Writes a workspace: `corpus FOLDER RULES OTHER_FILES`.

use std::path::Path;

fn main() -> std::io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [folder, rules, others] = args.as_slice() else { panic!("corpus FOLDER RULES OTHER_FILES") };
    let number = |text: &str| text.parse().expect("a number");
    rulebook_bench::corpus::write(Path::new(folder), number(rules), number(others))
}
