//! The program that `cargo xtask fuzz` builds and runs: libFuzzer with the one target that `FUZZ_TARGET` names at build time,
//! as inputs are cheaper without the others. With `FUZZ_SEEDS` it only writes the first inputs into that folder.

#![no_main]

use fake_apiserver_fuzz::{Target, seeds, target};
use std::path::Path;

const TARGET: Target = match target(env!("FUZZ_TARGET")) {
    Some(target) => target,
    None => panic!("FUZZ_TARGET is not the name of a target"),
};

libfuzzer_sys::fuzz_target!(
    init: {
        if let Some(folder) = std::env::var_os("FUZZ_SEEDS") {
            let inputs = seeds::seeds().into_iter().filter(|(name, _)| *name == TARGET.name);
            for (number, (_, input)) in inputs.enumerate() {
                std::fs::write(Path::new(&folder).join(format!("seed-{number}")), input).expect("a seed is written");
            }
            std::process::exit(0);
        }
    },
    |input: &[u8]| (TARGET.run)(input)
);
