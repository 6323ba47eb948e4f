//! Estimates of the costs of Kubernetes' functions, and of those of the list and set libraries.
//!
//! Port of `EstimateCallCost` in `pkg/cel/library/cost.go` of k8s.io/apiserver v0.37.1, and of `ext` of cel-go v0.29.2.

use super::actual::CHECK;
use super::estimate::{CallEstimate, Node, Sizes};
use super::path::Path;
use super::size::Range;
use super::{REGEX, STRING};
use crate::types::Type;
use crate::value::Value;

const ONE: Range = Range::fixed(1);
const LIST: Range = Range::fixed(10);

pub(super) fn estimate(
    function: &str,
    overload: &str,
    target: Option<&Node>,
    args: &[Node],
    sizes: &dyn Sizes,
) -> Option<CallEstimate> {
    let context = Context { overload, target, args, sizes };
    context.of_list_function().or_else(|| context.of_kubernetes(function))
}

struct Context<'a> {
    overload: &'a str,
    target: Option<&'a Node>,
    args: &'a [Node],
    sizes: &'a dyn Sizes,
}

fn plain(cost: Range) -> CallEstimate {
    CallEstimate { cost, size: None }
}

fn sized(cost: Range, size: Range) -> CallEstimate {
    CallEstimate { cost, size: Some(size) }
}

/// The number of a literal argument, or `otherwise`.
fn number(node: &Node, otherwise: u64) -> u64 {
    match &node.literal {
        Some(Value::Int(i)) => u64::try_from(*i).unwrap_or(0),
        _ => otherwise,
    }
}

