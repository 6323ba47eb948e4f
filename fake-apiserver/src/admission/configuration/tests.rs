//! Configurations that the real server (v1.37.1) refuses, with its words.

use super::super::config::Config;
use super::*;
use crate::admission::chain;

const HEAD: &str = "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n";

/// The error of a server with that file and plugin; "" if it starts.
fn error(file: &str, enabled: &str) -> String {
    let path = Path::new("/folder/file.yaml");
    let configuration = match Configuration::parse(file, Path::new("/folder"), path) {
        Ok(configuration) => configuration,
        Err(why) => return why,
    };
    let enabled = enabled.split_terminator(',').map(str::to_owned).collect();
    let config = Config { enabled, configuration, ..Config::default() };
    let error = chain(&config).err().map(|error| error.to_string()).unwrap_or_default();
    error.strip_prefix("failed to apply admission: ").unwrap_or(&error).to_owned()
}

/// A file with a configuration of one plugin.
fn of(plugin: &str, own: &str) -> String {
    let own: String = own.lines().map(|line| format!("    {line}\n")).collect();
    format!("{HEAD}- name: {plugin}\n  configuration:\n{own}")
}

#[test]
fn files_are_refused_in_the_real_servers_words() {
    const STRUCT: &str =
        r#"struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }"#;
    let scheme = "in scheme \"pkg/runtime/scheme.go:111\"";
    for (file, expected) in [
        ("", "Object 'Kind' is missing in ''".to_owned()),
        ("a: b: c", "yaml: mapping values are not allowed in this context".into()),
        ("- a\n", format!("couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type {STRUCT}")),
        ("apiVersion: v1\nkind: Pod\n", format!("no kind \"Pod\" is registered for version \"v1\" {scheme}")),
        (
            "apiVersion: apiserver.config.k8s.io/v1\nkind: PodSecurityConfiguration\n",
            format!("no kind \"PodSecurityConfiguration\" is registered for version \"apiserver.config.k8s.io/v1\" {scheme}"),
        ),
        ("apiVersion: apiserver.k8s.io/v1alpha1\nkind: AdmissionConfiguration\nplugins: []\n", String::new()),
        (
            "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nodd: 1\nplugins:\n- name: a\n  path: ''\n  x: 1\n",
            "strict decoding error: unknown field \"odd\", unknown field \"plugins[0].x\"".into(),
        ),
        (
            "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins: x\n",
            "json: cannot unmarshal string into Go struct field AdmissionConfiguration.plugins of type []v1.AdmissionPluginConfiguration".into(),
        ),
        (
            &format!("{HEAD}- name: 5\n"),
            "json: cannot unmarshal number into Go struct field AdmissionPluginConfiguration.plugins.name of type string".into(),
        ),
        (&format!("{HEAD}- name: Odd\n  path: /nonexistent\n"), String::new()),
        (
            &format!("{HEAD}- name: PodSecurity\n  path: none.yaml\n"),
            "Couldn't open admission plugin configuration /folder/none.yaml: no such file or directory".into(),
        ),
        (HEAD, String::new()),
        (&format!("{HEAD}- name: PodSecurity\n  configuration: null\n"), String::new()),
        ("podNodeSelectorPluginConfig:\n  a: b\n", String::new()),
        ("imagePolicy: {}\n", String::new()),
    ] {
        assert_eq!(error(file, ""), expected, "{file}");
    }
}

