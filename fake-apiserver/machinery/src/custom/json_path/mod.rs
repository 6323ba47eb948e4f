//! JSONPath as in Kubernetes: single expressions such as `.status.conditions[?(@.type=="Ready")].status`, which select
//! values in an object.
//!
//! Follows `k8s.io/client-go/util/jsonpath` (v0.37.1), with missing keys allowed.

mod parse;
mod select;
mod steps;

pub use steps::{JsonPath, Mismatch};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deadline::Deadline;
    use tree::json;

    #[test]
    fn expressions_lead_to_values() {
        let deadline = Deadline::default();
        let object = json!({
            "spec": {"replicas": 3, "a.b": "dotted", "list": [1, 2, 3, 4], "empty": null},
            "status": {"conditions": [{"type": "Ready", "status": "True", "n": 1}, {"type": "Synced", "status": "False", "n": 2}]},
        });
        let table = [
            (".spec.replicas", json!([3])),
            ("$.spec.replicas", json!([3])),
            (".spec.a\\.b", json!(["dotted"])),
            (".spec['a\\.b']", json!(["dotted"])),
            (".spec.missing.deeper", json!([])),
            (".spec.empty", json!([null])),
            (".spec.empty.deeper", json!([])),
            (".spec.list[0]", json!([1])),
            (".spec.list[-1]", json!([4])),
            (".spec.list[1:3]", json!([2, 3])),
            (".spec.list[::2]", json!([1, 3])),
            (".spec.list[*]", json!([1, 2, 3, 4])),
            (".spec.list[0,2]", json!([1, 3])),
            (".status.conditions[?(@.type==\"Ready\")].status", json!(["True"])),
            (".status.conditions[?(@.type=='Synced')].status", json!(["False"])),
            (".status.conditions[?(@.n>1)].type", json!(["Synced"])),
            (".status.conditions[?(@.missing)].type", json!([])),
            (".status.conditions[?(@.n)].type", json!(["Ready", "Synced"])),
            ("..type", json!(["Ready", "Synced"])),
            (".status.conditions[*].type", json!(["Ready", "Synced"])),
        ];
        for (path, expected) in table {
            let parsed = JsonPath::parse(path);
            let found = parsed.as_ref().and_then(|path| path.find(&object, &deadline).ok());
            assert_eq!(json!(found), expected, "{path}");
        }
        for path in [".spec.list[9]", ".spec.replicas[0]", ".spec[?(@.a==1)]", ".status.conditions[?(@.n=='1')]"] {
            assert!(JsonPath::parse(path).is_some_and(|path| path.find(&object, &deadline).is_err()), "{path}");
        }
        for path in [".spec[", ".a[?(@.b]", ".a['b", "a.b", ".a[x]", ".a[?(@.b=1)]", "....a"] {
            assert!(JsonPath::parse(path).is_none(), "{path}");
        }
    }

    /// Each value is below many others. Where the number of values matters to a filter, several remain several.
    #[test]
    fn descents_do_not_multiply_values() {
        let deep = |value| (0..30).fold(value, |below, _| json!({"a": below, "b": [{"c": 1}]}));
        let (object, deadline) = (deep(json!({"last": 7})), Deadline::default());
        let once = JsonPath::parse("..last").unwrap();
        let often = JsonPath::parse(&("..a".repeat(6) + "..last")).unwrap();
        let nothing = JsonPath::parse(&("..a".repeat(6) + "..nothing")).unwrap();
        assert_eq!(once.find(&object, &deadline).unwrap(), [&json!(7)]);
        assert_eq!(often.find(&object, &deadline).unwrap(), [&json!(7), &json!(7)]);
        assert!(nothing.find(&object, &deadline).unwrap().is_empty());
        let nested = (0..40).fold(json!(7), |below, _| json!([below]));
        let union = JsonPath::parse(&"[*,*]".repeat(40)).unwrap();
        assert_eq!(union.find(&nested, &deadline).unwrap(), [&json!(7), &json!(7)]);
        let list = json!([{"x": {"x": {"z": 1}}}]);
        for (path, passes) in [("[?(@..z==1)]", Some(1)), ("[?(@..x..z==1)]", None), ("[?(@..x..z)]", Some(1))] {
            let path = JsonPath::parse(path).unwrap();
            assert_eq!(path.find(&list, &deadline).ok().map(|found| found.len()), passes, "{path:?}");
        }
    }

    #[test]
    fn nothing_is_selected_when_the_time_is_up() {
        let (object, path) = (json!({"a": 1}), JsonPath::parse("..a").unwrap());
        assert!(path.first(&object, &Deadline::default()).is_some());
        assert!(path.first(&object, &Deadline::passed()).is_none());
    }
}
