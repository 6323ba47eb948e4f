//! The errors of the program under its own name: one line that says what to do next, the code 1, and nothing left behind.

#![cfg(unix)]

mod programs;

use programs::{Program, called, port};
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Output};

const PROGRAM: &str = env!("CARGO_BIN_EXE_fake-apiserver");

/// Runs the program, which must fail, and returns the one line that it says.
#[track_caller]
fn refusal(mut command: Command) -> String {
    let Output { status, stdout, stderr } = command.output().expect("the program starts");
    let text = String::from_utf8(stderr).expect("text");
    assert_eq!((status.code(), &*stdout), (Some(1), &b""[..]), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    text.trim_end().to_owned()
}

fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(arguments);
    command
}

/// The program where no file may have any content, as on a full disk.
fn without_room(arguments: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "sh", PROGRAM]).args(arguments);
    command
}

/// The names in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder");
    entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("text")).collect()
}

#[test]
fn a_taken_port_is_said_and_no_other_is_kept() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port();
    let tip =
        "(tip: another program listens there: stop it, or choose another port; --secure-port=0 takes any free one)";
    let secure = format!("--secure-port={port}");
    let before = format!("--secure-port={}", port - 1);
    let insecure = format!("--insecure-port={port}");
    for arguments in [&[&*secure][..], &["--secure-port=0", &insecure], &[&before, "--replicas=2"]] {
        let text = refusal(program(arguments));
        let beginning = format!("error: unable to listen on 127.0.0.1:{port}: Address already in use");
        // The first port of the replicas may be another's, too.
        let is_said = text.starts_with(&beginning) || text.starts_with("error: unable to listen on 127.0.0.1:");
        assert!(is_said && text.ends_with(tip), "{arguments:?}: {text}");
    }
    let text = refusal(program(&["--bind-address=192.0.2.1", "--secure-port=0"]));
    assert!(text.ends_with("(tip: --bind-address has to be an address of this host)"), "{text}");
}

#[test]
fn a_damaged_certificate_is_said_with_what_helps() {
    let folder = tempfile::tempdir().expect("a folder");
    let flag = format!("--cert-dir={}", folder.path().display());
    let arguments = ["--secure-port=0", &flag];
    for (name, content) in
        [("apiserver.crt", &b"-----BEGIN CERTIFICATE-----\nMIIB"[..]), ("apiserver.key", b"\xff\xfe")]
    {
        fs::write(folder.path().join(name), content).expect("a file");
        let text = refusal(program(&arguments));
        let tip = match name {
            "apiserver.crt" => "(tip: restore the missing file, or remove the other one: then a new pair is made)",
            _ => {
                "(tip: give a certificate and its key; a --cert-dir without apiserver.crt and apiserver.key gets a new pair)"
            }
        };
        assert!(text.starts_with("error: ") && text.ends_with(tip), "{text}");
    }
    assert_eq!(fs::read(folder.path().join("apiserver.key")).expect("a file"), b"\xff\xfe", "nothing is overwritten");
}

#[test]
fn a_full_disk_leaves_nothing_half_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let (certificates, kubeconfig) = (folder.path().join("certificates"), folder.path().join("kubeconfig"));
    let cert_dir = format!("--cert-dir={}", certificates.display());
    let text = refusal(without_room(&["--secure-port=0", &cert_dir]));
    assert!(text.starts_with("error: unable to write the serving certificate to "), "{text}");
    assert!(
        text.ends_with("(tip: files may not be that large here: see `ulimit -f`, or name another place)"),
        "{text}"
    );
    assert_eq!(names(&certificates), [""; 0]);
    let flag = format!("--write-kubeconfig={}", kubeconfig.display());
    let text = refusal(without_room(&["--secure-port=0", &flag]));
    assert!(text.starts_with("error: unable to write --write-kubeconfig "), "{text}");
    assert_eq!(names(folder.path()), ["certificates"]);
}

#[test]
fn a_folder_of_programs_is_made_whole_or_not_at_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let taken = folder.path().join("taken");
    fs::create_dir_all(taken.join("kubectl/x")).expect("a folder");
    let flag = format!("--dir={}", taken.display());
    let mut command = program(&["assets", &flag]);
    let Output { status, stdout, stderr } = command.output().expect("the program starts");
    let said = String::from_utf8(stderr).expect("text");
    assert_eq!((status.code(), &*stdout), (Some(1), &b""[..]), "{said}");
    let errors: Vec<&str> = said.lines().filter(|line| line.starts_with("error: ")).collect();
    assert!(errors.len() == 1 && errors[0].contains("unable to make "), "{said}");
    assert_eq!(names(&taken), ["kubectl"]);
}

#[test]
fn the_second_server_of_a_state_is_told_what_to_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let port = port();
    let etcd = Program::etcd(folder.path(), port);
    let flag = format!("--etcd-servers=http://127.0.0.1:{port}");
    let arguments = ["--secure-port=0".to_owned(), flag.clone()];
    let mut first = Program::start(&called(folder.path(), "fake-apiserver"), &arguments, "");
    first.ready();
    let text = refusal(program(&["--secure-port=0", &flag]));
    assert!(text.ends_with("(tip: stop that one, or choose another --etcd-prefix)"), "{text}");
    first.terminate();
    etcd.terminate();
}

#[test]
fn a_wrong_flag_is_said_with_the_right_one() {
    let text = refusal(program(&["--secure-prot=1"]));
    assert!(text.starts_with("error: unexpected argument '--secure-prot' found (tip: "), "{text}");
    assert!(text.contains("--secure-port"), "{text}");
    assert_eq!(
        refusal(program(&["--xyz"])),
        "error: unexpected argument '--xyz' found (tip: --help lists the flags, and --help-flags those of kube-apiserver without an effect)"
    );
}

/// On a terminal, which colours are for.
#[cfg(target_os = "linux")]
#[test]
fn a_terminal_has_colours_unless_they_are_unwanted() {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use std::io::Read as _;
    for (variable, value, expected) in [
        ("TERM", "xterm", "\u{1b}[1;31merror:\u{1b}[0m a control plane has at least one replica\r\n"),
        ("NO_COLOR", "1", "error: a control plane has at least one replica\r\n"),
        ("TERM", "dumb", "error: a control plane has at least one replica\r\n"),
    ] {
        let controller = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&controller).expect("a terminal");
        unlockpt(&controller).expect("a terminal");
        let name = ptsname(&controller, Vec::new()).expect("a name").into_string().expect("text");
        let terminal = fs::File::options().read(true).write(true).open(name).expect("a terminal");
        let mut command = program(&["--replicas=0"]);
        command.env_remove("NO_COLOR").env("TERM", "xterm").env(variable, value).stderr(terminal);
        let mut child = command.spawn().expect("the program starts");
        // It holds the other end.
        drop(command);
        assert_eq!(child.wait().expect("an end").code(), Some(1));
        let mut said = [0; 1024];
        let length = fs::File::from(controller).read(&mut said).expect("text");
        assert_eq!(String::from_utf8_lossy(&said[..length]), expected, "{variable}={value}");
    }
}
