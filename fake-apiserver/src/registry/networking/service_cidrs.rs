//! Ranges of addresses for services.
//!
//! Follows `pkg/registry/networking/servicecidr/strategy.go`, `ValidateServiceCIDR` and `ValidateServiceCIDRUpdate` of
//! `pkg/apis/networking/validation/validation.go` and `printServiceCIDR` of `pkg/printers/internalversion/printers.go` (v1.37.1).

use crate::error::Errors;
use crate::object::ip::{self, Cidr};
use crate::object::validate::IMMUTABLE;
use crate::registry::context::Context;
use crate::registry::cursor::At;
use crate::registry::items;
use crate::registry::rules::{Rules, Strategy};
use tree::Value;

pub(in crate::registry) const RULES: Rules = Rules {
    status_keeps_metadata: true,
    cells: &[("CIDRs", |cidr, _| {
        let cidrs: Vec<&str> = items(cidr, "/spec/cidrs").iter().filter_map(Value::as_str).collect();
        cidrs.join(",").into()
    })],
    strategy: Strategy { validate, ..Strategy::NONE },
    ..Rules::ORDINARY
};

fn at(range: &Value) -> At<'static, '_> {
    At::object(range, "networking.k8s.io/v1", "ServiceCIDR")
}

fn validate(_: &Context<'_>, new: &Value, old: Option<&Value>, errors: &mut Errors) {
    let range = at(new);
    let spec = range.field("spec");
    let cidrs = spec.field("cidrs");
    let Some(old) = old.map(at) else { return ranges(spec, errors) };
    let before = old.field("spec.cidrs");
    let is_second_added = (before.len(), cidrs.len()) == (1, 2);
    if !is_second_added && before.len() != cidrs.len() {
        return cidrs.invalid(IMMUTABLE, errors);
    }
    for (cidr, before) in cidrs.items().zip(before.items()) {
        if cidr.text() != before.text() {
            cidr.invalid(IMMUTABLE, errors);
        }
    }
    if is_second_added {
        ranges(spec, errors);
    }
}

/// `validateServiceCIDRSpec`: a range, or one of each family.
fn ranges(spec: At<'_, '_>, errors: &mut Errors) {
    let cidrs = spec.field("cidrs");
    match cidrs.len() {
        0 => return cidrs.required("at least one CIDR required", errors),
        1 | 2 => {}
        _ => return spec.shown_at(cidrs.path()).invalid("may only hold up to 2 values", errors),
    }
    for cidr in cidrs.items() {
        ip::canonical_cidr(cidr.path(), cidr.text(), errors);
    }
    let families: Vec<bool> = cidrs.items().filter_map(|cidr| Some(Cidr::parse(cidr.text())?.1.is_ipv6())).collect();
    if matches!(families[..], [first, second] if first == second) {
        let detail = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";
        cidrs.invalid(detail, errors);
    }
}
