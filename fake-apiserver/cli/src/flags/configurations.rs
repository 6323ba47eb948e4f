//! Files of authentication and authorization that the real server refuses (`cargo xtask conformance configurations`), and others.

use super::Flags;
use std::fs;

const RECORDED: &str = include_str!("../../../../fixtures/configurations.jsonl");

#[tokio::test]
async fn files_are_refused_in_the_real_servers_words() {
    let mut different = String::new();
    for line in RECORDED.lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().display().to_string();
        let path = folder.path().join("file");
        fs::write(&path, case["text"].as_str().unwrap().replace("$folder", &place)).unwrap();
        let own = format!("--{}={}", case["flag"].as_str().unwrap(), path.display());
        let flags = case["flags"].as_array().into_iter().flatten();
        let flags = flags.map(|flag| flag.as_str().unwrap().replace("$folder", &place));
        let words: Vec<String> = [own, "--secure-port=0".to_owned()].into_iter().chain(flags).collect();
        let refused = match Flags::from_arguments(words.iter().map(String::as_str)) {
            Err(why) => Some(why),
            Ok(flags) => flags.start(None).await.err().map(|error| error.to_string()),
        };
        let refused = refused.map(|refused| refused.replace(&place, "$folder"));
        if refused.as_deref() != case["refused"].as_str() {
            different += &format!("{line}\n  here: {refused:?}\n");
        }
    }
    assert_eq!(different, "");
}
