//! Command lines as the real kube-apiserver reads them (`cargo xtask conformance command-lines`), and those of test environments.

use super::*;
use crate::flags::told;
use serde_json::Value;

const RECORDED: &str = include_str!("../../../../../fixtures/command-lines.jsonl");

/// The value of a flag as Go prints it; `None` if it is not given.
fn shown(line: &Line, name: &str) -> Option<String> {
    let (flag, values) = line.given.iter().find(|(flag, _)| flag.name == name)?;
    Some(told::shown(flag, values))
}

#[test]
fn command_lines_are_read_as_by_the_real_program() {
    let mut wrong = Vec::new();
    for case in RECORDED.lines() {
        let case: Value = serde_json::from_str(case).expect("JSON");
        let words: Vec<String> = serde_json::from_value(case["words"].clone()).expect("texts");
        let found = said(&words);
        let is_right = match (&found, &case) {
            (Err(why), case) => case["refused"].as_str() == Some(&format!("Error: {why}")),
            (Ok(Said::Text(text)), case) => match case["printed"].as_str() {
                Some("(help)") => text.contains("\nUsage:\n"),
                // The rest of the raw version is about the build.
                Some(line) => line.split("GitCommit").next() == text.trim_end().split("GitCommit").next(),
                None => false,
            },
            (Ok(Said::Flags(line)), case) => case["values"].as_object().is_some_and(|values| {
                values.iter().all(|(name, value)| shown(line, name).is_none_or(|shown| value.as_str() == Some(&shown)))
            }),
        };
        if !is_right {
            let found = match found {
                Err(why) => why,
                Ok(Said::Text(text)) => text,
                Ok(Said::Flags(line)) => {
                    line.given.iter().map(|(flag, values)| format!("{}={values:?} ", flag.name)).collect()
                }
            };
            wrong.push(format!("{case}\n  found {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn lists_add_up_and_empty_values_count_as_none() {
    let words =
        ["--authorization-mode=RBAC", "--authorization-mode=Node", "--client-ca-file=", "--disable-admission-plugins="];
    let flags = server("", &words).unwrap();
    assert_eq!(flags.authorization_mode.len(), 2);
    assert_eq!((flags.client_ca_file.is_none(), flags.disable_admission_plugins.len()), (true, 0));
    assert_eq!(flags.enable_admission_plugins, ["ServiceAccount"]);
    let flags = server("", &["--disable-admission-plugins=ServiceAccount,NodeRestriction"]).unwrap();
    assert_eq!(flags.enable_admission_plugins, [""; 0]);
}

#[test]
fn own_flags_come_from_the_variable() {
    let flags = server("--seed=7 --write-kubeconfig '/a b/c' --controllers='*,-namespace'", &["-v2"]).unwrap();
    assert_eq!((flags.seed, flags.verbosity, flags.controllers.len()), (Some(7), 2, 2));
    assert_eq!(flags.write_kubeconfig.as_deref(), Some("/a b/c".as_ref()));
    for (own, expected) in [
        (
            "--sed=7",
            "FAKE_APISERVER_FLAGS: unexpected argument '--sed' found (tip: a similar argument exists: '--seed')",
        ),
        ("--seed=x", "FAKE_APISERVER_FLAGS: invalid value 'x' for '--seed <N>': invalid digit found in string"),
        ("--seed='7", "FAKE_APISERVER_FLAGS: a quotation that begins with ' has no end"),
        ("serve", "FAKE_APISERVER_FLAGS: unexpected argument 'serve' found"),
        ("--help", "FAKE_APISERVER_FLAGS: --help and --version are for command lines"),
    ] {
        assert_eq!(server(own, &[""; 0]).err().as_deref(), Some(expected), "{own}");
    }
    // They are the program's, not kube-apiserver's.
    assert_eq!(server("", &["--seed=7"]).err().as_deref(), Some("unknown flag: --seed"));
}

#[test]
fn what_this_server_does_not_have_is_refused_by_name() {
    for (word, expected) in [
        (
            "--tls-sni-cert-key=a,b",
            "fake-apiserver does not support '--tls-sni-cert-key': there is one certificate for all names",
        ),
        ("--event-ttl=2h", "invalid value '2h' for '--event-ttl': fake-apiserver has nothing but 1h0m0s or 1h"),
        (
            "--authorization-mode=Foo",
            "invalid argument \"Foo\" for \"--authorization-mode\" flag: authorization-mode \"Foo\" is not a valid mode",
        ),
        (
            "--max-requests-inflight=-1",
            "invalid argument \"-1\" for \"--max-requests-inflight\" flag: invalid digit found in string",
        ),
    ] {
        assert_eq!(server("", &[word]).err().as_deref(), Some(expected), "{word}");
    }
}

#[test]
fn the_help_names_no_plain_port() {
    assert!(!help().lines().any(|line| line.trim_start().starts_with("--insecure-port")));
}
