//! Values as they are hashed: a dump of the Go value, with all its zeros.
//!
//! Follows `%#v` of `github.com/davecgh/go-spew` (v1.1.1) as `k8s.io/utils/dump.ForHash` configures it: types without the paths of their
//! packages, keys in order, no addresses.

use super::types::{Field, Shape, TypeRef};
use std::fmt::Write as _;
use tree::Value;

const NIL: &str = "<nil>";
/// Go's zero time, and the one that is written for others: those depend on the place where the program runs.
const TIME: &str = "{Time:(time.Time){wall:(uint64)0 ext:(int64)0 loc:(*time.Location)<nil>}}";

impl TypeRef<'_> {
    /// The dump of a value that was read from protobuf: what is empty is nil, unless it is a pointer to a struct.
    pub fn dumped(self, value: &Value) -> String {
        let mut dump = String::new();
        typed(&mut dump, self, value);
        dump
    }
}

/// A value behind its type.
fn typed(dump: &mut String, ty: TypeRef<'_>, value: &Value) {
    let _ = write!(dump, "({})", ty.go_name());
    match ty.shape() {
        Shape::Pointer(_) if value.is_null() => dump.push_str(NIL),
        Shape::Pointer(target) => bare(dump, ty.at(*target), value),
        _ => bare(dump, ty, value),
    }
}

/// A value without its type.
fn bare(dump: &mut String, ty: TypeRef<'_>, value: &Value) {
    match (ty.shape(), value) {
        (Shape::Struct(content), value) => {
            dump.push('{');
            fields(dump, ty, &content.fields, value, 0);
            dump.push('}');
        }
        (Shape::Pointer(_), Value::Null) => dump.push_str(NIL),
        (Shape::Pointer(target), value) => {
            dump.push_str("<*>");
            bare(dump, ty.at(*target), value);
        }
        (Shape::List { element, .. }, Value::Array(items)) if !items.is_empty() => {
            dump.push('[');
            for (index, item) in items.iter().enumerate() {
                dump.push_str(if index > 0 { " " } else { "" });
                bare(dump, ty.at(*element), item);
            }
            dump.push(']');
        }
        (Shape::Map(element), Value::Object(entries)) if !entries.is_empty() => {
            let mut sorted: Vec<(&str, &Value)> = entries.iter().map(|(key, value)| (key.as_str(), value)).collect();
            sorted.sort_by_key(|(key, _)| *key);
            dump.push_str("map[");
            for (index, (key, value)) in sorted.into_iter().enumerate() {
                let _ = write!(dump, "{}{key}:", if index > 0 { " " } else { "" });
                bare(dump, ty.at(*element), value);
            }
            dump.push(']');
        }
        (Shape::List { .. } | Shape::Map(_) | Shape::Bytes, _) => dump.push_str(NIL),
        (Shape::Time | Shape::MicroTime, _) => dump.push_str(TIME),
        (Shape::Quantity, value) => quantity(dump, value.as_str().unwrap_or_default()),
        (Shape::IntOrString, value) => int_or_string(dump, value),
        (_, Value::String(text)) => dump.push_str(text),
        (Shape::String, _) => {}
        (_, Value::Null) => {
            let _ = write!(dump, "{}", ty.zero());
        }
        (_, value) => {
            let _ = write!(dump, "{value}");
        }
    }
}

/// The fields of a struct; those of embedded ones stand in braces of their own.
fn fields(dump: &mut String, ty: TypeRef<'_>, all: &[Field], value: &Value, depth: usize) {
    let embedded = |field: &Field| {
        let mut context = field.context.split('.').skip(depth);
        context.next().filter(|_| context.next().is_some()).map(str::to_owned)
    };
    let mut left = all;
    while let Some(field) = left.first() {
        if left.len() < all.len() {
            dump.push(' ');
        }
        let Some(name) = embedded(field) else {
            let _ = write!(dump, "{}:", field.go_name);
            typed(dump, ty.of(field), value.get(field.name()).unwrap_or(&Value::Null));
            left = &left[1..];
            continue;
        };
        let count = left.iter().take_while(|field| embedded(field).as_ref() == Some(&name)).count();
        // Embedded structs are of the same package.
        let own = ty.go_name();
        let package = own.split_once('.').map_or("", |(package, _)| package);
        let _ = write!(dump, "{name}:({package}.{name}){{");
        fields(dump, ty, &left[..count], value, depth + 1);
        dump.push('}');
        left = &left[count..];
    }
}

fn int_or_string(dump: &mut String, value: &Value) {
    let (kind, number, text) = match value {
        Value::String(text) => (1, 0, text.as_str()),
        value => (0, value.as_i64().unwrap_or_default(), ""),
    };
    let _ = write!(dump, "{{Type:(intstr.Type){kind} IntVal:(int32){number} StrVal:(string){text}}}");
}

