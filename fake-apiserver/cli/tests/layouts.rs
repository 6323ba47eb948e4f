//! Where `fake-apiserver assets` puts the programs: in the layouts of test environments, and in archives.

#![cfg(unix)]

mod programs;

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Runs `fake-apiserver assets` with a folder of a user that nobody else has.
fn assets(home: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fake-apiserver"));
    command.arg("assets").args(arguments).env("HOME", home).env_remove("XDG_DATA_HOME").env_remove("XDG_CACHE_HOME");
    command.current_dir(home).output().expect("the program starts")
}

/// The line that it prints.
fn printed(home: &Path, arguments: &[&str]) -> String {
    let output = assets(home, arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).expect("text").trim_end().to_owned()
}

fn version_of(folder: &Path) -> String {
    let output = Command::new(folder.join("kube-apiserver")).arg("--version").output().expect("it runs");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn folders_are_where_test_environments_look() {
    let home = tempfile::tempdir().expect("a folder");
    let home = &fs::canonicalize(home.path()).expect("a folder");
    let platform = |version: &str| {
        let architecture = if cfg!(target_arch = "x86_64") { "amd64" } else { "arm64" };
        format!("k8s/{version}-{}-{architecture}", if cfg!(target_os = "macos") { "darwin" } else { "linux" })
    };
    for (arguments, folder) in [
        (&["--dir", "a"][..], "a".to_owned()),
        (&["--bin-dir", "bin"], format!("bin/{}", platform("1.37.1"))),
        (&["--bin-dir=bin", "--as=1.36.2"], format!("bin/{}", platform("1.36.2"))),
        #[cfg(target_os = "linux")]
        (&["--install", "v1.35.0"], format!(".local/share/kubebuilder-envtest/{}", platform("1.35.0"))),
    ] {
        let line = printed(home, arguments);
        assert_eq!(Path::new(&line), home.join(folder), "{arguments:?}");
        let mut names: Vec<_> =
            fs::read_dir(&line).expect("a folder").map(|one| one.expect("one").file_name()).collect();
        names.sort();
        assert_eq!(names, ["etcd", "kube-apiserver", "kubectl"]);
        assert_eq!(version_of(Path::new(&line)), "Kubernetes v1.37.1\n");
    }
    let root = printed(home, &["--layout=kubeapitest", "--dir=test"]);
    assert_eq!(Path::new(&root), home.join("test"));
    assert_eq!(version_of(&Path::new(&root).join(platform("1.37.1"))), "Kubernetes v1.37.1\n");
    let line = printed(home, &["--dir=it's", "--format=env"]);
    assert_eq!(line, format!("export KUBEBUILDER_ASSETS='{}/it'\\''s'", home.display()));
    let last = printed(home, &[]);
    assert!(last.ends_with(&platform("1.37.1")["k8s".len()..]), "{last}");
}

#[test]
fn an_archive_has_regular_files() {
    let home = tempfile::tempdir().expect("a folder");
    let archive = assets(home.path(), &["--format=tar.gz"]);
    assert!(archive.status.success(), "{archive:?}");
    let mut tar = Command::new("tar");
    tar.args(["-xzv", "-C"]).arg(home.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut tar = tar.spawn().expect("tar");
    tar.stdin.take().expect("a pipe").write_all(&archive.stdout).expect("written");
    let listed = tar.wait_with_output().expect("an end");
    assert!(listed.status.success());
    assert_eq!(String::from_utf8_lossy(&listed.stdout), "kube-apiserver\netcd\nkubectl\n");
    assert_eq!(version_of(home.path()), "Kubernetes v1.37.1\n");
    let etcd = Command::new(home.path().join("etcd")).arg("--version").output().expect("it runs");
    assert!(String::from_utf8_lossy(&etcd.stdout).starts_with("etcd Version: "), "{etcd:?}");
    for name in ["kube-apiserver", "etcd", "kubectl"] {
        assert!(fs::symlink_metadata(home.path().join(name)).expect("a file").is_file(), "{name}");
    }
}

#[test]
fn what_cannot_be_made_is_said() {
    let home = tempfile::tempdir().expect("a folder");
    fs::write(home.path().join("file"), "").expect("a file");
    for (arguments, expected) in [
        (&["--dir=file/a"][..], "error: unable to make file/a: "),
        (&["--bin-dir=file"], "error: unable to make file/k8s/"),
        (&["--as=1.36"], "error: invalid value '1.36' for '--as <X.Y.Z>': not a version such as 1.36.2"),
        (&["--format=zip"], "error: invalid value 'zip' for '--format <FORMAT>'"),
        (&["--dir=a", "--bin-dir=b"], "error: the argument '--dir <FOLDER>' cannot be used with '--bin-dir <FOLDER>'"),
    ] {
        let output = assets(home.path(), arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        let errors: Vec<&str> = said.lines().filter(|line| line.starts_with("error: ")).collect();
        assert!(errors.len() == 1 && errors[0].starts_with(expected), "{arguments:?}: {said}");
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    }
}
