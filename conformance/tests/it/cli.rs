//! The command line of `conformance`.

use crate::fixtures;
use assert_cmd::Command;

fn conformance(arguments: &[&str]) -> (bool, String) {
    let output = Command::cargo_bin("conformance").unwrap().args(arguments).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}

#[test]
fn lists_what_there_is() {
    let (success, text) = conformance(&["--list", "skew/skewed"]);
    assert!(success && text.starts_with("skew/skewed-nbf\n    Three API servers behind a load balancer"), "{text}");
}

#[test]
fn a_filter_that_matches_nothing_fails() {
    let (success, text) = conformance(&["no-such-scenario"]);
    assert!(!success && text.contains("no scenario's name contains \"no-such-scenario\""), "{text}");
}

#[test]
fn lists_public_definitions() {
    let (success, text) = conformance(&["crds", "--list", "--only", "Gateway"]);
    assert!(success && text == "Gateway API: sigs.k8s.io/gateway-api@v1.2.1\n", "{text}");
    let (success, text) = conformance(&["crds", "--only", "no such set"]);
    assert!(!success && text.contains("no set contains \"no such set\""), "{text}");
}

#[test]
fn definitions_of_a_folder_are_not_those_of_a_set() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().to_str().unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    let file = file.path().to_str().unwrap();
    let missing = format!("{folder}/missing");
    for (arguments, expected) in [
        (vec!["--directory", &*missing], format!("Error: {missing}")),
        (vec!["--directory", folder, "--directory", file], format!("Error: {file} is not a folder")),
        (
            vec!["--directory", folder, "--only", "istio"],
            "'--directory <FOLDER>' cannot be used with '--only".to_owned(),
        ),
        (vec!["--directory", folder, "--list"], "'--directory <FOLDER>' cannot be used with '--list'".to_owned()),
    ] {
        let (success, text) = conformance(&[vec!["crds"], arguments].concat());
        assert!(!success && text.contains(&expected), "{text}");
    }
}

#[test]
fn plays_what_is_asked_for_and_says_how_it_went() {
    let junit = tempfile::NamedTempFile::new().unwrap();
    let html = tempfile::NamedTempFile::new().unwrap();
    let [junit_path, html_path] = [&junit, &html].map(|file| file.path().to_str().unwrap());
    let (success, text) = conformance(&["create/twice", "--junit", junit_path, "--html", html_path]);
    assert!(success, "{text}");
    assert!(text.contains("1/1 passed ") && text.contains("area    passed"), "{text}");
    let xml = std::fs::read_to_string(junit.path()).unwrap();
    assert!(xml.contains("<testcase classname=\"create\" name=\"twice\""), "{xml}");
    let page = std::fs::read_to_string(html.path()).unwrap();
    assert!(page.contains("<title>Conformance of embedded</title>") && page.contains("create/twice"), "{page}");
}

#[test]
fn judges_saved_histories() {
    let history = |name: &str| fixtures("histories").join(name).to_string_lossy().into_owned();
    let (success, text) = conformance(&["judge", &history("broken/ordered.older-after-newer.jsonl")]);
    assert!(!success && text.contains("ordered: A watch delivers changes in the order they were made"), "{text}");
    let (success, text) = conformance(&["judge", &history("good/life.jsonl")]);
    assert!(success && text == "0 findings\n", "{text}");
}