/// The fields of a quantity that was just parsed (`ParseQuantity` of `k8s.io/apimachinery/pkg/api/resource`, v0.37.1), as far as it fits into
/// 64 bits.
fn quantity(dump: &mut String, text: &str) {
    let parsed = Parsed::of(text).unwrap_or_default();
    let Parsed { value, scale, format, is_canonical } = parsed;
    let kept = if is_canonical { text } else { "" };
    let _ = write!(
        dump,
        "{{i:(resource.int64Amount){{value:(int64){value} scale:(resource.Scale){scale}}} \
         d:(resource.infDecAmount){{Dec:(*inf.Dec){NIL}}} s:(string){kept} Format:(resource.Format){format}}}"
    );
}

#[derive(Debug, Default)]
struct Parsed {
    value: i64,
    scale: i32,
    format: &'static str,
    is_canonical: bool,
}

impl Parsed {
    fn of(text: &str) -> Option<Parsed> {
        if text == "0" {
            return Some(Parsed { format: "DecimalSI", is_canonical: true, ..Parsed::default() });
        }
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let end = unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
        let (number, suffix) = unsigned.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let digits = format!("{}{fraction}", whole.trim_start_matches('0'));
        let digits = if digits.is_empty() { "0" } else { &digits };
        let units =
            [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];
        let binary = [("Ki", 10), ("Mi", 20), ("Gi", 30), ("Ti", 40), ("Pi", 50), ("Ei", 60)];
        let number: i64 = digits.parse().ok()?;
        let of = |units: &[(&str, i32)]| units.iter().find(|(unit, _)| *unit == suffix).map(|(_, exponent)| *exponent);
        let sign = if text.starts_with('-') { -1 } else { 1 };
        if let Some(exponent) = of(&binary) {
            let value = number.checked_mul(1_i64.checked_shl(exponent.unsigned_abs())?)?;
            return Some(Parsed { value: sign * value, scale: 0, format: "BinarySI", is_canonical: number & 7 != 0 });
        }
        let (exponent, format) = match of(&units) {
            Some(exponent) => (exponent, "DecimalSI"),
            None => (suffix.strip_prefix(['e', 'E'])?.parse().ok()?, "DecimalExponent"),
        };
        let scale = exponent - i32::try_from(fraction.len()).ok()?;
        let is_canonical = scale % 3 == 0 && !digits.ends_with("000") && !digits.starts_with('0');
        Some(Parsed { value: sign * number, scale, format, is_canonical })
    }
}

#[cfg(test)]
mod tests {
    use crate::schema::lookup;
    use tree::json;

    fn dump(path: &str, value: tree::Value) -> String {
        let pod = lookup("v1", "Pod").expect("the type");
        let ty = path.split('.').fold(pod, |ty, name| {
            let ty = ty.target();
            ty.field(name).map(|field| ty.of(field)).or_else(|| ty.element()).expect(path)
        });
        ty.target().dumped(&value)
    }

    #[test]
    fn values_are_dumped_as_go_does() {
        for (path, value, dumped) in [
            ("metadata.labels", json!({"b": "1", "a": "2"}), "(map[string]string)map[a:2 b:1]"),
            ("metadata.labels", json!({}), "(map[string]string)<nil>"),
            (
                "spec.containers.0.ports.0",
                json!({"containerPort": 80}),
                "(v1.ContainerPort){Name:(string) HostPort:(int32)0 ContainerPort:(int32)80 Protocol:(v1.Protocol) HostIP:(string)}",
            ),
            (
                "spec.containers.0.resources.requests",
                json!({"cpu": "100m", "memory": "64Mi"}),
                "(v1.ResourceList)map[cpu:{i:(resource.int64Amount){value:(int64)100 scale:(resource.Scale)-3} d:(resource.infDecAmount){Dec:(*inf.Dec)<nil>} s:(string)100m Format:(resource.Format)DecimalSI} memory:{i:(resource.int64Amount){value:(int64)67108864 scale:(resource.Scale)0} d:(resource.infDecAmount){Dec:(*inf.Dec)<nil>} s:(string) Format:(resource.Format)BinarySI}]",
            ),
            (
                "spec.dnsConfig",
                json!({"searches": ["a", "b"]}),
                "(v1.PodDNSConfig){Nameservers:([]string)<nil> Searches:([]string)[a b] Options:([]v1.PodDNSConfigOption)<nil>}",
            ),
            (
                "spec.containers.0.readinessProbe.httpGet.port",
                json!("web"),
                "(intstr.IntOrString){Type:(intstr.Type)1 IntVal:(int32)0 StrVal:(string)web}",
            ),
            (
                "spec.containers.0.envFrom.0.secretRef",
                json!({"name": "s"}),
                "(v1.SecretEnvSource){LocalObjectReference:(v1.LocalObjectReference){Name:(string)s} Optional:(*bool)<nil>}",
            ),
        ] {
            assert_eq!(dump(path, value), dumped, "{path}");
        }
    }
}
