//! Schemas of version 3 as version 2 has them.

/// The schema in version 2, given that in version 3: without defaults (`PruneDefaults` of kube-openapi's `pkg/handler`), with
/// references in place (`WrapRefs` of its `pkg/schemamutation`, backwards), a string where Go says that it may be a number, too.
pub(super) fn to_v2(schema: &str) -> String {
    const REFERENCE: &str = r##""allOf":[{"$ref":"#/components/schemas/"##;
    const EITHER: &str = r#""oneOf":"#;
    const FORMAT: &str = r#""format":""#;
    const DEFAULT: &str = r#""default":"#;
    let mut two = String::with_capacity(schema.len());
    let mut rest = schema;
    while let Some(at) = rest.find(':') {
        let (before, value) = rest.split_at(at + 1);
        rest = value;
        if let Some(before) = before.strip_suffix(DEFAULT).filter(|_| !is_schema(value)) {
            two.push_str(before);
            rest = &value[value_length(value)..];
            // Together with the comma behind it, or else that before it.
            match rest.strip_prefix(',') {
                Some(behind) => rest = behind,
                None => two.truncate(two.trim_end_matches(',').len()),
            }
        } else if let Some(before) = before.strip_suffix(EITHER).filter(|_| value.starts_with('[')) {
            two.push_str(before);
            // The type stands before the format.
            let format = two.rfind(FORMAT).filter(|at| two[at + FORMAT.len()..].matches('"').count() == 1);
            two.insert_str(format.unwrap_or(two.len()), r#""type":"string","#);
            two.pop();
            rest = &value[value_length(value)..];
        } else {
            two.push_str(before);
        }
    }
    two.push_str(rest);
    let mut referring = String::with_capacity(two.len());
    let mut rest = &*two;
    while let Some((before, behind)) = rest.split_once(REFERENCE) {
        let (name, behind) = behind.split_once("\"}]").expect("one reference stands in a list");
        referring.push_str(before);
        referring.push_str(r##""$ref":"#/definitions/"##);
        referring.push_str(name);
        referring.push('"');
        rest = behind;
    }
    referring.push_str(rest);
    unescaped(&referring.replace("#/components/schemas/", "#/definitions/"))
}

/// Whether the value of `default` is that of a property of this name.
fn is_schema(value: &str) -> bool {
    [r#"{"description":"#, r#"{"type":"#, r#"{"$ref":"#, r#"{"allOf":"#].iter().any(|begin| value.starts_with(begin))
}

/// The length of the JSON value at the beginning of a text.
fn value_length(json: &str) -> usize {
    let (mut depth, mut is_text, mut escaped) = (0, false, false);
    for (at, byte) in json.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if is_text => escaped = true,
            b'"' => is_text = !is_text,
            _ if is_text => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' | b',' if depth == 0 => return at,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
    }
    json.len()
}

/// JSON without the escapes of characters that are special in HTML and JavaScript.
pub(super) fn unescaped(json: &str) -> String {
    let mut plain = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        plain.push_str(before);
        let character = match escape.get(..6) {
            Some("\\u003c") => Some('<'),
            Some("\\u003e") => Some('>'),
            Some("\\u0026") => Some('&'),
            Some("\\u2028") => Some('\u{2028}'),
            Some("\\u2029") => Some('\u{2029}'),
            _ => None,
        };
        let length = if character.is_some() { 6 } else { 2 };
        match character {
            Some(character) => plain.push(character),
            None => plain.push_str(&escape[..length]),
        }
        rest = &escape[length..];
    }
    plain.push_str(rest);
    plain
}
