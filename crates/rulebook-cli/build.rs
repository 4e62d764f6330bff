//! Linker options for the binary.

use std::path::Path;
use std::process::Command;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |key: &str| env::var(key).unwrap_or_default();
    if target("CARGO_CFG_TARGET_OS") == "linux" && target("CARGO_CFG_TARGET_ENV") == "gnu" {
        // A fixed address avoids relocations, which cause a third of the page faults when a hook starts.
        println!("cargo::rustc-link-arg-bins=-no-pie");
        if target("HOST") == target("TARGET") && has_unwinder() {
            link_unwinder(Path::new(&target("OUT_DIR")));
        }
    }
}

/// Whether the C compiler has a static unwinder.
fn has_unwinder() -> bool {
    let output = Command::new("cc").arg("-print-file-name=libgcc_eh.a").output();
    output.is_ok_and(|output| Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_absolute())
}

/// Links the unwinder statically: loading the shared library takes a tenth of the start-up time. The linker finds this script
/// under the library's name, and it refers to the archive.
fn link_unwinder(folder: &Path) {
    if fs::write(folder.join("libgcc_s.so"), "GROUP ( -lgcc_eh -lgcc )\n").is_ok() {
        println!("cargo::rustc-link-search=native={}", folder.display());
    }
}
