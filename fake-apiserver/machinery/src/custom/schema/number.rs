//! Numbers as in Go: an int64, or a float64.
//!
//! The parser decides which: a number without point and exponent that fits is an int64. It makes a difference: an int64 is
//! compared as an int64, for which a bound of the schema, a float64, loses its fraction.

use super::kind::Kind;
use super::report::{Report, Where};
use crate::error::FieldError;
use crate::schema::print_float;
use tree::{Number, Value};

/// `maxJSONFloat` of `github.com/go-openapi/swag/conv`.
const MAX_INTEGER: f64 = ((1_u64 << 53) - 1) as f64;
/// `epsilon` of `github.com/go-openapi/swag/conv`.
const EPSILON: f64 = 1e-9;

/// A number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Num {
    Int(i64),
    Float(f64),
}

impl Num {
    pub(super) fn of(number: &Number) -> Self {
        number.as_i64().map_or_else(|| Num::Float(number.as_f64().unwrap_or_default()), Num::Int)
    }

    pub(super) fn float(self) -> f64 {
        match self {
            Num::Int(integer) => integer as f64,
            Num::Float(float) => float,
        }
    }

    /// The number as Go prints it in messages.
    fn text(self) -> String {
        match self {
            Num::Int(integer) => integer.to_string(),
            Num::Float(float) => print_float(float),
        }
    }

    fn value(self) -> Value {
        match self {
            Num::Int(integer) => integer.into(),
            Num::Float(float) => float.into(),
        }
    }

    /// The number with all digits, without exponent.
    fn digits(self) -> String {
        match self {
            Num::Int(integer) => integer.to_string(),
            Num::Float(float) => format!("{float}"),
        }
    }

    /// Whether `self` is below `other`, a number of the same kind, or equal if that is allowed.
    fn below(self, other: Num, or_equal: bool) -> bool {
        match (self, other) {
            (Num::Int(this), Num::Int(other)) => this < other || or_equal && this == other,
            _ => self.float() < other.float() || or_equal && self.float() == other.float(),
        }
    }
}

/// Go's conversion to int64 on amd64: a number out of range becomes the least int64.
pub(super) fn truncate(float: f64) -> i64 {
    const LIMIT: f64 = (1_u64 << 63) as f64;
    if (-LIMIT..LIMIT).contains(&float) { float as i64 } else { i64::MIN }
}

/// `IsFloat64AJSONInteger`.
pub(super) fn is_integer(float: f64) -> bool {
    if !float.is_finite() || float.abs() > MAX_INTEGER {
        return false;
    }
    let rounded = float.round();
    float == rounded || rounded != 0.0 && (float - rounded).abs() < EPSILON * rounded.abs()
}

/// The bounds of numbers in a schema: `numberValidator` of `k8s.io/kube-openapi/pkg/validation/validate/validator.go`.
#[derive(Debug, Default)]
pub(crate) struct Bounds {
    pub multiple_of: Option<f64>,
    pub minimum: Option<f64>,
    pub exclusive_minimum: bool,
    pub maximum: Option<f64>,
    pub exclusive_maximum: bool,
    /// The format, if the only type is one of numbers.
    pub format: Option<NumberFormat>,
}

/// A format of numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct NumberFormat {
    pub kind: Kind,
    /// The name; "" for the default.
    pub name: &'static str,
}

impl NumberFormat {
    /// The format of a type of numbers; `None` for other types.
    pub(super) fn of(kind: Kind, format: &str) -> Option<Self> {
        let names: &[&str] = match kind {
            Kind::Integer => &["int32", "int64"],
            Kind::Number => &["float", "double"],
            _ => return None,
        };
        Some(NumberFormat { kind, name: names.iter().find(|name| **name == format).unwrap_or(&"") })
    }

    /// Whether a number is in the range of the format (`IsValueValidAgainstRange`).
    fn holds(self, number: Num) -> bool {
        match (self.kind, self.name) {
            (Kind::Integer, "int32") => number.digits().parse::<i32>().is_ok(),
            (Kind::Integer, _) => match number {
                Num::Int(_) => true,
                Num::Float(_) => number.digits().parse::<i64>().is_ok(),
            },
            (_, "float") => number.digits().parse::<f32>().is_ok_and(f32::is_finite),
            _ => true,
        }
    }
}

impl Bounds {
    /// Whether there are no bounds.
    fn is_empty(&self) -> bool {
        let none = self.multiple_of.is_none() && self.minimum.is_none() && self.maximum.is_none();
        none && self.format.is_none()
    }

    pub(super) fn check(&self, at: &Where<'_>, number: Num) -> Report {
        let mut report = Report::matched();
        if self.is_empty() {
            return report;
        }
        self.in_range(number, "Checked", at, &mut report);
        if let Some(factor) = self.multiple_of {
            let native = self.in_range(Num::Float(factor), "MultipleOf", at, &mut report);
            let (number, factor) = comparable(number, factor, native);
            report.extend(not_multiple(at, number, factor));
        }
        for (bound, what, exclusive, lower) in [
            (self.minimum, "Minimum boundary", self.exclusive_minimum, true),
            (self.maximum, "Maximum boundary", self.exclusive_maximum, false),
        ] {
            let Some(bound) = bound else { continue };
            let native = self.in_range(Num::Float(bound), what, at, &mut report);
            let (number, bound) = comparable(number, bound, native);
            let broken = if lower { number.below(bound, exclusive) } else { bound.below(number, exclusive) };
            if broken {
                let relation = match (lower, exclusive) {
                    (true, true) => "greater than",
                    (true, false) => "greater than or equal to",
                    (false, true) => "less than",
                    (false, false) => "less than or equal to",
                };
                let detail = format!("{at} in body should be {relation} {}", bound.text());
                report.push(FieldError::invalid(at.field(), &number.value(), detail));
            }
        }
        report
    }

    /// Checks that a number is in the format's range; reports a finding if not.
    fn in_range(&self, number: Num, what: &str, at: &Where<'_>, report: &mut Report) -> bool {
        let Some(format) = self.format.filter(|format| !format.holds(number)) else { return true };
        let which =
            if format.name.is_empty() { "(default format)".into() } else { format!("with format {}", format.name) };
        let detail = format!("{what} value must be of type {} {which} in {at}", format.kind.name());
        report.push(FieldError::invalid(at.whole(), &"".into(), detail));
        false
    }
}

/// The number and a limit for a comparison: both int64, or both float64.
fn comparable(number: Num, limit: f64, native: bool) -> (Num, Num) {
    match number {
        Num::Int(_) if native => (number, Num::Int(truncate(limit))),
        _ => (Num::Float(number.float()), Num::Float(limit)),
    }
}

fn not_multiple(at: &Where<'_>, number: Num, factor: Num) -> Option<FieldError> {
    if factor.float() <= 0.0 {
        let detail = format!("factor MultipleOf declared for {at} must be positive: {}", factor.text());
        return Some(FieldError::invalid(at.field(), &factor.value(), detail));
    }
    let fits = match (number, factor) {
        (Num::Int(number), Num::Int(factor)) => number % factor == 0,
        _ if factor.float() < 1.0 => is_integer(1.0 / factor.float() * number.float()),
        _ => is_integer(number.float() / factor.float()),
    };
    let detail = || format!("{at} in body should be a multiple of {}", factor.text());
    (!fits).then(|| FieldError::invalid(at.field(), &number.value(), detail()))
}
