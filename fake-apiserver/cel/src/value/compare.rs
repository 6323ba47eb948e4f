//! Order of values.

use super::{Outcome, Value, fail, no_such_overload};
use std::cmp::Ordering;

impl Value {
    /// The order of two values.
    ///
    /// # Errors
    /// If their types have no order, or one is NaN.
    pub(crate) fn compare(&self, other: &Value) -> Outcome<Ordering> {
        Ok(match (self, other) {
            (Self::Double(d), Self::Double(_) | Self::Int(_) | Self::Uint(_))
            | (Self::Int(_) | Self::Uint(_), Self::Double(d))
                if d.is_nan() =>
            {
                return fail("NaN values cannot be ordered");
            }
            (Self::Double(d), _) if d.is_nan() => return fail("NaN values cannot be ordered"),
            (Self::Double(a), Self::Double(b)) => {
                if b.is_nan() {
                    return fail("NaN values cannot be ordered");
                }
                order(*a, *b)
            }
            (Self::Bool(a), Self::Bool(b)) => a.cmp(b),
            (Self::Int(a), Self::Int(b)) => a.cmp(b),
            (Self::Uint(a), Self::Uint(b)) => a.cmp(b),
            (Self::Int(a), Self::Uint(b)) => i128::from(*a).cmp(&i128::from(*b)),
            (Self::Uint(a), Self::Int(b)) => i128::from(*a).cmp(&i128::from(*b)),
            (Self::Double(d), Self::Int(i)) => with_int(*d, *i),
            (Self::Int(i), Self::Double(d)) => with_int(*d, *i).reverse(),
            (Self::Double(d), Self::Uint(u)) => with_uint(*d, *u),
            (Self::Uint(u), Self::Double(d)) => with_uint(*d, *u).reverse(),
            (Self::String(a), Self::String(b)) => a.as_bytes().cmp(b.as_bytes()),
            (Self::Bytes(a), Self::Bytes(b)) => a.cmp(b),
            (Self::Timestamp(a), Self::Timestamp(b)) => a.instant().cmp(&b.instant()),
            (Self::Duration(a), Self::Duration(b)) => a.cmp(b),
            _ => return no_such_overload(),
        })
    }

    /// Whether values of this type have an order.
    pub(crate) fn is_ordered(&self) -> bool {
        matches!(
            self,
            Self::Bool(_)
                | Self::Int(_)
                | Self::Uint(_)
                | Self::Double(_)
                | Self::String(_)
                | Self::Bytes(_)
                | Self::Timestamp(_)
                | Self::Duration(_)
        )
    }
}

fn order(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b).unwrap_or(Ordering::Equal)
}

/// The order of a double and an integer, with Go's bounds: the doubles nearest to the limits of integers.
fn with_int(d: f64, i: i64) -> Ordering {
    if d < i64::MIN as f64 {
        Ordering::Less
    } else if d > i64::MAX as f64 {
        Ordering::Greater
    } else {
        order(d, i as f64)
    }
}

fn with_uint(d: f64, u: u64) -> Ordering {
    if d < 0.0 {
        Ordering::Less
    } else if d > u64::MAX as f64 {
        Ordering::Greater
    } else {
        order(d, u as f64)
    }
}
