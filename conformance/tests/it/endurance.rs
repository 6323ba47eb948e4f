//! A small endurance test; the full one takes ten minutes: `cargo xtask conformance endurance`.

use assert_cmd::Command;
use std::time::Duration;

#[test]
fn a_disrupted_server_keeps_what_it_promises() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_conformance"));
    let arguments = ["endurance", "--seconds=8", "--clients=20", "--watches=100"];
    command.args(arguments).timeout(Duration::from_secs(180)).assert().success();
}
