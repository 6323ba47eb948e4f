//! The program: its errors at start, its line `ready`, and how it stops.

use assert_cmd::Command;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::time::Duration;

/// Runs the program with `arguments` that it must refuse, and returns its message.
fn refusal(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fake-apiserver"));
    let output = command.args(arguments).timeout(Duration::from_secs(20)).assert().code(1).stdout("");
    let text = String::from_utf8(output.get_output().stderr.clone()).expect("text");
    assert_eq!(text.lines().count(), 1, "{arguments:?}: {text}");
    text.trim_end().to_string()
}

#[test]
fn refusals_are_one_line() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path.to_str().expect("text").to_string()
    };
    let (garbage, tokens) = (file("garbage.pem", "garbage"), file("tokens.csv", "token,user\n"));
    let folder = |name: &str| file(name, "garbage").rsplit_once('/').expect("a folder").0.to_owned();
    for name in ["half", "bad"] {
        std::fs::create_dir(directory.path().join(name)).expect("a folder");
    }
    let (half, bad) = (folder("half/apiserver.crt"), folder("bad/apiserver.crt"));
    folder("bad/apiserver.key");
    let others = file("others", "contexts: [{name: work}]\n");
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let taken = taken.local_addr().expect("an address").port().to_string();
    for (arguments, expected) in [
        (&["--foo"][..], "error: unexpected argument '--foo' found"),
        (&["--authorization-mode=ABAC"], "error: authorization-mode ABAC's authorization policy file not passed"),
        (
            &["--authorization-mode=RBAC,RBAC"],
            "error: authorization-mode [\"RBAC\" \"RBAC\"] has mode specified more than once",
        ),
        (&["--tls-cert-file", &garbage], "error: the following required arguments were not provided: "),
        (
            &["--tls-cert-file", &garbage, "--tls-private-key-file", &garbage],
            &format!("error: --tls-cert-file {garbage}: invalid certificate: "),
        ),
        (
            &["--cert-dir", &half],
            &format!("error: error reading {half}/apiserver.key, certificate and key must be supplied as a pair"),
        ),
        (&["--cert-dir", &bad], &format!("error: --cert-dir {bad}: invalid certificate: ")),
        (&["--cert-dir", &garbage], &format!("error: unable to write the serving certificate to {garbage}: ")),
        (&["--tls-san=\u{e4}"], "error: unable to create a serving certificate: "),
        (
            &["--strict-transport-security-directives=x"],
            "error: invalid value 'x' for '--strict-transport-security-directives ",
        ),
        (
            &["--secure-port=0", "--write-kubeconfig", &others],
            &format!("error: unable to write --write-kubeconfig {others}: it has the context "),
        ),
        (
            &["--tls-cert-file=/nope", "--tls-private-key-file=/nope"],
            "error: unable to read --tls-cert-file /nope: No such file or directory",
        ),
        (
            &["--service-account-signing-key-file=/nope"],
            "error: unable to read --service-account-signing-key-file /nope: No such file or directory",
        ),
        (
            &["--service-account-signing-key-file", &garbage],
            &format!("error: --service-account-signing-key-file {garbage}: "),
        ),
        (&["--service-account-key-file", &garbage], &format!("error: --service-account-key-file {garbage}: ")),
        (&["--token-auth-file", &tokens], &format!("error: token file '{tokens}' must have at least 3 columns")),
        (
            &["--audit-policy-file=/nope"],
            "error: loading audit policy file: failed to read file path \"/nope\": open /nope: no such file or directory",
        ),
        (
            &["--audit-log-path=/x", "--audit-log-maxsize=-1", "--audit-log-format=xml"],
            "error: [invalid audit log format xml, allowed formats are \"legacy,json\", --audit-log-maxsize -1 can't be a negative number]",
        ),
        (&["--audit-log-maxage=x"], "error: invalid value 'x' for '--audit-log-maxage': not a number"),
        (&["--clock-offset=3=5"], "error: clock offset: no replica 3 among 1, counted from 0"),
        (
            &["--clock-offset=0=9223372036854775807"],
            "error: a clock offset of 9223372036854775807 s for replica 0 is outside the supported range",
        ),
        (&["--replicas=0"], "error: a control plane has at least one replica"),
        (&["--replicas=100000"], "error: 100000 replicas are too many: a control plane has at most 100"),
        (&["--secure-port", &taken], &format!("error: unable to listen on 127.0.0.1:{taken}: ")),
        (&["--secure-port=0", "--write-kubeconfig=/nope/x"], "error: unable to write --write-kubeconfig /nope/x: "),
    ] {
        let text = refusal(arguments);
        assert!(text.starts_with(expected), "{arguments:?}: {text}");
    }
}

