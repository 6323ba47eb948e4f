//! Command lines, and the servers that they describe.

use super::*;

fn parse(arguments: &[&str]) -> Result<Flags, String> {
    Flags::from_arguments(arguments.iter().copied())
}

#[test]
fn no_flags() {
    let flags = parse(&[]).unwrap();
    assert_eq!((flags.bind_address.to_string().as_str(), flags.secure_port), ("127.0.0.1", 6443));
    assert_eq!((flags.anonymous_auth, flags.replicas, flags.verbosity), (None, None, 0));
}

#[test]
fn spelled_as_for_kube_apiserver() {
    for (argument, expected) in [
        ("--anonymous-auth", Some(true)),
        ("--anonymous-auth=true", Some(true)),
        ("--anonymous-auth=false", Some(false)),
        ("--anonymous-auth=0", Some(false)),
        ("--anonymous-auth=T", Some(true)),
    ] {
        assert_eq!(parse(&[argument]).unwrap().anonymous_auth, expected, "{argument}");
    }
    for arguments in [&["-v", "4"][..], &["-v4"], &["-v=4"], &["--v=4"], &["--v", "4"]] {
        assert_eq!(parse(arguments).unwrap().verbosity, 4, "{arguments:?}");
    }
    for (text, expected) in [("1h", 3600), ("24h", 86_400), ("1h30m", 5400), ("0", 0)] {
        let flags = parse(&["--service-account-max-token-expiration", text]).unwrap();
        assert_eq!(flags.service_account_max_token_expiration, Some(expected), "{text}");
    }
    let flags = parse(&["--service-account-issuer=https://a", "--service-account-issuer", "b,c"]).unwrap();
    assert_eq!(flags.service_account_issuer, ["https://a", "b,c"]);
    assert_eq!(parse(&["--api-audiences=a,b", "--api-audiences=c"]).unwrap().api_audiences, ["a", "b", "c"]);
    let flags =
        parse(&["--clock-offset=0=-30", "--clock-offset", "1=+7", "--clock-offset=2=-2m", "--clock-offset=3=1h"]);
    assert_eq!(flags.unwrap().clock_offset, [(0, -30), (1, 7), (2, -120), (3, 3600)]);
    for wrong in ["0=x", "0=1500ms", "0=", "0=--1s", "-1=1s", "x"] {
        assert!(parse(&[&format!("--clock-offset={wrong}")]).is_err(), "{wrong}");
    }
    for arguments in
        [&["--authorization-mode=AlwaysDeny,AlwaysAllow"][..], &["--authorization-mode", "AlwaysDeny,AlwaysAllow"]]
    {
        let modes = parse(arguments).unwrap().authorization_mode;
        assert_eq!(modes, [AuthorizationMode::AlwaysDeny, AuthorizationMode::AlwaysAllow]);
    }
}

#[test]
fn ranges_of_ports() {
    for (text, expected) in [("30000-32767", 30000..=32767), ("30000+10", 30000..=30010), ("30000", 30000..=30000)] {
        let flags = parse(&["--service-node-port-range", text]).unwrap();
        assert_eq!(flags.service_node_port_range, Some(expected), "{text}");
    }
    for text in ["", "x", "2-1", "1-70000", "65535+1", "1-2+3"] {
        assert!(parse(&[&format!("--service-node-port-range={text}")]).is_err(), "{text}");
    }
}

#[test]
fn addresses_of_services() {
    let flags = parse(&["--resolve-service", "a/b:443=127.0.0.1:8443", "--resolve-service=a/c:1=[::1]:2"]).unwrap();
    let found: Vec<_> =
        flags.resolve_service.iter().map(|one| (&*one.name, one.port, one.address.to_string())).collect();
    assert_eq!(found, [("b", 443, "127.0.0.1:8443".to_owned()), ("c", 1, "[::1]:2".to_owned())]);
    for text in ["", "a/b=127.0.0.1:1", "b:1=127.0.0.1:1", "a/b:1", "a/b:x=127.0.0.1:1", "a/b:1=host:1"] {
        assert!(parse(&[&format!("--resolve-service={text}")]).is_err(), "{text}");
    }
}

