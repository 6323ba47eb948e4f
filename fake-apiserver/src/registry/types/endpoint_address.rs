//! Addresses of endpoints, wherever they stand.
//!
//! Follows `ValidateEndpointIP` of `pkg/apis/core/validation/validation.go` (v1.37.1).

use crate::error::{Errors, Path, aggregate};
use crate::object::ip;
use std::net::IpAddr;

/// Rules for an address to which traffic is sent (`ValidateEndpointIP`).
pub(in crate::registry) fn endpoint_ip(at: Path<'_>, text: &str, errors: &mut Errors) {
    let Some(address) = ip::parse(text) else { return errors.invalid(at, text, "must be a valid IP address") };
    let (link_local, link_local_multicast) = match address {
        IpAddr::V4(v4) => (v4.is_link_local(), v4.octets()[..3] == [224, 0, 0]),
        IpAddr::V6(v6) => (v6.is_unicast_link_local(), v6.segments()[0] & 0xff0f == 0xff02),
    };
    if address.is_unspecified() {
        errors.invalid(at, text, format!("may not be unspecified ({text})"));
    }
    if address.is_loopback() {
        errors.invalid(at, text, "may not be in the loopback range (127.0.0.0/8, ::1/128)");
    }
    if link_local {
        errors.invalid(at, text, "may not be in the link-local range (169.254.0.0/16, fe80::/10)");
    }
    if link_local_multicast {
        errors.invalid(at, text, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
    }
}

/// The finding about an address of a server in the endpoints of the service `kubernetes`, if something is wrong with it.
pub fn public_address_error(address: IpAddr) -> Option<String> {
    let found = Errors::of(|errors| endpoint_ip(Path::new("<nil>"), &address.to_string(), errors));
    (!found.is_empty()).then(|| aggregate(found.iter().map(ToString::to_string)))
}
