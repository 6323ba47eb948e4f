//! Parts of JSON text as Go writes it, without spaces, found without decoding the rest.

use std::ops::Range;

/// The place of a member of an object.
pub(super) struct Member {
    /// The name, between its quotes.
    pub(super) name: Range<usize>,
    pub(super) value: Range<usize>,
}

/// The members of the object that begins at `start`; none, if something else does.
pub(super) fn members(json: &[u8], start: usize) -> Vec<Member> {
    let mut members = Vec::new();
    let mut at = start + 1;
    while json.get(start) == Some(&b'{') && json.get(at) == Some(&b'"') {
        let name = at..end_of_value(json, at);
        if json.get(name.end) != Some(&b':') {
            break;
        }
        let value = name.end + 1..end_of_value(json, name.end + 1);
        at = value.end + 1;
        members.push(Member { name: name.start + 1..name.end - 1, value });
    }
    members
}

/// The member of that name of the object that begins at `start`.
fn member(json: &[u8], start: usize, name: &str) -> Option<Member> {
    members(json, start).into_iter().find(|member| &json[member.name.clone()] == name.as_bytes())
}

/// The places where the items of the list begin that begins at `start`.
fn items(json: &[u8], start: usize) -> Vec<usize> {
    let mut items = Vec::new();
    let mut at = start + 1;
    while json.get(start) == Some(&b'[') && json.get(at).is_some_and(|byte| *byte != b']') {
        items.push(at);
        at = end_of_value(json, at);
        at += usize::from(json.get(at) == Some(&b','));
    }
    items
}

/// The end of the value that begins at `start`.
fn end_of_value(json: &[u8], start: usize) -> usize {
    let (mut depth, mut at) = (0_usize, start);
    while let Some(byte) = json.get(at) {
        match byte {
            b'"' => at = end_of_string(json, at) - 1,
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth > 0 => depth -= 1,
            b'}' | b']' | b',' | b':' if depth == 0 => return at,
            _ => {}
        }
        at += 1;
        if depth == 0 && matches!(byte, b'"' | b'}' | b']') {
            return at;
        }
    }
    at
}

/// The end of the string that begins at `start`.
fn end_of_string(json: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(special) = memchr::memchr2(b'"', b'\\', &json[at.min(json.len())..]) {
        at += special;
        match json[at] {
            b'"' => return at + 1,
            _ => at += 2,
        }
    }
    json.len()
}

/// An object, a list of objects or a table, without the managed fields of its objects (`copyWithoutManagedFields`).
pub(super) fn without_managed_fields(json: &[u8]) -> Vec<u8> {
    let mut left_out = Vec::new();
    for Member { name, value } in members(json, 0) {
        match &json[name] {
            b"metadata" => left_out.extend(managed_fields(json, value.start)),
            b"items" => left_out.extend(items(json, value.start).into_iter().filter_map(|item| of_object(json, item))),
            b"rows" => {
                let objects = items(json, value.start).into_iter().filter_map(|row| member(json, row, "object"));
                left_out.extend(objects.filter_map(|object| of_object(json, object.value.start)));
            }
            _ => {}
        }
    }
    let mut kept = Vec::with_capacity(json.len());
    let mut from = 0;
    for place in left_out {
        kept.extend_from_slice(&json[from..place.start]);
        from = place.end;
    }
    kept.extend_from_slice(&json[from..]);
    kept
}

/// The place of the managed fields of the object that begins at `start`.
fn of_object(json: &[u8], start: usize) -> Option<Range<usize>> {
    managed_fields(json, member(json, start, "metadata")?.value.start)
}

/// The place of the managed fields, with one comma beside them, in the metadata that begin at `start`.
fn managed_fields(json: &[u8], start: usize) -> Option<Range<usize>> {
    let member = member(json, start, "managedFields")?;
    let own = member.name.start - 1..member.value.end;
    Some(match (json[own.start - 1], json.get(own.end)) {
        (b',', _) => own.start - 1..own.end,
        (_, Some(b',')) => own.start..own.end + 1,
        _ => own,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn managed_fields_are_left_out() {
        for (json, expected) in [
            (
                r#"{"a":1,"metadata":{"name":"n","managedFields":[{"a":"}\"]"}]},"b":2}"#,
                r#"{"a":1,"metadata":{"name":"n"},"b":2}"#,
            ),
            (
                r#"{"metadata":{"managedFields":[],"x":{"managedFields":1}}}"#,
                r#"{"metadata":{"x":{"managedFields":1}}}"#,
            ),
            (r#"{"metadata":{"managedFields":[{}]}}"#, r#"{"metadata":{}}"#),
            (r#"{"metadata":{},"spec":{"managedFields":[]}}"#, r#"{"metadata":{},"spec":{"managedFields":[]}}"#),
            (
                r#"{"metadata":{},"items":[{"metadata":{"a":"\\","managedFields":[]}},{"metadata":{}},{"metadata":{"managedFields":[1],"b":[]}}]}"#,
                r#"{"metadata":{},"items":[{"metadata":{"a":"\\"}},{"metadata":{}},{"metadata":{"b":[]}}]}"#,
            ),
            (
                r#"{"rows":[{"cells":["{",null,-1.5],"object":{"metadata":{"managedFields":[]}}},{"cells":[]}]}"#,
                r#"{"rows":[{"cells":["{",null,-1.5],"object":{"metadata":{}}},{"cells":[]}]}"#,
            ),
            (r#"{"items":[]}"#, r#"{"items":[]}"#),
            (r#"[{"metadata":{"managedFields":[]}}]"#, r#"[{"metadata":{"managedFields":[]}}]"#),
            ("5", "5"),
            ("", ""),
            (r#"{"metadata"#, r#"{"metadata"#),
        ] {
            let kept = without_managed_fields(json.as_bytes());
            assert_eq!(String::from_utf8(kept).unwrap(), expected, "{json}");
        }
    }
}
