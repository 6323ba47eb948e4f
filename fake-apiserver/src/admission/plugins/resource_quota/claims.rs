//! The evaluator of persistent volume claims: their number and the storage that they request, also by storage class.
//!
//! Follows `pkg/quota/v1/evaluator/core/persistent_volume_claims.go` (v1.37.1).

use super::evaluator::Evaluator;
use super::scopes::Scope;
use crate::admission::{Attributes, Operation};
use crate::registry::{Amounts, Quantity, amount, storage_class, text};
use tree::Value;

/// The number of claims, by the name that all kinds have.
const COUNT: &str = "count/persistentvolumeclaims";
const CLAIMS: &str = "persistentvolumeclaims";
const STORAGE: &str = "requests.storage";
/// `storageClassSuffix`.
const OF_CLASS: &str = ".storageclass.storage.k8s.io/";

/// The evaluator of claims.
pub(super) struct Claims;

impl Evaluator for Claims {
    fn handles(&self, write: &Attributes<'_>, _: &Value) -> bool {
        match write.subresource {
            "" => matches!(write.operation, Operation::Create | Operation::Update),
            // Upstream compares pointers, so that every update of a status counts as one of the allocated storage.
            "status" => write.operation == Operation::Update,
            _ => false,
        }
    }

    fn measures(&self, resource: &str) -> bool {
        let of_class = || {
            [CLAIMS, STORAGE]
                .iter()
                .any(|own| resource.strip_suffix(own).is_some_and(|class| class.ends_with(OF_CLASS)))
        };
        [COUNT, CLAIMS, STORAGE].contains(&resource) || of_class()
    }

    fn usage(&self, claim: &Value) -> Amounts {
        let class = storage_class(claim);
        let mut usage = Amounts::default();
        let mut measure = |name: &str, amount: &Quantity| {
            usage.set(name, amount.clone());
            if !class.is_empty() {
                usage.set(format!("{class}{OF_CLASS}{name}"), amount.clone());
            }
        };
        measure(CLAIMS, &Quantity::count(1));
        if let Some(storage) = storage(claim) {
            measure(STORAGE, &storage);
        }
        usage.set(COUNT, Quantity::count(1));
        usage
    }

    fn is_in_scope(&self, scope: &Scope<'_>, claim: &Value) -> bool {
        let paths = [
            "/spec/volumeAttributesClassName",
            "/status/currentVolumeAttributesClassName",
            "/status/modifyVolumeStatus/targetVolumeAttributesClassName",
        ];
        let mut names = paths.iter().map(|path| text(claim, path)).filter(|name| !name.is_empty()).peekable();
        match (scope.name, names.peek()) {
            ("VolumeAttributesClass", None) => scope.admits(None),
            ("VolumeAttributesClass", Some(_)) => names.any(|name| scope.admits(Some(name))),
            _ => false,
        }
    }
}

/// The storage that a claim requests or, while its volume is expanded, has got if that is more; in whole bytes (`getStorageUsage`).
fn storage(claim: &Value) -> Option<Quantity> {
    let at = |list: &Value| list["storage"].as_str().map(|text| amount(text).rounded_up(0));
    let requested = at(&claim["spec"]["resources"]["requests"])?;
    let allocated = at(&claim["status"]["allocatedResources"]);
    Some(allocated.filter(|allocated| *allocated > requested).unwrap_or(requested))
}
