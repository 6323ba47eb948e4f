//! Errors of starting a server.

use crate::admission::PluginError;
use crate::auth::keys::KeyError;
use crate::auth::token_file::TokenFileError;
use crate::auth::{AuthorityError, ConfigError};
use crate::commit::loaded::LoadError;
use crate::commit::saved::StateError;
use crate::server::replicas::MOST as MOST_REPLICAS;
use crate::server::tls::IdentityError;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// The greatest chance of a request to end its connection.
pub(super) const MOST_GOAWAY_CHANCE: f64 = 0.02;

/// An error of starting a server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// A port is taken, or may not be used.
    #[error("unable to listen on {address}")]
    Listen {
        /// Address and port.
        address: SocketAddr,
        /// The operating system's error.
        source: io::Error,
    },
    /// There are fewer ports behind the first one than replicas.
    #[error("{replicas} replicas do not fit into the ports from {first}")]
    Ports {
        /// Port of the first replica.
        first: u16,
        /// Number of replicas.
        replicas: usize,
    },
    /// A control plane without replicas.
    #[error("a control plane has at least one replica")]
    NoReplicas,
    /// More replicas than one process may have.
    #[error("{replicas} replicas are too many: a control plane has at most {MOST_REPLICAS}")]
    TooManyReplicas {
        /// Number of replicas.
        replicas: usize,
    },
    /// A clock offset beyond the range of times.
    #[error("a clock offset of {seconds} s for replica {replica} is outside the supported range")]
    ClockOffset {
        /// Index of the replica, from 0 on.
        replica: usize,
        /// The offset, in seconds.
        seconds: i64,
    },
    /// A clock offset for a replica that does not exist.
    #[error("clock offset: no replica {replica} among {replicas}, counted from 0")]
    NoSuchReplica {
        /// Index of the replica, from 0 on.
        replica: usize,
        /// Number of replicas.
        replicas: usize,
    },
    /// Tokens are to be generated, but the controller for that is not enabled.
    #[error("generated tokens need the controller {:?}", crate::controllers::Controller::ServiceAccountToken.name())]
    NoTokensController,
    /// A controller is not built into this server.
    #[error("the controller {:?} is one of kube-controller-manager, but is not built into this server", .0.name())]
    ControllerNotBuilt(crate::controllers::Controller),
    /// Versions or resources that are not known, or cannot be served.
    #[error("{0}")]
    RuntimeConfig(String),
    /// Addresses cannot be allocated from these ranges.
    #[error("unable to allocate cluster IPs from {ranges:?}: {why}")]
    ServiceClusterIpRange {
        /// The ranges.
        ranges: String,
        /// The reason.
        why: String,
    },
    /// There are no node ports from the one to the other.
    #[error("there are no node ports from {first} to {last}")]
    ServiceNodePortRange {
        /// The first port.
        first: u16,
        /// The last port.
        last: u16,
    },
    /// The directives cannot be a header.
    #[error("strict-transport-security-directives {directives:?} cannot be sent in a header")]
    TransportSecurity {
        /// The directives.
        directives: String,
    },
    /// The expressions of allowed origins are wrong.
    #[error("{0}")]
    CorsAllowedOrigins(String),
    /// The chance that a request ends its connection is out of its bounds.
    #[error("--goaway-chance can not be less than 0 or greater than {MOST_GOAWAY_CHANCE}")]
    GoawayChance,
    /// There is priority and fairness, and there are no seats.
    #[error(
        "invalid configuration: MaxRequestsInFlight=0 and MaxMutatingRequestsInFlight=0; they must add up to something positive"
    )]
    NoSeats,
    /// The values of labels are not given for a label of a metric.
    #[error("{0}")]
    MetricLabels(String),
    /// The serving certificate or its key cannot be used.
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// Issuers or expirations that the real server would not start with.
    #[error(transparent)]
    Authentication(#[from] ConfigError),
    /// The options of authenticators that ask others are wrong, or a file that they name is.
    #[error("{0}")]
    AuthenticationFile(String),
    /// The options of authorization are wrong, or a file that they name is.
    #[error("{0}")]
    Authorization(String),
    /// The key that signs service account tokens cannot be used.
    #[error(transparent)]
    ServiceAccountSigningKey(KeyError),
    /// A key that verifies service account tokens cannot be used.
    #[error("{source}")]
    ServiceAccountKey {
        /// Number of keys that were added before it.
        index: usize,
        /// The error of that key.
        source: KeyError,
    },
    /// The choice of admission plugins is invalid.
    #[error(transparent)]
    Admission(#[from] PluginError),
    /// The authorities of client certificates cannot be used.
    #[error(transparent)]
    ClientAuthorities(AuthorityError),
    /// The authority that signs requests for certificates cannot be used.
    #[error("the certificate and the private key that sign requests cannot be used: {0}")]
    ClusterSigning(String),
    /// The token file cannot be read.
    #[error(transparent)]
    TokenFile(TokenFileError),
    /// The options of auditing are wrong, or a file that they name is.
    #[error("{0}")]
    Audit(String),
    /// Objects of another cluster cannot be loaded.
    #[error("the objects cannot be loaded: {0}")]
    Load(#[from] LoadError),
    /// The file of the recording cannot be made.
    #[error("unable to record to {path}", path = path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// The state of another server cannot be taken over.
    #[error(transparent)]
    State(#[from] StateError),
}
