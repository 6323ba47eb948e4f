//! Tools of the server, which loops need beside objects.

use crate::nodes::{Rules, Stages};
use crate::resource::Resource;
use jiff::Timestamp;
use std::sync::Arc;
use std::time::Duration;
use tree::{Map, Value};

/// The server, as loops need it.
#[derive(Clone, Default)]
pub struct Tools {
    /// Who measures what objects use; without it quotas have no status.
    pub measure: Option<Arc<dyn Measure>>,
    /// Who reads and signs requests for certificates; without it none are approved or signed.
    pub certificates: Option<Arc<dyn Certificates>>,
    /// The nodes that there are; `node-1` if none is named.
    pub nodes: Vec<String>,
    /// The version of Kubernetes that they tell, such as `v1.37.1`.
    pub version: String,
    /// The rules by which pods run.
    pub pods: Rules,
    /// The stages by which pods without a rule, and nodes, go through their lives.
    pub stages: Stages,
}

/// Reads requests for certificates, and signs them.
pub trait Certificates: Send + Sync {
    /// The contents of a request, which is PEM in base64.
    ///
    /// # Errors
    /// Go's words for what is wrong with it.
    fn read(&self, request: &str) -> Result<Asked, String>;

    /// The certificate for a request: PEM, in base64.
    ///
    /// # Errors
    /// Go's words for why there is none.
    fn sign(&self, order: &SigningOrder<'_>) -> Result<String, String>;
}

/// The contents of a request for a certificate.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    /// The common name: a user.
    pub common_name: String,
    /// The organizations: groups.
    pub organizations: Vec<String>,
    /// Whether there are DNS names among the alternative names.
    pub has_dns_names: bool,
    /// Whether there are addresses.
    pub has_addresses: bool,
    /// Whether there are e-mail addresses.
    pub has_emails: bool,
    /// Whether there are URIs.
    pub has_uris: bool,
}

/// A certificate that is wanted.
#[derive(Debug, Clone, Copy)]
pub struct SigningOrder<'a> {
    /// The request: PEM, in base64.
    pub request: &'a str,
    /// The usages, such as `client auth`.
    pub usages: &'a [&'a str],
    /// How long it is to be valid.
    pub lifetime: Duration,
    /// The time.
    pub now: Timestamp,
    /// A text by which its serial number is another one than those of other certificates.
    pub salt: &'a str,
}

/// Measures what objects use of quotas.
pub trait Measure: Send + Sync {
    /// The amounts that objects of the quota's namespace use of the resources in its `spec.hard`, as far as these can be measured.
    fn used(&self, quota: &Value, objects: &mut dyn Iterator<Item = (&Resource, &Arc<Value>)>, now: Timestamp) -> Map;
}