impl Context<'_> {
    fn size(&self, node: &Node) -> Range {
        let declared = || self.sizes.max_size(&node.path.parts()).map(|max| Range { min: 0, max });
        node.size.or_else(declared).unwrap_or(Range::UNKNOWN)
    }

    fn arg(&self, i: usize) -> Option<Range> {
        self.args.get(i).map(|arg| self.size(arg))
    }

    fn of_list_function(&self) -> Option<CallEstimate> {
        let allocating = |factor: f64, size: Range| sized(size.scaled(factor).plus(ONE).plus(LIST), size);
        let compared = |size: Range| {
            let is_text = self.overload.starts_with("list_string") || self.overload.starts_with("list_bytes");
            allocating(2.0 + if is_text { STRING } else { 0.0 }, size.times(size))
        };
        let both = |factor: f64| Some(plain(self.arg(0)?.times(self.arg(1)?).scaled(factor).plus(ONE)));
        match self.overload {
            "list_slice" => {
                let size = self.size(self.target?);
                let start = number(self.args.first()?, 0);
                let end = number(self.args.get(1)?, size.max);
                Some(allocating(1.0, Range::fixed(end.wrapping_sub(start))))
            }
            "lists_range" => Some(allocating(1.0, Range::fixed(number(self.args.first()?, u64::MAX)))),
            "list_reverse" => Some(allocating(1.0, self.size(self.target?))),
            "list_flatten" => Some(allocating(1.0, self.size(self.target?))),
            "list_flatten_int" => {
                let depth = number(self.args.first()?, u64::MAX);
                Some(allocating(depth as f64, self.size(self.target?)))
            }
            "list_distinct" => {
                let size = self.size(self.target?);
                Some(allocating(2.0, size.times(size)))
            }
            "list_sets_contains_list" | "list_sets_intersects_list" => both(1.0),
            "list_sets_equivalent_list" => both(2.0),
            overload if overload.starts_with("list_") && overload.ends_with("_sort") => {
                Some(compared(self.size(self.target?)))
            }
            overload if overload.ends_with("_sortByAssociatedKeys") => Some(compared(self.arg(0)?)),
            _ => None,
        }
    }

    fn of_kubernetes(&self, function: &str) -> Option<CallEstimate> {
        let parsed = |i: usize| Some(self.arg(i)?.scaled(STRING));
        Some(match function {
            "check" => plain(Range::fixed(CHECK)),
            "fieldSelector" | "labelSelector" if self.args.len() == 1 => {
                let length = self.arg(0)?;
                plain(LIST.plus(length.scaled(STRING)).plus(length.scaled(0.5).scaled(50.0)))
            }
            "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" | "includes" => {
                self.of_traversal(function)?
            }
            "url" if self.args.len() == 1 => sized(parsed(0)?, self.arg(0)?),
            "lowerAscii" | "upperAscii" | "substring" | "trim" => {
                let size = self.size(self.target?);
                sized(size.scaled(STRING), size)
            }
            "replace" if self.args.len() >= 2 => self.of_replace()?,
            "split" => {
                let size = self.size(self.target?);
                let most = match self.args.get(1).and_then(|arg| arg.literal.as_ref()) {
                    Some(Value::Int(count)) => count.cast_unsigned(),
                    _ => size.max,
                };
                sized(size.scaled(2.0 * STRING), Range { min: 0, max: most })
            }
            "join" => self.of_join()?,
            "find" | "findAll" if !self.args.is_empty() => {
                let size = self.size(self.target?);
                let cost = size.plus(ONE).scaled(STRING).times(self.arg(0)?.scaled(REGEX));
                sized(cost, Range { min: 0, max: size.max })
            }
            "ip" if self.overload == "cidr_ip" => plain(ONE),
            "cidr" | "isIP" | "isCIDR" | "ip" | "quantity" | "isQuantity" | "semver" | "isSemver" => plain(parsed(0)?),
            "ip.isCanonical" => plain(self.arg(0)?.scaled(2.0 * STRING)),
            "containsIP" | "containsCIDR" => {
                let address = Range { min: 4, max: 16 };
                let mut cost = address.plus(address).scaled(STRING);
                if function == "containsCIDR" {
                    cost = cost.plus(address.scaled(STRING)).plus(ONE);
                }
                if matches!(self.overload, "cidr_contains_ip_string" | "cidr_contains_cidr_string") {
                    cost = cost.plus(parsed(0)?);
                }
                plain(cost)
            }
            "validate" => plain(parsed(0)?.scaled(128.0 * REGEX)),
            name if is_constant(name) => plain(ONE),
            "_==_" => plain(self.of_equality()?),
            _ => return None,
        })
    }

    /// The elements of a list.
    fn element(&self, list: &Node) -> Option<Node> {
        let t = (*list.t.params().first()?).clone();
        let path = if list.path.is_empty() { Path::default() } else { list.path.copy().then("@items") };
        Some(Node { path, t, size: None, literal: None })
    }

    fn of_traversal(&self, function: &str) -> Option<CallEstimate> {
        let target = self.target?;
        let size = self.size(target);
        let Some(element) = self.element(target) else {
            return Some(plain(if function == "includes" { size.times(ONE) } else { size.scaled(STRING) }));
        };
        let mut cost = ONE;
        if let Type::String | Type::Bytes = element.t {
            cost = cost.plus(self.size(&element).scaled(STRING));
        }
        Some(plain(size.times(cost)))
    }

    fn of_replace(&self) -> Option<CallEstimate> {
        let (size, old, new) = (self.size(self.target?), self.arg(0)?, self.arg(1)?);
        let per = |size: u64, old: u64| (size as f64 / old as f64).ceil() as u64;
        let (max_count, max_kept) = match old.min {
            0 => (size.max.saturating_add(1), size.max),
            _ if new.max <= old.min => (0, size.max),
            old => (per(size.max, old), 0),
        };
        let (min_count, min_kept) = match old.max {
            0 => (size.min.saturating_add(1), size.min),
            _ if old.max <= new.min => (0, size.min),
            old => (per(size.min, old), 0),
        };
        let result = Range { min: min_count, max: max_count }.times(new).plus(Range { min: min_kept, max: max_kept });
        Some(sized(size.scaled(2.0 * STRING), result))
    }

    fn of_join(&self) -> Option<CallEstimate> {
        let target = self.target?;
        let size = self.size(target);
        let mut result = Range::fixed(0);
        if let Some(element) = self.element(target) {
            result = size.times(self.size(&element));
        }
        if let Some(separator) = self.arg(0) {
            let separators = Range { min: size.min.saturating_sub(1), max: size.max.saturating_sub(1) };
            result = result.plus(separator.times(separators));
        }
        Some(sized(result.scaled(STRING), result))
    }

    fn of_equality(&self) -> Option<Range> {
        let [left, right] = self.args else { return None };
        if left.t.name() != right.t.name() {
            return None;
        }
        match left.t.name() {
            "net.IP" | "net.CIDR" => Some(ONE),
            "kubernetes.Quantity" | "kubernetes.Semver" => Some(ONE),
            name if name.starts_with("kubernetes.authorization.") => Some(ONE),
            "kubernetes.NamedFormat" => Some(Range { min: 1, max: 64 }.scaled(STRING)),
            "kubernetes.URL" => Some(Range { min: 1, max: right.size.map_or(1, |size| size.max) }.scaled(STRING)),
            _ => None,
        }
    }
}

/// Whether a function costs one, whatever its arguments, in estimates and in evaluations.
pub(super) fn is_constant(function: &str) -> bool {
    matches!(
        function,
        "serviceAccount"
            | "path"
            | "group"
            | "resource"
            | "subresource"
            | "namespace"
            | "name"
            | "allowed"
            | "reason"
            | "error"
            | "errored"
            | "masked"
            | "prefixLength"
            | "family"
            | "isUnspecified"
            | "isLoopback"
            | "isLinkLocalMulticast"
            | "isLinkLocalUnicast"
            | "isGlobalUnicast"
            | "format.named"
            | "sign"
            | "asInteger"
            | "isInteger"
            | "asApproximateFloat"
            | "isGreaterThan"
            | "isLessThan"
            | "compareTo"
            | "add"
            | "sub"
            | "major"
            | "minor"
            | "patch"
            | "getScheme"
            | "getHostname"
            | "getHost"
            | "getPort"
            | "getEscapedPath"
            | "getQuery"
    )
}
