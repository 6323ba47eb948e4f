//! The folder of `fake-apiserver assets`: its programs start as envtest of controller-runtime starts them.

#![cfg(unix)]

use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Runs a program, which must succeed, and returns its output.
fn output(program: impl AsRef<Path>, arguments: &[&str]) -> String {
    let output = Command::new(program.as_ref()).args(arguments).output().expect("the program starts");
    assert!(output.status.success(), "{}: {output:?}", program.as_ref().display());
    String::from_utf8(output.stdout).expect("text")
}

/// A free port.
fn port() -> u16 {
    TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port()
}

/// A running program, killed when a test leaves it behind.
struct Program(Child);

impl Program {
    fn start(program: &Path, arguments: &[String]) -> Program {
        let mut command = Command::new(program);
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        Program(command.spawn().expect("the program starts"))
    }

    /// Ends it as envtest does.
    fn terminate(mut self) {
        let id = self.0.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().expect("kill").success());
        assert!(self.0.wait().expect("an end").success());
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if self.0.try_wait().is_ok_and(|status| status.is_none()) {
            self.0.kill().expect("a running program can be killed");
        }
    }
}

/// The first line of a stream.
fn line(stream: impl Read) -> String {
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).expect("text");
    line
}

fn authority() -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.distinguished_name.push(DnType::CommonName, "envtest-environment");
    CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("an authority")
}

/// The files that envtest puts into the folder of certificates, and the administrator's beside them.
fn certificates(folder: &Path) {
    let write = |name: &str, text: &str| fs::write(folder.join(name), text).expect("a file");
    let (serving, clients, tokens) = (authority(), authority(), authority());
    let key = KeyPair::generate().expect("a key");
    let mut params = CertificateParams::new(["localhost".to_owned(), "127.0.0.1".to_owned()]).expect("names");
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    write("serving-ca.crt", &serving.pem());
    write("apiserver.crt", &params.signed_by(&key, &serving).expect("a certificate").pem());
    write("apiserver.key", &key.serialize_pem());
    write("sa-signer.crt", &tokens.pem());
    write("sa-signer.key", &tokens.key().serialize_pem());
    write("client-cert-auth-ca.crt", &clients.pem());
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, "admin");
    params.distinguished_name.push(DnType::OrganizationName, "system:masters");
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    write("admin.crt", &params.signed_by(&key, &clients).expect("a certificate").pem());
    write("admin.key", &key.serialize_pem());
}

/// A client with the administrator's certificate, or without credentials.
async fn client(folder: &Path, port: u16, is_admin: bool) -> Client {
    let user = match is_admin {
        true => format!("client-certificate: {0}/admin.crt, client-key: {0}/admin.key", folder.display()),
        false => String::new(),
    };
    let kubeconfig = format!(
        "clusters: [{{name: c, cluster: {{server: 'https://127.0.0.1:{port}/', certificate-authority: {}/serving-ca.crt}}}}]\n\
         users: [{{name: u, user: {{{user}}}}}]\n\
         contexts: [{{name: x, context: {{cluster: c, user: u}}}}]\n\
         current-context: x\n",
        folder.display()
    );
    let kubeconfig = Kubeconfig::from_yaml(&kubeconfig).expect("a kubeconfig");
    let config = kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
    Client::try_from(config.expect("a sound kubeconfig")).expect("a client")
}

#[test]
fn the_folder_is_made_by_many_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = format!("--dir={}", folder.path().join("assets").display());
    let make = || output(env!("CARGO_BIN_EXE_fake-apiserver"), &["assets", &dir]);
    let printed: Vec<String> = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..8).map(|_| scope.spawn(make)).collect();
        runs.into_iter().map(|run| run.join().expect("no panic")).collect()
    });
    assert!(printed.iter().all(|one| *one == printed[0]), "{printed:?}");
    let folder = Path::new(printed[0].trim_end());
    let mut names: Vec<_> =
        fs::read_dir(folder).expect("a folder").map(|file| file.expect("one").file_name()).collect();
    names.sort();
    assert_eq!(names, ["etcd", "kube-apiserver", "kubectl"]);
    assert_eq!(output(folder.join("kube-apiserver"), &["--version"]), "Kubernetes v1.37.1\n");
}