#[test]
fn configurations_of_plugins_are_refused_in_the_real_servers_words() {
    const SECURITY: &str = "apiVersion: pod-security.admission.config.k8s.io/v1\nkind: PodSecurityConfiguration\n";
    const RATES: &str = "apiVersion: eventratelimit.admission.k8s.io/v1alpha1\nkind: Configuration\n";
    const TOLERATIONS: &str = "apiVersion: podtolerationrestriction.admission.k8s.io/v1alpha1\nkind: Configuration\n";
    for (plugin, own, expected) in [
        ("PodSecurity", "{}", "couldn't init admission plugin \"PodSecurity\": Object 'Kind' is missing in '{}'"),
        (
            "PodSecurity",
            "kind: PodSecurityConfiguration",
            "couldn't init admission plugin \"PodSecurity\": Object 'apiVersion' is missing in '{\"kind\":\"PodSecurityConfiguration\"}'",
        ),
        (
            "PodSecurity",
            &format!("{SECURITY}odd: 1\ndefaults:\n  x: y"),
            "couldn't init admission plugin \"PodSecurity\": strict decoding error: unknown field \"defaults.x\", unknown field \"odd\"",
        ),
        (
            "PodSecurity",
            &format!("{SECURITY}defaults: 5"),
            "couldn't init admission plugin \"PodSecurity\": json: cannot unmarshal number into Go struct field PodSecurityConfiguration.defaults of type v1.PodSecurityDefaults",
        ),
        (
            "PodSecurity",
            &format!("{SECURITY}exemptions:\n  usernames: a"),
            "couldn't init admission plugin \"PodSecurity\": json: cannot unmarshal string into Go struct field PodSecurityExemptions.exemptions.usernames of type []string",
        ),
        (
            "PodSecurity",
            &format!(
                "{SECURITY}defaults:\n  enforce: a\n  enforce-version: b\n  warn: c\n  warn-version: v1.x\n  audit: x\n  audit-version: d"
            ),
            "failed to initialize admission plugin \"PodSecurity\": PodSecurity configuration error: [enforce: must be one of privileged, baseline, restricted, enforce-version: must be \"latest\" or \"v1.x\", audit: must be one of privileged, baseline, restricted, audit-version: must be \"latest\" or \"v1.x\", warn: must be one of privileged, baseline, restricted, warn-version: must be \"latest\" or \"v1.x\"]",
        ),
        (
            "PodSecurity",
            &format!("{SECURITY}exemptions:\n  namespaces: [a, a]\n  usernames: ['', b, b]\n  runtimeClasses: [c, c]"),
            "failed to initialize admission plugin \"PodSecurity\": PodSecurity invalid: [exemptions.namespaces[1]: Duplicate value: \"a\", exemptions.runtimeClasses[1]: Duplicate value: \"c\", exemptions.usernames[0]: Invalid value: \"\": username must not be empty, exemptions.usernames[2]: Duplicate value: \"b\"]",
        ),
        (
            "EventRateLimit",
            RATES,
            "couldn't init admission plugin \"EventRateLimit\": limits: Invalid value: null: must not be empty",
        ),
        (
            "EventRateLimit",
            &format!(
                "{RATES}limits:\n- type: Odd\n  qps: 0\n  burst: -1\n- type: Server\n  qps: 1\n  burst: 1\n  cacheSize: -1\n- type: User\n  qps: 1\n  burst: 1\n  cacheSize: -1"
            ),
            "couldn't init admission plugin \"EventRateLimit\": [limits[0].type: Unsupported value: \"Odd\": supported values: \"Server\", \"Namespace\", \"User\", \"SourceAndObject\", limits[0].burst: Invalid value: -1: must be positive, limits[0].qps: Invalid value: 0: must be positive, limits[2].cacheSize: Invalid value: -1: must not be negative]",
        ),
        ("EventRateLimit", &format!("{RATES}odd: 1\nlimits:\n- type: Server\n  qps: 1\n  burst: 1\n  x: 1"), ""),
        (
            "EventRateLimit",
            &format!("{RATES}limits:\n- type: Server\n  qps: x\n  burst: 1.5"),
            "couldn't init admission plugin \"EventRateLimit\": json: cannot unmarshal number 1.5 into Go struct field Limit.limits.burst of type int32",
        ),
        ("PodTolerationRestriction", &format!("{TOLERATIONS}odd: 1"), ""),
        (
            "PodTolerationRestriction",
            &format!("{TOLERATIONS}default:\n- operator: Odd\n  key: x\nwhitelist:\n- key: k\n  tolerationSeconds: 5"),
            "couldn't init admission plugin \"PodTolerationRestriction\": invalid config: [podtolerationrestriction.default[0].operator: Unsupported value: \"Odd\": supported values: \"Equal\", \"Exists\" podtolerationrestriction.whitelist[0].effect: Invalid value: \"\": effect must be 'NoExecute' when `tolerationSeconds` is set]",
        ),
        ("PodNodeSelector", "podNodeSelectorPluginConfig: 5", ""),
    ] {
        let enabled = if plugin == "PodSecurity" { "" } else { plugin };
        assert_eq!(error(&of(plugin, own), enabled), expected, "{plugin} {own}");
    }
    assert_eq!(
        error(HEAD, "EventRateLimit"),
        "couldn't init admission plugin \"EventRateLimit\": limits: Invalid value: null: must not be empty"
    );
}

