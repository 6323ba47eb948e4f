//! Limits, and the amounts that exceed them.
//!
//! Ports `minConstraint`, `maxConstraint`, `maxRequestConstraint` and `limitRequestRatioConstraint` (v1.37.1).

use crate::registry::{Amounts, MAX_MILLI_VALUE, Quantity, text};
use tree::Value;

/// A limit of a range (`LimitRangeItem`).
pub(super) struct Limit<'r> {
    /// Its type, such as `Container`.
    pub(super) kind: &'r str,
    min: Amounts,
    max: Amounts,
    ratio: Amounts,
}

impl<'r> Limit<'r> {
    /// The limit as it stands in a range.
    pub(super) fn read(limit: &'r Value) -> Limit<'r> {
        let [min, max, ratio] = ["min", "max", "maxLimitRequestRatio"].map(|list| Amounts::read(&limit[list]));
        Limit { kind: text(limit, "/type"), min, max, ratio }
    }
}

/// A sentence for each way in which amounts exceed a limit. Claims have requests alone.
pub(super) fn findings(limit: &Limit<'_>, requests: &Amounts, limits: Option<&Amounts>) -> Vec<String> {
    let compared = |name, enforced| {
        let limit_of = limits.and_then(|limits| limits.get(name));
        Compared { name, kind: limit.kind, enforced, request: requests.get(name), limit: limit_of }
    };
    let below = limit.min.iter().filter_map(|(name, enforced)| compared(name, enforced).below());
    let above = limit.max.iter().filter_map(|(name, enforced)| match limits {
        Some(_) => compared(name, enforced).above(),
        None => compared(name, enforced).request_above(),
    });
    let ratio = limit.ratio.iter().filter(|_| limits.is_some());
    let ratio = ratio.filter_map(|(name, enforced)| compared(name, enforced).ratio_above());
    below.chain(above).chain(ratio).collect()
}

/// The amounts of a resource, beside the one that is enforced.
struct Compared<'a> {
    name: &'a str,
    /// The type of the limit.
    kind: &'a str,
    enforced: &'a Quantity,
    request: Option<&'a Quantity>,
    limit: Option<&'a Quantity>,
}

impl Compared<'_> {
    /// Request, limit and enforced amount: in thousandths, unless one of them is too large for that
    /// (`requestLimitEnforcedValues`).
    fn values(&self) -> [i64; 3] {
        let all = [self.request, self.limit, Some(self.enforced)];
        let whole = all.map(|amount| amount.map_or(0, Quantity::value));
        match whole.iter().all(|value| *value <= MAX_MILLI_VALUE) {
            true => all.map(|amount| amount.map_or(0, Quantity::milli_value)),
            false => whole,
        }
    }

    /// The sentence for a least or greatest amount.
    fn usage(&self, end: &str, but: std::fmt::Arguments<'_>) -> Option<String> {
        Some(format!("{end} {} usage per {} is {}{but}", self.name, self.kind, self.enforced))
    }

    fn below(&self) -> Option<String> {
        let [requested, limited, enforced] = self.values();
        match (self.request, self.limit) {
            (None, _) => self.usage("minimum", format_args!(".  No request is specified")),
            (Some(request), _) if requested < enforced => {
                self.usage("minimum", format_args!(", but request is {request}"))
            }
            (_, Some(limit)) if limited < enforced => self.usage("minimum", format_args!(", but limit is {limit}")),
            _ => None,
        }
    }

    fn above(&self) -> Option<String> {
        let [requested, limited, enforced] = self.values();
        match (self.limit, self.request) {
            (None, _) => self.usage("maximum", format_args!(".  No limit is specified")),
            (Some(limit), _) if limited > enforced => self.usage("maximum", format_args!(", but limit is {limit}")),
            (_, Some(request)) if requested > enforced => {
                self.usage("maximum", format_args!(", but request is {request}"))
            }
            _ => None,
        }
    }

    fn request_above(&self) -> Option<String> {
        let [requested, _, enforced] = self.values();
        match self.request {
            None => self.usage("maximum", format_args!(".  No request is specified")),
            Some(request) if requested > enforced => self.usage("maximum", format_args!(", but request is {request}")),
            _ => None,
        }
    }

    fn ratio_above(&self) -> Option<String> {
        let [requested, limited, _] = self.values();
        let enforced = self.enforced;
        let sentence = |but: std::fmt::Arguments<'_>| {
            let (name, kind) = (self.name, self.kind);
            Some(format!("{name} max limit to request ratio per {kind} is {enforced}, but {but}"))
        };
        if requested == 0 {
            return sentence(format_args!("no request is specified or request is 0"));
        }
        if limited == 0 {
            return sentence(format_args!("no limit is specified or limit is 0"));
        }
        let ratio = limited as f64 / requested as f64;
        let (observed, most) = match enforced.value() <= MAX_MILLI_VALUE {
            true => (ratio * 1000.0, enforced.milli_value()),
            false => (ratio, enforced.value()),
        };
        if observed > most as f64 { sentence(format_args!("provided ratio is {ratio:.6}")) } else { None }
    }
}
