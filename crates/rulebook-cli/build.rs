//! How the program is linked.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |key: &str| env::var(key).unwrap_or_default();
    if target("CARGO_CFG_TARGET_OS") == "linux" && target("CARGO_CFG_TARGET_ENV") == "gnu" {
        // At a fixed address nothing has to be relocated when a hook starts: a third of its page faults.
        println!("cargo::rustc-link-arg-bins=-no-pie");
        if target("HOST") == target("TARGET") && has_unwinder() {
            link_unwinder(Path::new(&target("OUT_DIR")));
        }
    }
}

/// Whether the C compiler, which links, has its unwinder as an archive.
fn has_unwinder() -> bool {
    let asked = Command::new("cc").arg("-print-file-name=libgcc_eh.a").output();
    asked.is_ok_and(|told| Path::new(String::from_utf8_lossy(&told.stdout).trim()).is_absolute())
}

/// Puts the unwinder into the program: as a library it is a tenth of what starting takes. What the linker finds first under
/// the library's name sends it to the archive.
fn link_unwinder(folder: &Path) {
    if fs::write(folder.join("libgcc_s.so"), "GROUP ( -lgcc_eh -lgcc )\n").is_ok() {
        println!("cargo::rustc-link-search=native={}", folder.display());
    }
}