/// envtest opens a plain port if the help lists a flag for it.
#[test]
fn the_help_has_no_insecure_port() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = format!("--dir={}", folder.path().display());
    output(env!("CARGO_BIN_EXE_fake-apiserver"), &["assets", &dir]);
    for program in ["kube-apiserver", "etcd"] {
        let help = output(folder.path().join(program), &["--help"]);
        assert!(!help.lines().any(|line| line.trim_start().starts_with("--insecure-port")), "{help}");
    }
    let refused =
        Command::new(folder.path().join("kube-apiserver")).arg("--insecure-port=0").output().expect("it runs");
    assert_eq!(String::from_utf8_lossy(&refused.stderr), "Error: unknown flag: --insecure-port\n");
    assert_eq!(refused.status.code(), Some(1));
}

/// A folder with the script `kubectl`, in `folder`.
fn with_kubectl(folder: &Path) -> PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let (path, script) = (folder.join("bin"), folder.join("bin/kubectl"));
    fs::create_dir(&path).expect("a folder");
    fs::write(&script, "#!/bin/sh\necho \"found $1\"\n").expect("a file");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("a file");
    path
}

/// Makes a folder by a build of the program while PATH is what is given.
fn make(program: &Path, folder: &Path, path: &[&Path]) {
    let mut command = Command::new(program);
    command.arg("assets").arg(format!("--dir={}", folder.display()));
    command.env("PATH", std::env::join_paths(path).expect("a path"));
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "{output:?}");
}

/// Suites start it without any environment.
#[test]
fn the_kubectl_is_the_one_that_was_on_the_path() {
    let folder = tempfile::tempdir().expect("a folder");
    let (assets, path) = (folder.path().join("assets"), with_kubectl(folder.path()));
    for _ in 0..2 {
        make(env!("CARGO_BIN_EXE_fake-apiserver").as_ref(), &assets, &[&assets, &path]);
        let output = Command::new(assets.join("kubectl")).arg("version").env_clear().output().expect("it runs");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "found version\n");
    }
}

/// Folders that two builds of the program have made, before kubectl was installed, do not lead to each other.
#[test]
fn two_folders_do_not_run_each_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let other = folder.path().join("another-build");
    fs::copy(env!("CARGO_BIN_EXE_fake-apiserver"), &other).expect("a copy");
    let folders = [folder.path().join("one"), folder.path().join("two")];
    let all: Vec<&Path> = folders.iter().map(PathBuf::as_path).collect();
    for (program, folder) in [Path::new(env!("CARGO_BIN_EXE_fake-apiserver")), &other].into_iter().zip(&folders) {
        make(program, folder, &all);
        // As if there had been none.
        let kubectl = folder.join("kubectl");
        fs::remove_file(&kubectl).expect("a file");
        std::os::unix::fs::symlink(program, kubectl).expect("a link");
    }
    let path = with_kubectl(folder.path());
    let search = std::env::join_paths(all.into_iter().chain([&*path])).expect("a path");
    for folder in &folders {
        let run = Command::new(folder.join("kubectl")).arg("version").env("PATH", &search).output().expect("it runs");
        assert_eq!(String::from_utf8_lossy(&run.stdout), "found version\n", "{run:?}");
    }
}

/// Links to two builds under the name of kubectl, wherever they are, are told from one that is installed once they have run each other.
#[test]
fn programs_in_disguise_say_that_there_is_no_kubectl() {
    let folder = tempfile::tempdir().expect("a folder");
    let other = folder.path().join("another-build");
    // A program that is still open for writing in a process that another test has begun could not be run.
    let copy = Command::new("cp").arg(env!("CARGO_BIN_EXE_fake-apiserver")).arg(&other).status().expect("it runs");
    assert!(copy.success());
    let places = [(Path::new(env!("CARGO_BIN_EXE_fake-apiserver")), "one"), (&other, "two")].map(|(program, name)| {
        let place = folder.path().join(name);
        fs::create_dir(&place).expect("a folder");
        std::os::unix::fs::symlink(program, place.join("kubectl")).expect("a link");
        place
    });
    let search = std::env::join_paths(&places).expect("a path");
    let run = Command::new(places[0].join("kubectl")).env("PATH", &search).output().expect("it runs");
    assert_eq!(run.status.code(), Some(1));
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(said.contains("there is no kubectl on PATH") && said.contains("install kubectl"), "{said}");
}

