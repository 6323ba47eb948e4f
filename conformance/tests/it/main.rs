//! The player: its verbs, its command line; and the suite on the embedded server and, if it was built, a real one.

mod admission;
mod attacks;
mod cases;
mod cli;
mod endurance;
mod html;
mod language;
mod pages;
mod presets;
mod real;
mod sets;
mod soak;
mod suite;

use std::path::PathBuf;

/// A path below `fixtures/`.
fn fixtures(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fixtures").join(path)
}
