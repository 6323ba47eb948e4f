//! `kubectl config` where no kubectl is installed. The answers and the files are those of kubectl v1.37.1.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A folder with the program under the name of kubectl, which finds no other one.
struct Stub {
    folder: tempfile::TempDir,
}

impl Stub {
    fn new() -> Stub {
        let folder = tempfile::tempdir().expect("a folder");
        let other = folder.path().join("bin");
        fs::create_dir(&other).expect("a folder");
        // It takes this for an installed one, which in turn finds that it runs itself.
        let program = env!("CARGO_BIN_EXE_fake-apiserver");
        let disguised = other.join("kubectl");
        fs::hard_link(program, &disguised).or_else(|_| fs::copy(program, &disguised).map(drop)).expect("a program");
        std::os::unix::fs::symlink(program, folder.path().join("kubectl")).expect("a link");
        Stub { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What it prints, and how it ends, with the folder as `$D`.
    fn run(&self, kubeconfig: &str, words: &str) -> (String, String, Option<i32>) {
        let place = self.folder.path().display().to_string();
        let mut command = Command::new(self.path("kubectl"));
        command.args(words.split(' ').map(|word| word.replace("$D", &place))).current_dir(self.folder.path());
        command.env("PATH", self.path("bin")).env("KUBECONFIG", kubeconfig.replace("$D", &place)).env("HOME", &place);
        let output = command.output().expect("it runs");
        let text = |bytes| String::from_utf8(bytes).expect("text").replace(&place, "$D");
        (text(output.stdout), text(output.stderr), output.status.code())
    }

    #[track_caller]
    fn check(&self, kubeconfig: &str, steps: &[(&str, Result<&str, &str>)]) {
        for (words, expected) in steps {
            let expected = match expected {
                Ok(out) => ((*out).to_owned(), String::new(), Some(0)),
                Err(why) => (String::new(), format!("error: {why}\n"), Some(1)),
            };
            assert_eq!(self.run(kubeconfig, words), expected, "{words}");
        }
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("a file")
}

#[test]
fn a_new_file_is_written_and_emptied() {
    let stub = Stub::new();
    stub.check(
        "$D/config",
        &[
            ("config current-context", Err("current-context is not set")),
            ("config use-context a", Err("no context exists with the name: \"a\"")),
            (
                "config set-cluster kube-api-test --server=https://127.0.0.1:1 --certificate-authority=$D/sub/ca.crt",
                Ok("Cluster \"kube-api-test\" set.\n"),
            ),
            (
                "config set-credentials kube-api-test --client-certificate $D/sub/ca.crt --client-key=bin/../sub/ca.key",
                Ok("User \"kube-api-test\" set.\n"),
            ),
            (
                "config set-context kube-api-test --cluster=kube-api-test --user=kube-api-test",
                Ok("Context \"kube-api-test\" created.\n"),
            ),
            ("config set-context kube-api-test --namespace=x", Ok("Context \"kube-api-test\" modified.\n")),
            ("config use-context kube-api-test", Ok("Switched to context \"kube-api-test\".\n")),
            ("config current-context", Ok("kube-api-test\n")),
        ],
    );
    let expected = "apiVersion: v1\nclusters:\n- cluster:\n    certificate-authority: sub/ca.crt\n    server: https://127.0.0.1:1\n  name: kube-api-test\n\
        contexts:\n- context:\n    cluster: kube-api-test\n    namespace: x\n    user: kube-api-test\n  name: kube-api-test\n\
        current-context: kube-api-test\nkind: Config\nusers:\n- name: kube-api-test\n  user:\n    client-certificate: sub/ca.crt\n    \
        client-key: sub/ca.key\n";
    assert_eq!(read(&stub.path("config")), expected);
    assert_eq!(fs::metadata(stub.path("config")).expect("a file").permissions().mode() & 0o777, 0o600);
    stub.check(
        "$D/config",
        &[
            ("config unset contexts.kube-api-test", Ok("Property \"contexts.kube-api-test\" unset.\n")),
            ("config unset clusters.kube-api-test", Ok("Property \"clusters.kube-api-test\" unset.\n")),
            ("config unset users", Ok("Property \"users\" unset.\n")),
            ("config unset users.nope", Ok("Property \"users.nope\" unset.\n")),
            ("config unset current-context", Ok("Property \"current-context\" unset.\n")),
            ("config unset foo", Err("unable to parse foo after [] at api.Config")),
        ],
    );
    let empty = "apiVersion: v1\nclusters: null\ncontexts: null\ncurrent-context: \"\"\nkind: Config\nusers: null\n";
    assert_eq!(read(&stub.path("config")), empty);
}

#[test]
fn what_is_there_stays() {
    let stub = Stub::new();
    let path = stub.path("config");
    fs::write(
        &path,
        "apiVersion: v1\nkind: Config\npreferences: {colors: true}\nclusters:\n- name: z\n  cluster: {server: \"https://z\", certificate-authority: rel/ca.crt, \
         extensions: [{name: e, extension: {a: 1}}]}\n- name: a\n  cluster: {server: \"https://a\"}\nusers:\n- name: u\n  user: {token: abc, exec: {command: x, args: null, env: null, provideClusterInfo: false}}\n\
         contexts:\n- name: c\n  context: {cluster: z, user: u}\ncurrent-context: c\nextensions: [{name: t, extension: {c: 1}}]\n",
    )
    .expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).expect("a file");
    fs::write(stub.path("pem"), "abc").expect("a file");
    stub.check(
        "$D/config",
        &[
            (
                "config set-cluster z --server=https://zz --tls-server-name=t --insecure-skip-tls-verify",
                Ok("Cluster \"z\" set.\n"),
            ),
            ("config set-cluster a --certificate-authority=pem --embed-certs", Ok("Cluster \"a\" set.\n")),
            ("config set-credentials u --client-certificate=/a/b", Ok("User \"u\" set.\n")),
            ("config set-credentials v --token=t", Ok("User \"v\" set.\n")),
            ("config set-credentials v --username=a --password=b", Ok("User \"v\" set.\n")),
            (
                "config set-credentials v --token=t --username=a",
                Err("you cannot specify more than one authentication method at the same time: --token, --username/--password"),
            ),
            ("config set-context --current --namespace=n", Ok("Context \"c\" modified.\n")),
            ("config set-context", Err("you must specify a non-empty context name or --current")),
        ],
    );
    let expected = "apiVersion: v1\nclusters:\n- cluster:\n    certificate-authority-data: YWJj\n    server: https://a\n  name: a\n\
        - cluster:\n    extensions:\n    - extension:\n        a: 1\n      name: e\n    insecure-skip-tls-verify: true\n    server: https://zz\n    \
        tls-server-name: t\n  name: z\ncontexts:\n- context:\n    cluster: z\n    namespace: \"n\"\n    user: u\n  name: c\ncurrent-context: c\nextensions:\n\
        - extension:\n    c: 1\n  name: t\nkind: Config\npreferences:\n  colors: true\nusers:\n- name: u\n  user:\n    client-certificate: /a/b\n    \
        exec:\n      args: null\n      command: x\n      env: null\n      provideClusterInfo: false\n    token: abc\n- name: v\n  user:\n    password: b\n    username: a\n";
    assert_eq!(read(&path), expected);
    assert_eq!(fs::metadata(&path).expect("a file").permissions().mode() & 0o777, 0o640);
}

#[test]
fn of_several_files_that_of_an_entry_is_changed() {
    let stub = Stub::new();
    let kubeconfig = "$D/one:$D/two";
    stub.check(kubeconfig, &[("config set-cluster x --server=https://x", Ok("Cluster \"x\" set.\n"))]);
    assert!(!stub.path("one").exists() && stub.path("two").exists());
    fs::write(stub.path("one"), "current-context: a\ncontexts: [{name: a, context: {}}]\n").expect("a file");
    stub.check(
        kubeconfig,
        &[
            ("config set-cluster x --server=https://y", Ok("Cluster \"x\" set.\n")),
            ("config current-context", Ok("a\n")),
            ("config use-context a", Ok("Switched to context \"a\".\n")),
            ("config unset current-context", Ok("Property \"current-context\" unset.\n")),
        ],
    );
    assert!(read(&stub.path("two")).contains("https://y"));
    assert!(read(&stub.path("one")).contains("current-context: \"\""));
}

#[test]
fn what_it_cannot_do_it_says() {
    let stub = Stub::new();
    fs::write(stub.path("bad"), "a: b: c").expect("a file");
    fs::write(stub.path("taken.lock"), "").expect("a file");
    stub.check(
        "",
        &[
            (
                "--kubeconfig=$D/bad config current-context",
                Err("error loading config file \"$D/bad\": yaml: mapping values are not allowed in this context"),
            ),
            ("--kubeconfig=$D/taken config set-cluster y", Err("open $D/taken.lock: file exists")),
        ],
    );
    let (_, said, code) = stub.run("$D/config", "config view");
    assert_eq!(code, Some(1));
    assert!(said.contains("not `config view`: install kubectl"), "{said}");
}