/// Words in place of a server.
#[test]
fn words_that_print() {
    for (words, expected) in [
        (&["version"][..], "fake-apiserver "),
        (&["--version"], "fake-apiserver "),
        (&["help"], "A kube-apiserver for tests"),
        (&["--help-flags"], "Flags of kube-apiserver that are accepted"),
        (&["completion", "bash"], "_fake__apiserver()"),
        (&["completion", "fish"], "complete -c fake-apiserver "),
        (&["completion", "zsh"], "#compdef fake-apiserver"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_fake-apiserver")).args(words).assert().success();
        let text = String::from_utf8(output.get_output().stdout.clone()).expect("text");
        assert!(text.starts_with(expected), "{words:?}: {text}");
    }
    assert_eq!(
        refusal(&["completion", "tcsh"]),
        "error: no completion for the shell \"tcsh\": there are bash, zsh and fish"
    );
}

/// A running program, killed when a test leaves it behind.
struct Program {
    child: Child,
    stdout: BufReader<Box<dyn Read>>,
}

impl Program {
    fn start(arguments: &[&str]) -> Self {
        Program::with(arguments, Stdio::piped(), Stdio::null())
    }

    fn with(arguments: &[&str], stdout: Stdio, stderr: Stdio) -> Self {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_fake-apiserver"))
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(stdout)
            .stderr(stderr)
            .spawn()
            .expect("the program starts");
        let stdout: Box<dyn Read> = match child.stdout.take() {
            Some(pipe) => Box::new(pipe),
            None => Box::new(std::io::empty()),
        };
        let stdout = BufReader::new(stdout);
        Program { child, stdout }
    }

    /// The URLs of the line `ready`.
    fn ready(&mut self) -> Vec<String> {
        let mut line = String::new();
        self.stdout.read_line(&mut line).expect("text");
        let urls = line.trim_end().strip_prefix("ready ").unwrap_or_else(|| panic!("ready, not {line:?}"));
        urls.split(' ').map(str::to_string).collect()
    }

    /// Waits for the end, which must be a success without further output.
    fn end(mut self) {
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).expect("text");
        assert_eq!(rest, "");
        assert!(self.child.wait().expect("an end").success());
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if self.child.try_wait().is_ok_and(|status| status.is_none()) {
            self.child.kill().expect("a running program can be killed");
        }
    }
}

#[test]
fn ready_with_a_kubeconfig_until_stdin_closes() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("kubeconfig");
    let kubeconfig = path.to_str().expect("text");
    let mut program = Program::start(&[
        "--secure-port=0",
        "--insecure-port=0",
        "--replicas=2",
        "--exit-with-stdin",
        "--write-kubeconfig",
        kubeconfig,
    ]);
    let urls = program.ready();
    assert_eq!(urls.iter().filter(|url| url.starts_with("https://127.0.0.1:")).count(), 2, "{urls:?}");
    assert_eq!(urls.iter().filter(|url| url.starts_with("http://127.0.0.1:")).count(), 2, "{urls:?}");
    for url in &urls {
        TcpStream::connect(url.split("//").nth(1).expect("a host")).expect("every replica listens");
    }
    let kubeconfig = std::fs::read_to_string(&path).expect("a kubeconfig");
    assert!(kubeconfig.contains(&format!("server: \"{}\"", urls[0])), "{kubeconfig}");
    drop(program.child.stdin.take());
    program.end();
}

