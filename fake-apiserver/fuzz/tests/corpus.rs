//! The corpus, replayed without a fuzzing engine: earlier failures, a few inputs of high coverage, and the seeds.

use fake_apiserver_fuzz::seeds::{files, fixtures, seeds};
use fake_apiserver_fuzz::{TARGETS, target};

#[test]
fn the_corpus_shows_no_mistake() {
    for target in TARGETS {
        let inputs = files(&fixtures().join("corpus").join(target.name));
        assert!(!inputs.is_empty(), "{} has no corpus", target.name);
        for (path, input) in inputs {
            println!("{}", path.display());
            (target.run)(&input);
        }
    }
}

#[test]
fn the_seeds_show_no_mistake() {
    for (name, input) in seeds() {
        println!("{name}: {}", String::from_utf8_lossy(&input));
        (target(name).expect("a target").run)(&input);
    }
}
