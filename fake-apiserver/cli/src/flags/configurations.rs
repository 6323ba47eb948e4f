//! Files and flags that the real server refuses (`cargo xtask conformance configurations`), and others.

use super::bare::server;
use serde_json::Value;
use std::fs;
use std::path::Path;

const RECORDED: &str = include_str!("../../../../fixtures/configurations.jsonl");

#[tokio::test]
async fn files_and_flags_are_refused_in_the_real_servers_words() {
    let mut different = String::new();
    for line in RECORDED.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().display().to_string();
        let path = folder.path().join("file");
        let own = case["flag"].as_str().map(|flag| format!("--{flag}={}", path.display()));
        let write = |path: &Path, text: &Value| {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text.as_str().unwrap_or_default().replace("$folder", &place)).unwrap();
        };
        write(&path, &case["text"]);
        for (name, text) in case["files"].as_object().into_iter().flatten() {
            write(&folder.path().join(name), text);
        }
        let flags = case["flags"].as_array().into_iter().flatten();
        let flags = flags.map(|flag| flag.as_str().unwrap().replace("$folder", &place));
        let words: Vec<String> = own.into_iter().chain(["--secure-port=0".to_owned()]).chain(flags).collect();
        let refused = match server("", &words) {
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
