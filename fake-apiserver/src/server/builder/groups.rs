//! The parts of a description that belong together, as the builder's calls describe them.

use crate::audit::AuditOptions;
use crate::http::{AllowedLabels, Limits};
use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// The default number of events that are kept.
const DEFAULT_HISTORY: usize = 10_000;
/// The default memory of these events, in bytes.
const DEFAULT_HISTORY_BYTES: usize = 256 * 1024 * 1024;
/// Upstream's default of `--request-timeout`.
const DEFAULT_REQUEST_TIMEOUT: Duration = Duration::from_secs(60);
/// Upstream's default of `--min-request-timeout`.
const DEFAULT_MIN_REQUEST_TIMEOUT: Duration = Duration::from_secs(1800);

/// The ports, and the certificate of those with TLS.
pub(super) struct Ports {
    pub(super) address: IpAddr,
    pub(super) secure: Option<u16>,
    pub(super) insecure: Option<u16>,
    /// The certificate and its key, as PEM.
    pub(super) identity: Option<(String, String)>,
    pub(super) cert_dir: Option<PathBuf>,
    /// The header `Strict-Transport-Security`.
    pub(super) transport_security: Option<http::HeaderValue>,
}

impl Default for Ports {
    fn default() -> Self {
        Ports {
            address: Ipv4Addr::LOCALHOST.into(),
            secure: Some(0),
            insecure: None,
            identity: None,
            cert_dir: None,
            transport_security: None,
        }
    }
}

/// The limits and options of serving requests.
pub(super) struct Serving {
    pub(super) timeout: Duration,
    pub(super) min_timeout: Duration,
    pub(super) patient: bool,
    pub(super) write_latency: Duration,
    pub(super) limits: Limits,
    pub(super) cors_allowed_origins: Vec<String>,
    pub(super) goaway_chance: f64,
    pub(super) allowed_labels: Arc<AllowedLabels>,
}

impl Default for Serving {
    fn default() -> Self {
        Serving {
            timeout: DEFAULT_REQUEST_TIMEOUT,
            min_timeout: DEFAULT_MIN_REQUEST_TIMEOUT,
            patient: false,
            write_latency: Duration::ZERO,
            limits: Limits::default(),
            cors_allowed_origins: Vec::new(),
            goaway_chance: 0.0,
            allowed_labels: Arc::default(),
        }
    }
}

/// The records of requests and of what becomes of them.
#[derive(Default)]
pub(super) struct Noted {
    /// Whether they are recorded in memory.
    pub(super) requests: bool,
    /// The file of a recording.
    pub(super) recording: Option<PathBuf>,
    /// Whether it is counted what rules decide.
    pub(super) coverage: bool,
    pub(super) audit: AuditOptions,
}

/// The reconcilers that can be turned off, or on.
pub(super) struct BuiltIn {
    pub(super) namespaces: bool,
    pub(super) cluster_roles: bool,
    pub(super) policy_status: bool,
}

impl Default for BuiltIn {
    fn default() -> Self {
        BuiltIn { namespaces: true, cluster_roles: true, policy_status: false }
    }
}

/// The first content of the store, and the past that is kept.
pub(super) struct Content {
    /// The number of events, and their memory in bytes.
    pub(super) history: usize,
    pub(super) history_bytes: usize,
    /// The state of another server.
    pub(super) state: Option<Vec<u8>>,
    /// The objects of another cluster.
    pub(super) loaded: Vec<tree::Value>,
}

impl Default for Content {
    fn default() -> Self {
        let (history, history_bytes) = (DEFAULT_HISTORY, DEFAULT_HISTORY_BYTES);
        Content { history, history_bytes, state: None, loaded: Vec::new() }
    }
}