#[test]
fn kubeconfigs_for_webhooks_are_refused_in_the_real_servers_words() {
    const WEBHOOKS: &str = "apiVersion: apiserver.config.k8s.io/v1\nkind: WebhookAdmissionConfiguration\n";
    const STRUCT: &str =
        r#"struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }"#;
    let scheme = "in scheme \"pkg/runtime/scheme.go:111\"";
    let own = |own: &str, expected: &str| {
        let made = |plugin: &str| match expected {
            "" => String::new(),
            expected => format!("couldn't init admission plugin {plugin:?}: {expected}"),
        };
        for plugin in ["MutatingAdmissionWebhook", "ValidatingAdmissionWebhook"] {
            assert_eq!(error(&of(plugin, own), ""), made(plugin), "{own}");
        }
    };
    own("kubeConfigFile: /x", "Object 'Kind' is missing in '{\"kubeConfigFile\":\"/x\"}'");
    own(
        "apiVersion: apiserver.config.k8s.io/v1alpha1\nkind: WebhookAdmission\nkubeConfigFile: /x",
        &format!(
            "no kind \"WebhookAdmission\" is registered for version \"apiserver.config.k8s.io/v1alpha1\" {scheme}"
        ),
    );
    own(&format!("{WEBHOOKS}odd: rel"), "strict decoding error: unknown field \"odd\"");
    own(
        &format!("{WEBHOOKS}kubeConfigFile: rel/path"),
        "kubeConfigFile: Invalid value: \"rel/path\": must be an absolute file path",
    );
    own(&format!("{WEBHOOKS}kubeConfigFile: /none/kc"), "stat /none/kc: no such file or directory");
    own(WEBHOOKS, "");

    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().display();
    for (kubeconfig, expected) in [
        ("", String::new()),
        ("users:\n- name: a\n  user: {token: b, odd: c}\nodd: 1\n", String::new()),
        ("apiVersion: v1\nkind: Config\nusers: null\n", String::new()),
        ("a: b: c", "yaml: mapping values are not allowed in this context".into()),
        ("kind: Pod\napiVersion: v1\n", format!("no kind \"Pod\" is registered for version \"v1\" {scheme}")),
        ("kind: Config\napiVersion: v2\n", format!("no kind \"Config\" is registered for version \"v2\" {scheme}")),
        (
            "users: 5\n",
            "json: cannot unmarshal number into Go struct field Config.users of type []v1.NamedAuthInfo".into(),
        ),
        ("users:\n- name: a\n  user: {client-key-data: '%%'}\n", "illegal base64 data at input byte 0".into()),
        (
            "- a\n",
            format!(
                "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type {STRUCT}"
            ),
        ),
    ] {
        std::fs::write(file.path(), kubeconfig).unwrap();
        let expected = match &*expected {
            "" => String::new(),
            expected => format!("error loading config file \"{path}\": {expected}"),
        };
        own(&format!("{WEBHOOKS}kubeConfigFile: {path}"), &expected);
    }
}
