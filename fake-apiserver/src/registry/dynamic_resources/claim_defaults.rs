//! The defaults of claims, in the storage version.
//!
//! Follows `pkg/apis/resource/v1/defaults.go` and the defaults that its types declare (v1.37.1).

use crate::registry::defaults::Fill::Text;
use crate::registry::defaults::{Default, Fill, fill, fill_unless_zero, visit};
use crate::registry::{default_to, text};
use tree::Value;

const TOLERATION: &[(&str, Fill)] = &[("operator", Text("Equal"))];

const TOLERATIONS: &[Default] = &[
    ("devices/requests/*/exactly/tolerations/*", TOLERATION),
    ("devices/requests/*/firstAvailable/*/tolerations/*", TOLERATION),
];

/// Sets the defaults of the requests of a claim, given those of one for certain devices.
pub(super) fn default_claim_spec(spec: &mut Value, exactly: fn(&mut Value)) {
    visit(spec, "devices/requests/*/exactly", &mut |request| exactly(request));
    visit(spec, "devices/requests/*/firstAvailable/*", &mut default_request);
    fill(spec, TOLERATIONS);
}

/// `SetDefaults_ExactDeviceRequest`, `SetDefaults_DeviceSubRequest`.
pub(super) fn default_request(request: &mut Value) {
    default_to(request, "allocationMode", "ExactCount");
    if text(request, "/allocationMode") == "ExactCount" {
        fill_unless_zero(request, "count", 1.into());
    }
}

/// Sets the defaults of the status of a claim.
pub(super) fn default_status(claim: &mut Value) {
    fill(claim, &[("status/allocation/devices/results/*/tolerations/*", TOLERATION)]);
}
