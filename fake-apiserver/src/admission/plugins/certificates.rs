//! The plugins `CertificateApproval`, `CertificateSigning`, `ClusterTrustBundleAttest` and `CertificateSubjectRestriction`: to speak for a
//! signer takes a permission of its own, and no request for a client's certificate may name the administrators' group.
//!
//! Follows `plugin/pkg/admission/certificates/*/admission.go` and `pkg/certauthorization/certauthorization.go` (v1.37.1).

use crate::admission::{Attributes, Immediate, Operation};
use crate::auth::authorizer::Target;
use crate::error::ApiResult;
use crate::object::generation::{equal, same_but_for_garbage_collection};
use crate::registry::{ids, requested_subject, text};
use crate::schema::quote;
use tree::Value;

/// `KubeAPIServerClientSignerName`: the signer of certificates by which clients are known to this server.
const CLIENT_SIGNER: &str = "kubernetes.io/kube-apiserver-client";
/// The group that may do everything.
const MASTERS: &str = "system:masters";

/// The plugins that ask for the permission to speak for a signer.
pub(super) enum SignerPermission {
    /// `CertificateApproval`.
    Approve,
    /// `CertificateSigning`.
    Sign,
    /// `ClusterTrustBundleAttest`.
    Attest,
}
use SignerPermission::{Approve, Attest, Sign};

impl Immediate for SignerPermission {
    fn check(&self, write: &Attributes<'_>, object: &Value) -> ApiResult<()> {
        let is_of = |resource, subresource| write.resource.id == resource && write.subresource == subresource;
        let is_update = write.operation == Operation::Update;
        let changed = |pointer: &str| !equal(object.pointer(pointer), write.old.and_then(|old| old.pointer(pointer)));
        let signer_of = |object| text(object, "/spec/signerName");
        let old = signer_of(write.old.unwrap_or(&Value::Null));
        let (verb, signer, act) = match self {
            Approve if is_update && is_of(ids::CERTIFICATE_SIGNING_REQUESTS, "approval") => {
                ("approve", old, "approve requests with")
            }
            Sign if is_update
                && is_of(ids::CERTIFICATE_SIGNING_REQUESTS, "status")
                && (changed("/status/certificate") || changed("/status/conditions")) =>
            {
                ("sign", old, "sign requests with")
            }
            Attest if is_of(ids::CLUSTER_TRUST_BUNDLES, "") && write.operation != Operation::Delete => {
                let is_same = write.old.is_some_and(|old| same_but_for_garbage_collection(object, old));
                match signer_of(object) {
                    "" => return Ok(()),
                    _ if is_same => return Ok(()),
                    signer => ("attest", signer, "attest for"),
                }
            }
            _ => return Ok(()),
        };
        match speaks_for(write, verb, signer)? {
            true => Ok(()),
            false => Err(write.forbidden(object, format!("user not permitted to {act} signerName {}", quote(signer)))),
        }
    }
}

/// `IsAuthorizedForSignerName`: whether the user may do that for a signer, or for all signers of its domain.
fn speaks_for(write: &Attributes<'_>, verb: &str, signer: &str) -> ApiResult<bool> {
    let may = |name: &str| {
        let (group, version, resource) = ("certificates.k8s.io", "*", "signers");
        let target = Target::Resource { group, version, resource, subresource: "", namespace: "", name };
        write.may(verb, target).map(|decision| decision.is_allowed())
    };
    let domain = signer.split('/').next().unwrap_or_default();
    Ok(may(signer)? || may(&format!("{domain}/*"))?)
}

/// The plugin `CertificateSubjectRestriction`.
pub(super) struct SubjectRestriction;

impl Immediate for SubjectRestriction {
    fn check(&self, write: &Attributes<'_>, request: &Value) -> ApiResult<()> {
        let is_new = write.resource.id == ids::CERTIFICATE_SIGNING_REQUESTS
            && write.subresource.is_empty()
            && write.operation == Operation::Create;
        if !is_new || text(request, "/spec/signerName") != CLIENT_SIGNER {
            return Ok(());
        }
        let subject = requested_subject(request)
            .map_err(|why| write.forbidden(request, format!("failed to parse CSR: {why}")))?;
        match subject.organizations.iter().any(|group| group == MASTERS) {
            false => Ok(()),
            true => {
                let why = format!("use of {CLIENT_SIGNER} signer with {MASTERS} group is not allowed");
                Err(write.forbidden(request, why))
            }
        }
    }
}
