//! Credentials that all targets share: users, their bearer tokens, and the key that service account tokens are signed with.

pub(crate) use conformance_judge::scenario::prefixes::ADMINISTRATOR;

/// The user that a kube-scheduler is on most clusters.
pub(crate) const SCHEDULER: &str = "system:kube-scheduler";

/// The users of scenarios, with their groups. Every controller is a user of its own.
pub(crate) const USERS: [(&str, &[&str]); 10] = [
    (ADMINISTRATOR, &["system:masters"]),
    ("alice", &["devs"]),
    ("system:node:node-1", &["system:nodes"]),
    ("system:node:node-2", &["system:nodes"]),
    (SCHEDULER, &[]),
    ("legacy-token-cleaner", &["system:masters"]),
    ("root-ca", &["system:masters"]),
    ("service-accounts", &["system:masters"]),
    ("tokens", &["system:masters"]),
    ("tokens-b", &["system:masters"]),
];

/// The path of the private key that every target started here signs service account tokens with.
pub(crate) const SIGNING_KEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/keys/service-account.key");

/// The flags with the authority by which every kube-controller-manager started here signs requests for certificates.
pub(crate) fn signer_flags() -> [String; 2] {
    const SIGNER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/keys/signer");
    [format!("--cluster-signing-cert-file={SIGNER}.crt"), format!("--cluster-signing-key-file={SIGNER}.key")]
}

/// The issuer and the audience of the service account tokens of every target started here.
pub(crate) const ISSUER: &str = "https://kubernetes.default.svc";

/// The bearer token that a target started here gives to one of [`USERS`].
pub(crate) fn static_token(user: &str) -> String {
    format!("{user}-token")
}
