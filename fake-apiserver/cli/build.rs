//! Links the program at a fixed address: nothing has to be relocated when it starts, which takes a millisecond and a megabyte otherwise.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let target = |what: &str| env::var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" {
        println!("cargo:rustc-link-arg-bins=-no-pie");
        // Where the C library is in the program, too, no loader is needed.
        if target("FEATURE").split(',').any(|feature| feature == "crt-static") {
            println!("cargo:rustc-link-arg-bins=-static");
        }
    }
}
