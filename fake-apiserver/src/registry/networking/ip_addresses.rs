//! IP addresses, each an object by which it is taken.
//!
//! Follows `pkg/registry/networking/ipaddress/strategy.go`, `ValidateIPAddress` and `ValidateIPAddressUpdate` of
//! `pkg/apis/networking/validation/validation.go` and `printIPAddress` of `pkg/printers/internalversion/printers.go` (v1.37.1).

use crate::error::Errors;
use crate::object::{meta, name};
use crate::registry::columns::since;
use crate::registry::context::Context;
use crate::registry::cursor::At;
use crate::registry::rules::{NameRule, Rules, Strategy};
use crate::registry::text;
use crate::schema::quote;
use std::net::{IpAddr, Ipv4Addr};
use tree::Value;

pub(in crate::registry) const RULES: Rules = Rules {
    name_rule: NameRule::Of(|_, own| address_name(own)),
    cells: &[("ParentRef", |address, _| match address["spec"].get("parentRef") {
        None => "<none>".into(),
        Some(parent) => parent_ref(parent).into(),
    })],
    more_cells: &[|address, now| since(meta::creation_timestamp(address), now).into()],
    strategy: Strategy { validate, ..Strategy::NONE },
    ..Rules::ORDINARY
};

fn at(address: &Value) -> At<'static, '_> {
    At::object(address, "networking.k8s.io/v1", "IPAddress")
}

fn validate(_: &Context<'_>, new: &Value, old: Option<&Value>, errors: &mut Errors) {
    let address = at(new);
    let parent = address.field("spec.parentRef");
    if parent.is_set() {
        reference(parent, errors);
    } else {
        errors.covered("", |errors| parent.required("", errors));
    }
    if let Some(old) = old.map(at) {
        errors.covered("immutable", |errors| parent.immutable(&old.field("spec.parentRef"), errors));
    }
}

/// `validateIPAddressParentReference`.
fn reference(parent: At<'_, '_>, errors: &mut Errors) {
    parent.field("group").optional(name::dns_subdomain, errors);
    for field in ["resource", "name"] {
        let field = parent.field(field);
        match field.is_empty() {
            true => errors.covered("", |errors| field.required("", errors)),
            false => field.follows(name::path_segment, errors),
        }
    }
    parent.field("namespace").optional(name::path_segment, errors);
}

/// The resource, the namespace and the name of an object that has an address.
fn parent_ref(parent: &Value) -> String {
    let resource = match (text(parent, "/resource"), text(parent, "/group")) {
        (resource, "") => resource.to_lowercase(),
        (resource, group) => format!("{resource}.{group}").to_lowercase(),
    };
    let namespace = match text(parent, "/namespace") {
        "" => String::new(),
        namespace => format!("/{namespace}"),
    };
    format!("{resource}{namespace}/{}", text(parent, "/name"))
}

/// `IsValidIP`: objections to a name that has to be an address, in the form in which Go prints it.
fn address_name(text: &str) -> Vec<String> {
    let objection = match text.parse::<IpAddr>() {
        Ok(IpAddr::V6(address)) if address.to_ipv4_mapped().is_some() => {
            "must not be an IPv4-mapped IPv6 address".into()
        }
        Ok(address) if address.to_string() == text => return Vec::new(),
        Ok(address) => format!("must be in canonical form ({})", quote(&address.to_string())),
        Err(_) if has_leading_zeros(text) => "must not have leading 0s".into(),
        Err(_) => "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)".into(),
    };
    vec![objection]
}

/// Whether it would be an address without the zeros before the numbers of an IPv4 address (`ParseIPSloppy`).
fn has_leading_zeros(text: &str) -> bool {
    let number = |part: &str| match part.trim_start_matches('0') {
        "" if !part.is_empty() => "0".to_owned(),
        number => number.to_owned(),
    };
    text.split('.').map(number).collect::<Vec<_>>().join(".").parse::<Ipv4Addr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_one_form() {
        let table = [
            ("10.0.0.1", ""),
            ("fd00::1", ""),
            ("FD00::1", "must be in canonical form (\"fd00::1\")"),
            ("fd00:0::1", "must be in canonical form (\"fd00::1\")"),
            ("::ffff:10.0.0.1", "must not be an IPv4-mapped IPv6 address"),
            ("10.00.0.1", "must not have leading 0s"),
            ("10.0.0", "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"),
            ("a", "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"),
        ];
        for (text, objection) in table {
            assert_eq!(address_name(text).join(" "), objection, "{text}");
        }
    }
}
