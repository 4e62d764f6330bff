//! Writes a workspace for `coverage`: `tree FOLDER RULES FILES`.

use std::path::Path;

fn main() -> std::io::Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [folder, rules, files] = args.as_slice() else { panic!("tree FOLDER RULES FILES") };
    let number = |text: &str| text.parse().expect("a number");
    rulebook_bench::corpus::write_tree(Path::new(folder), number(rules), number(files))
}