#[test]
fn refusals_are_one_line() {
    const MODES: &str = "for '--authorization-mode <MODES>': authorization-mode";
    const EXPIRATION: &str = "for '--service-account-max-token-expiration <DURATION>'";
    for (argument, expected) in [
        ("--foo", "error: unexpected argument '--foo' found".to_string()),
        (
            "--secure-prt=1",
            "error: unexpected argument '--secure-prt' found (tip: a similar argument exists: '--secure-port')"
                .to_string(),
        ),
        (
            "--secure-port=x",
            "error: invalid value 'x' for '--secure-port <PORT>': invalid digit found in string".into(),
        ),
        (
            "--anonymous-auth=maybe",
            "error: invalid value 'maybe' for '--anonymous-auth[=<BOOL>]': neither true nor false".into(),
        ),
        (
            "--authorization-mode=AlwaysAllow,abac",
            format!("error: invalid value 'abac' {MODES} \"abac\" is not a valid mode"),
        ),
        ("--authorization-mode=rbac", format!("error: invalid value 'rbac' {MODES} \"rbac\" is not a valid mode")),
        (
            "--tls-cert-file=x",
            "error: the following required arguments were not provided: --tls-private-key-file <FILE>".into(),
        ),
        (
            "--feature-gates=BoundServiceAccountTokenVolume=false,Foo=true",
            "error: invalid value 'Foo=true' for '--feature-gates <GATE=BOOL>': \
             unrecognized feature gate: Foo"
                .into(),
        ),
        (
            "--service-account-max-token-expiration=5m",
            format!("error: invalid value '5m' {EXPIRATION}: must be between 1 hour and 2^32 seconds"),
        ),
        (
            "--service-account-max-token-expiration=-1h",
            format!("error: invalid value '-1h' {EXPIRATION}: not a duration such as 24h"),
        ),
        (
            "--request-timeout=-1s",
            "error: invalid value '-1s' for '--request-timeout <DURATION>': not a duration such as 30s".into(),
        ),
        (
            "--clock-offset=1",
            "error: invalid value '1' for '--clock-offset <REPLICA=DURATION>': not REPLICA=DURATION, such as 1=-30s"
                .into(),
        ),
    ] {
        assert_eq!(parse(&[argument]).err(), Some(expected), "{argument}");
    }
}

#[tokio::test]
async fn plugins_that_there_are_not() {
    let flags = parse(&["--enable-admission-plugins=ServiceAccount,ImagePolicyWebhook"]).unwrap();
    let error = flags.builder().unwrap().start().await.err().unwrap();
    assert_eq!(error.to_string(), "fake-apiserver does not have the admission plugin ImagePolicyWebhook");
}

#[test]
fn files_that_cannot_be_read() {
    let error = parse(&["--token-auth-file=/nope/tokens.csv"]).unwrap().builder().err().unwrap();
    assert_eq!(
        format!("{error:#}"),
        "unable to read --token-auth-file /nope/tokens.csv: No such file or directory (os error 2)"
    );
}

#[test]
fn stages_that_are_not_supported_are_refused_with_their_line() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("stages.yaml");
    let stage =
        "apiVersion: kwok.x-k8s.io/v1alpha1\nkind: Stage\nmetadata: {name: a}\nspec:\n  resourceRef: {kind: Job}\n";
    std::fs::write(&file, stage).unwrap();
    let argument = format!("--stages={}", file.display());
    let error = parse(&[&argument]).unwrap().builder().err().unwrap();
    let expected = "spec.resourceRef: stages of Job are not supported: only those of Pod and Node in v1";
    assert_eq!(error.to_string(), format!("--stages {}:5: {expected}", file.display()));
}