/// The status line of a plain HTTP server at `url` for a `GET` of `path` with these headers.
fn ask(url: &str, path: &str, headers: &str) -> String {
    let mut stream = TcpStream::connect(url.trim_start_matches("http://")).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a socket");
    let head = format!("GET {path} HTTP/1.1\r\nHost: a\r\n{headers}Connection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).expect("written");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("text");
    answer.lines().next().unwrap_or_default().to_string()
}

/// The status line for an unknown token.
fn ask_with_a_bad_token(url: &str) -> String {
    ask(url, "/api", "Authorization: Bearer bad\r\n")
}

#[test]
fn anonymous_requests_are_refused_if_it_was_said_that_everything_is_allowed() {
    for (flags, expected) in [
        (&[][..], "HTTP/1.1 200 OK"),
        (&["--authorization-mode=RBAC"], "HTTP/1.1 200 OK"),
        (&["--authorization-mode=RBAC,AlwaysAllow"], "HTTP/1.1 401 Unauthorized"),
        (&["--authorization-mode=AlwaysAllow", "--anonymous-auth"], "HTTP/1.1 200 OK"),
    ] {
        let mut program =
            Program::start(&[&["--secure-port=0", "--insecure-port=0", "--exit-with-stdin"], flags].concat());
        let urls = program.ready();
        assert_eq!(ask(&urls[1], "/readyz", ""), expected, "{flags:?}");
        drop(program.child.stdin.take());
        program.end();
    }
}

/// A pipe whose other end is closed.
fn nobody_reads() -> Stdio {
    std::io::pipe().expect("a pipe").1.into()
}

/// A file on a full disk.
#[cfg(target_os = "linux")]
fn full() -> Stdio {
    std::fs::File::options().write(true).open("/dev/full").expect("a device").into()
}

/// If the log cannot be written, only the log is lost.
#[cfg(target_os = "linux")]
#[test]
fn without_a_standard_error_it_serves() {
    for (case, stderr) in [("closed", nobody_reads()), ("full", full())] {
        let arguments = ["--secure-port=0", "--insecure-port=0", "--exit-with-stdin", "-v=6"];
        let mut program = Program::with(&arguments, Stdio::piped(), stderr);
        let urls = program.ready();
        for _ in 0..2 {
            assert_eq!(ask_with_a_bad_token(&urls[1]), "HTTP/1.1 401 Unauthorized", "{case}");
        }
        drop(program.child.stdin.take());
        program.end();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn refusals_that_cannot_be_said_have_their_code() {
    for (arguments, code) in [(&["--foo"][..], 1), (&["--replicas=0"], 1), (&["--help"], 0), (&["--secure-port=0"], 1)]
    {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_fake-apiserver"));
        let status = command.args(arguments).stdout(full()).stderr(full()).status().expect("the program starts");
        assert_eq!(status.code(), Some(code), "{arguments:?}");
    }
}

/// A program whose line `ready` cannot be written serves all the same.
#[test]
fn without_a_standard_output_it_serves() {
    let mut program = Program::with(&["--secure-port=0", "--exit-with-stdin"], nobody_reads(), Stdio::piped());
    let mut said = BufReader::new(program.child.stderr.take().expect("a pipe")).lines();
    assert!(said.any(|line| line.expect("text").contains("unable to say that the server is ready")));
    drop(program.child.stdin.take());
    program.end();
}

/// The audit log has the bodies of requests.
#[cfg(unix)]
#[test]
fn the_audit_log_is_for_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("audit.log");
    let flag = format!("--audit-log-path={}", path.display());
    let mut program = Program::start(&["--secure-port=0", "--exit-with-stdin", &flag]);
    program.ready();
    assert_eq!(std::fs::metadata(&path).expect("a file").permissions().mode() & 0o777, 0o600);
    drop(program.child.stdin.take());
    program.end();
}

/// A request that cannot be recorded is answered all the same, as by a kube-apiserver with a blocking log.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_costs_the_audit_log_only() {
    let arguments = ["--secure-port=0", "--insecure-port=0", "--exit-with-stdin", "--audit-log-path=/dev/full"];
    let mut program = Program::start(&arguments);
    let urls = program.ready();
    assert_eq!(ask_with_a_bad_token(&urls[1]), "HTTP/1.1 401 Unauthorized");
    drop(program.child.stdin.take());
    program.end();
}

#[test]
fn controllers_that_do_not_exist_are_named() {
    let text = refusal(&["--controllers=*,-deployments"]);
    assert!(
        text.ends_with(r#"for '--controllers <NAMES>': "deployments" is not in the list of known controllers"#),
        "{text}"
    );
}

// Waiting for the program must not block the client.
#[tokio::test(flavor = "multi_thread")]
async fn with_controllers_there_are_default_accounts() {
    use k8s_openapi::api::core::v1::ServiceAccount;
    use kube::config::{KubeConfigOptions, Kubeconfig};
    use kube::runtime::wait::await_condition;
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("kubeconfig");
    let kubeconfig = path.to_str().expect("text");
    let mut program =
        Program::start(&["--secure-port=0", "--controllers=*", "--exit-with-stdin", "--write-kubeconfig", kubeconfig]);
    program.ready();
    let kubeconfig = Kubeconfig::read_from(&path).expect("a kubeconfig");
    let config = kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
    let client = kube::Client::try_from(config.expect("a sound kubeconfig")).expect("a client");
    let accounts: kube::Api<ServiceAccount> = kube::Api::namespaced(client, "kube-public");
    let there = |account: Option<&ServiceAccount>| account.is_some();
    let soon = tokio::time::timeout(Duration::from_secs(20), await_condition(accounts, "default", there));
    soon.await.expect("in time").expect("the server can be watched");
    drop(program.child.stdin.take());
    program.end();
}

/// The names and addresses by which others reach it are in its certificate and in its kubeconfig.
#[tokio::test(flavor = "multi_thread")]
async fn others_reach_it_by_names() {
    use kube::config::{KubeConfigOptions, Kubeconfig};
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("kubeconfig");
    let kubeconfig = path.to_str().expect("text");
    let names = ["--external-hostname=api.test", "--advertise-address=192.0.2.9", "--tls-san=other.test"];
    let flags = ["--secure-port=0", "--exit-with-stdin", "--write-kubeconfig", kubeconfig];
    let mut program = Program::start(&[&names[..], &flags].concat());
    let url = program.ready()[0].clone();
    let kubeconfig = Kubeconfig::read_from(&path).expect("a kubeconfig");
    let config = kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
    let mut config = config.expect("a sound kubeconfig");
    assert_eq!(config.cluster_url.host(), Some("api.test"));
    config.cluster_url = url.parse().expect("a URL");
    for (name, is_known) in
        [("api.test", true), ("other.test", true), ("192.0.2.9", true), ("localhost", true), ("no.test", false)]
    {
        config.tls_server_name = Some(name.to_owned());
        let client = kube::Client::try_from(config.clone()).expect("a client");
        assert_eq!(client.apiserver_version().await.is_ok(), is_known, "{name}");
    }
    config.tls_server_name = None;
    let client = kube::Client::try_from(config).expect("a client");
    let request = http::Request::get("/api").body(Vec::new()).expect("a request");
    let versions = client.request_text(request).await.expect("an answer");
    assert!(versions.contains("\"serverAddress\":\"api.test:"), "{versions}");
    drop(program.child.stdin.take());
    program.end();
}

#[cfg(unix)]
#[test]
fn signals_end_it() {
    for signal in ["-TERM", "-INT"] {
        let mut program = Program::start(&["--secure-port=0"]);
        program.ready();
        let id = program.child.id().to_string();
        assert!(std::process::Command::new("kill").args([signal, &id]).status().expect("kill").success());
        program.end();
    }
}

/// A line of the log for a request has what kube-apiserver's has.
#[test]
fn a_request_has_a_line_with_its_client() {
    let arguments = ["--secure-port=0", "--insecure-port=0", "--exit-with-stdin", "-v=3"];
    let mut program = Program::with(&arguments, Stdio::piped(), Stdio::piped());
    let mut log = program.child.stderr.take().expect("a pipe");
    let urls = program.ready();
    ask(&urls[1], "/api?x=1", "User-Agent: me\r\nContent-Type: a/b\r\n");
    drop(program.child.stdin.take());
    program.end();
    let mut text = String::new();
    log.read_to_string(&mut text).expect("text");
    let line = text.lines().find(|line| line.contains("HTTP verb=\"GET\" URI=\"/api?x=1\" latency=")).expect(&text);
    let parts = ["userAgent=\"me\" contentType=\"a/b\" audit-ID=\"", "\" srcIP=\"127.0.0.1:", "\" resp=403"];
    assert!(parts.iter().all(|part| line.contains(part)), "{line}");
}