// Waiting for the programs must not block the client.
#[tokio::test(flavor = "multi_thread")]
async fn the_programs_start_with_the_flags_of_envtest() {
    let folder = tempfile::tempdir().expect("a folder");
    let assets = folder.path().join("assets");
    output(env!("CARGO_BIN_EXE_fake-apiserver"), &["assets", "--dir", assets.to_str().expect("text")]);
    let (etcd_port, peers, secure_port) = (port(), port(), port());

    let data = folder.path().join("data");
    let arguments = [
        format!("--advertise-client-urls=http://127.0.0.1:{etcd_port}"),
        format!("--data-dir={}", data.display()),
        format!("--listen-client-urls=http://127.0.0.1:{etcd_port}"),
        format!("--listen-peer-urls=http://127.0.0.1:{peers}"),
        "--unsafe-no-fsync=true".to_owned(),
    ];
    let mut etcd = Program::start(&assets.join("etcd"), &arguments);
    line(etcd.0.stderr.take().expect("a pipe"));
    let mut stream = TcpStream::connect(("127.0.0.1", etcd_port)).expect("it listens");
    stream.write_all(b"GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").expect("written");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("text");
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.contains(r#""health":"true""#), "{answer}");

    let cert_dir = folder.path().join("certificates");
    fs::create_dir(&cert_dir).expect("a folder");
    certificates(&cert_dir);
    let in_folder = |name: &str| cert_dir.join(name).display().to_string();
    let arguments = [
        "--allow-privileged=true".to_owned(),
        "--authorization-mode=RBAC".to_owned(),
        "--bind-address=127.0.0.1".to_owned(),
        format!("--cert-dir={}", cert_dir.display()),
        format!("--client-ca-file={}", in_folder("client-cert-auth-ca.crt")),
        "--disable-admission-plugins=ServiceAccount".to_owned(),
        format!("--etcd-servers=http://127.0.0.1:{etcd_port}"),
        format!("--secure-port={secure_port}"),
        format!("--service-account-issuer=https://127.0.0.1:{secure_port}/"),
        format!("--service-account-key-file={}", in_folder("sa-signer.crt")),
        format!("--service-account-signing-key-file={}", in_folder("sa-signer.key")),
        "--service-cluster-ip-range=10.0.0.0/24".to_owned(),
        // A flag that is added behind its default.
        "--service-cluster-ip-range=10.1.0.0/24".to_owned(),
        "--disable-admission-plugins=".to_owned(),
    ];
    let mut server = Program::start(&assets.join("kube-apiserver"), &arguments);
    let ready = line(server.0.stdout.take().expect("a pipe"));
    assert!(ready.starts_with("ready "), "{ready}");

    let anonymous = client(&cert_dir, secure_port, false).await;
    let health = http::Request::get("/healthz").body(Vec::new()).expect("a request");
    assert_eq!(anonymous.request_text(health).await.expect("it is well"), "ok");
    assert!(Api::<Namespace>::all(anonymous).get("default").await.is_err());
    let admin = client(&cert_dir, secure_port, true).await;
    Api::<Namespace>::all(admin.clone()).get("default").await.expect("the first namespace");
    let map = serde_json::from_str(r#"{"metadata": {"name": "a"}}"#).expect("a config map");
    let maps = Api::<ConfigMap>::namespaced(admin.clone(), "default");
    maps.create(&kube::api::PostParams::default(), &map).await.expect("created");

    // There is no controller that would remove a namespace.
    let other = serde_json::from_str(r#"{"metadata": {"name": "other"}}"#).expect("a namespace");
    let namespaces = Api::<Namespace>::all(admin);
    namespaces.create(&kube::api::PostParams::default(), &other).await.expect("created");
    namespaces.delete("other", &kube::api::DeleteParams::default()).await.expect("deleted");
    let phase = namespaces.get("other").await.expect("still there").status.and_then(|status| status.phase);
    assert_eq!(phase.as_deref(), Some("Terminating"));
    server.terminate();
    etcd.terminate();
}

/// A folder without a certificate gets one, and a server that finds it serves with it.
#[test]
fn a_serving_certificate_is_made_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let cert_dir = folder.path().join("made");
    let serve = || {
        let arguments = [format!("--cert-dir={}", cert_dir.display()), "--secure-port=0".to_owned()];
        let mut server = Program::start(Path::new(env!("CARGO_BIN_EXE_fake-apiserver")), &arguments);
        assert!(line(server.0.stdout.take().expect("a pipe")).starts_with("ready "));
        server.terminate();
        ["apiserver.crt", "apiserver.key"].map(|name| fs::read_to_string(cert_dir.join(name)).expect("a file"))
    };
    let first = serve();
    assert_eq!(first[0].matches("BEGIN CERTIFICATE").count(), 2);
    assert_eq!(serve(), first);
}
