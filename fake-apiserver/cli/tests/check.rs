//! `fake-apiserver check`, `capture` and `test`, as programs: streams in, reports out, exit codes.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const MAP: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n";
const WRONG: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: A_}\n";
const OLD: &str = "apiVersion: v1\nkind: Endpoints\nmetadata: {name: a}\n";

fn run(arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fake-apiserver"));
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    // A program that refuses its arguments does not read.
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).ok();
    child.wait_with_output().expect("it ends")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn exit_codes_tell_the_verdict() {
    for (arguments, input, code) in [
        (&["check", "-f", "-"][..], MAP, 0),
        (&["check", "-f", "-"], WRONG, 1),
        (&["check", "-f", "-"], OLD, 0),
        (&["check", "-f", "-", "--fail-on", "warning"], OLD, 1),
        (&["check", "-f", "-"], "a: [", 2),
        (&["check", "-f", "/none"], "", 2),
        (&["check"], "", 2),
        (&["check", "--upgrade", "a"], "", 2),
        (&["check", "-f", "-", "--show-defaults", "-o", "json"], MAP, 2),
        (&["check", "-f", "-", "--webhook", "a=http://b"], MAP, 2),
        (&["test", "/none"], "", 2),
        (&["test", "--schema"], "", 0),
        (&["capture"], "", 2),
        (&["capture", "-o", "/none/file", "--kubeconfig", "/none"], "", 2),
    ] {
        let output = run(arguments, input);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {output:?}");
    }
}

#[test]
fn the_standard_input_is_a_stream() {
    let output = run(&["check", "-f", "-"], &format!("{MAP}---\n{WRONG}"));
    let lines = text(&output.stdout);
    let expected = "-:1: OK ConfigMap default/a\n-:7: DENIED ConfigMap default/A_: validation: ConfigMap \"A_\" is invalid: metadata.name: ";
    assert!(lines.starts_with(expected), "{lines}");
    assert!(lines.ends_with("2 objects: 1 OK, 1 DENIED\n"), "{lines}");
}

#[test]
fn defaults_and_differences_are_shown() {
    let service = "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {ports: [{port: 80}]}\n";
    let shown = text(&run(&["check", "-f", "-", "--show-defaults"], service).stdout);
    assert!(
        shown.contains("\n---\n# -:1\napiVersion: v1\nkind: Service\n") && shown.contains("  type: ClusterIP\n"),
        "{shown}"
    );
    let differences = text(&run(&["check", "-f", "-", "--diff"], service).stdout);
    assert!(differences.contains("\n+  type: ClusterIP\n"), "{differences}");
}

#[test]
fn a_cluster_is_captured_loaded_and_asked() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (first, second, program) = (path("first"), path("second"), env!("CARGO_BIN_EXE_fake-apiserver"));
    // The server around a capture begins with the objects of another one.
    let capture = |file: &str| format!("{program} capture -o {file} --only namespaces,configmaps");
    let created = run(&["run", "--", "sh", "-c", &capture(&first)], "");
    assert!(created.status.success(), "{created:?}");
    let text_of = |file: &str| std::fs::read_to_string(Path::new(file)).unwrap();
    let again = run(&["run", "--load", &first, "--", "sh", "-c", &capture(&second)], "");
    assert!(again.status.success(), "{again:?}");
    let default = |text: &str| {
        let lines = text.lines().filter(|line| line.contains("\"name\":\"default\"") && line.contains("\"Namespace\""));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(default(&text_of(&first)).len(), 1);
    assert_eq!(default(&text_of(&first)), default(&text_of(&second)));
    let asked = run(&["check", "-f", "-", "--cluster", &first, "-n", "none"], MAP);
    assert!(text(&asked.stdout).contains("missing: namespaces \"none\" not found"), "{asked:?}");
    let cut: Vec<String> = text_of(&first).lines().map(str::to_owned).collect();
    std::fs::write(&second, cut[..cut.len() - 1].join("\n")).unwrap();
    for arguments in [&["check", "-f", "-", "--cluster", &second][..], &["run", "--load", &second, "--", "true"]] {
        let output = run(arguments, MAP);
        assert!(
            !output.status.success() && text(&output.stderr).contains("the capture is cut short after "),
            "{output:?}"
        );
    }
}

/// The lines of a file below one that ends in `key`, as long as they are indented more.
fn below<'t>(text: &'t str, key: &str) -> Vec<&'t str> {
    let indentation = |line: &str| line.len() - line.trim_start().len();
    let mut lines = text.lines().skip_while(|line| !line.ends_with(key));
    let depth = lines.next().map(indentation).expect("the key is there");
    lines.take_while(|line| indentation(line) > depth).collect()
}

#[test]
#[cfg(unix)]
fn the_action_and_the_hook_find_what_check_finds() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("right.yaml", MAP), ("wrong.yaml", WRONG)] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let program = Path::new(env!("CARGO_BIN_EXE_fake-apiserver")).parent().unwrap().to_owned();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths([program].into_iter().chain(std::env::split_paths(&path))).unwrap();
    let shell = |script: &str, files: &str| {
        let mut command = Command::new("bash");
        command.args(["-euo", "pipefail", "-c", script]).current_dir(&folder).env("PATH", &path);
        command.envs([("FILES", files), ("GIVEN", ""), ("CLUSTER", ""), ("FAIL_ON", "denied")]).output().unwrap()
    };
    let action = std::fs::read_to_string(root.join(".github/actions/check/action.yml")).unwrap();
    let script = below(&action, "run: |").join("\n");
    assert_eq!(shell(&script, "right.yaml").status.code(), Some(0));
    let output = shell(&script, "right.yaml wrong.yaml");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text(&output.stdout).contains("::error file=wrong.yaml,line=3"), "{output:?}");
    let hooks = std::fs::read_to_string(root.join(".pre-commit-hooks.yaml")).unwrap();
    let entry = hooks.lines().find_map(|line| line.trim().strip_prefix("entry: ")).expect("an entry");
    assert_eq!(shell(&format!("{entry} right.yaml"), "").status.code(), Some(0));
    let output = shell(&format!("{entry} right.yaml wrong.yaml"), "");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(text(&output.stdout).ends_with("2 objects: 1 OK, 1 DENIED\n"), "{output:?}");
}
