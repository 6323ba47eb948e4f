//! Rules for names and keys. Each returns its objections, in the words of `k8s.io/apimachinery/pkg/api/validate/content` and
//! `pkg/util/validation` (v0.37.1), which contain regular expressions that are matched here by hand.

/// `DNS1123LabelMaxLength`.
const DNS1123_LABEL_MAX_LENGTH: usize = 63;
/// `DNS1123SubdomainMaxLength`.
const DNS1123_SUBDOMAIN_MAX_LENGTH: usize = 253;
/// `LabelValueMaxLength`, and the same for the name part of a key.
const LABEL_VALUE_MAX_LENGTH: usize = 63;

const SUBDOMAIN_WITH_UNDERSCORES_TEXT: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric \
     characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for \
     validation is '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')";
const LABEL_TEXT: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', \
    and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', \
    regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const DNS1035_LABEL_TEXT: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', \
    start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', \
    regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN_TEXT: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, \
    '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', \
    regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const CASELESS_SUBDOMAIN_TEXT: &str = "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must \
    start and end with an alphanumeric character (e.g. 'Example.com', \
    regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const WILDCARD_TEXT: &str = "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must \
    consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', \
    regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const C_IDENTIFIER_TEXT: &str = "a valid C identifier must start with alphabetic character or '_', followed by a string of \
    alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', \
    regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')";
const KEY_TEXT: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an \
    alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', \
    regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE_TEXT: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', \
    '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', \
    regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

const DATA_KEY_TEXT: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' \
    (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

/// Whether all bytes are alphanumeric or in `inner`, the outermost alphanumeric, and there is at least one.
fn is_word(text: &str, alphanumeric: fn(u8) -> bool, inner: &[u8]) -> bool {
    let bytes = text.as_bytes();
    bytes.first().is_some_and(|byte| alphanumeric(*byte))
        && bytes.last().is_some_and(|byte| alphanumeric(*byte))
        && bytes.iter().all(|byte| alphanumeric(*byte) || inner.contains(byte))
}

fn lower(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit()
}

fn is_label(text: &str) -> bool {
    is_word(text, lower, b"-")
}

fn is_subdomain(text: &str) -> bool {
    text.split('.').all(is_label)
}

fn is_key(text: &str) -> bool {
    is_word(text, |byte| byte.is_ascii_alphanumeric(), b"-_.")
}

/// `MaxLenError`. Names count "characters" and keys "bytes"; both count bytes.
fn too_long(max: usize, unit: &str) -> String {
    format!("must be no more than {max} {unit}")
}

/// `IsDNS1123Label`.
pub fn dns_label(text: &str) -> Vec<String> {
    let mut objections = Vec::new();
    if text.len() > DNS1123_LABEL_MAX_LENGTH {
        objections.push(too_long(DNS1123_LABEL_MAX_LENGTH, "characters"));
    }
    if !is_label(text) {
        objections.push(if is_subdomain(text) { "must not contain dots" } else { LABEL_TEXT }.into());
    }
    objections
}

/// `IsDNS1123Label` of package `content`, which counts bytes.
pub fn short_name(text: &str) -> Vec<String> {
    in_bytes(dns_label(text))
}

/// `IsDNS1123Subdomain` of package `content`, which counts bytes.
pub fn long_name(text: &str) -> Vec<String> {
    subdomain(text, "bytes")
}

/// `IsDNS1123SubdomainCaseless`.
pub fn long_name_caseless(text: &str) -> Vec<String> {
    let objections = subdomain(&text.to_ascii_lowercase(), "bytes").into_iter();
    let caseless =
        |objection: String| if objection == SUBDOMAIN_TEXT { CASELESS_SUBDOMAIN_TEXT.into() } else { objection };
    objections.map(caseless).collect()
}

/// `IsCIdentifier`.
pub fn c_identifier(text: &str) -> Vec<String> {
    let starts = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    match starts && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        true => Vec::new(),
        false => vec![C_IDENTIFIER_TEXT.into()],
    }
}

fn in_bytes(objections: Vec<String>) -> Vec<String> {
    let in_bytes = |objection: String| match objection.strip_suffix(" characters") {
        Some(rest) if rest.starts_with("must be no more than ") => format!("{rest} bytes"),
        _ => objection,
    };
    objections.into_iter().map(in_bytes).collect()
}

/// `IsDNS1035Label`.
pub fn dns1035_label(text: &str) -> Vec<String> {
    let mut objections = Vec::new();
    if text.len() > DNS1123_LABEL_MAX_LENGTH {
        objections.push(too_long(DNS1123_LABEL_MAX_LENGTH, "characters"));
    }
    if !(is_label(text) && text.starts_with(|first: char| first.is_ascii_lowercase())) {
        objections.push(DNS1035_LABEL_TEXT.into());
    }
    objections
}

/// `IsDNS1123Subdomain`.
pub fn dns_subdomain(text: &str) -> Vec<String> {
    subdomain(text, "characters")
}

fn subdomain(text: &str, unit: &str) -> Vec<String> {
    let mut objections = Vec::new();
    if text.len() > DNS1123_SUBDOMAIN_MAX_LENGTH {
        objections.push(too_long(DNS1123_SUBDOMAIN_MAX_LENGTH, unit));
    }
    if !is_subdomain(text) {
        objections.push(SUBDOMAIN_TEXT.into());
    }
    objections
}

/// `IsWildcardDNS1123Subdomain`: a subdomain below any name.
pub fn wildcard_dns_subdomain(text: &str) -> Vec<String> {
    let mut objections = Vec::new();
    if text.len() > DNS1123_SUBDOMAIN_MAX_LENGTH {
        objections.push(too_long(DNS1123_SUBDOMAIN_MAX_LENGTH, "characters"));
    }
    if !text.strip_prefix("*.").is_some_and(is_subdomain) {
        objections.push(WILDCARD_TEXT.into());
    }
    objections
}

/// `IsDNS1123SubdomainWithUnderscore`.
pub fn dns_subdomain_with_underscores(text: &str) -> Vec<String> {
    let is_label = |label: &str| {
        let label = label.strip_prefix('_').unwrap_or(label);
        let alphanumeric = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        label.starts_with(alphanumeric)
            && label.ends_with(alphanumeric)
            && label.chars().all(|c| alphanumeric(c) || matches!(c, '-' | '_'))
    };
    let mut objections = Vec::new();
    if text.len() > DNS1123_SUBDOMAIN_MAX_LENGTH {
        objections.push(too_long(DNS1123_SUBDOMAIN_MAX_LENGTH, "characters"));
    }
    if !text.split('.').all(is_label) {
        objections.push(SUBDOMAIN_WITH_UNDERSCORES_TEXT.into());
    }
    objections
}

/// `IsPathSegmentPrefix`: the rule for all prefixes of generated names.
pub fn path_segment_prefix(text: &str) -> Vec<String> {
    ["/", "%"].iter().filter(|part| text.contains(**part)).map(|part| format!("may not contain '{part}'")).collect()
}

/// `IsPathSegmentName`: the rule for all names, which are part of paths.
pub fn path_segment(text: &str) -> Vec<String> {
    match text {
        "." | ".." => vec![format!("may not be '{text}'")],
        _ => path_segment_prefix(text),
    }
}

/// `IsLabelKey`, also known as `IsQualifiedName`: an optional subdomain, a slash, and a name.
pub fn label_key(text: &str) -> Vec<String> {
    let mut objections = Vec::new();
    let mut parts = text.split('/');
    let name = match (parts.next().unwrap_or_default(), parts.next(), parts.next()) {
        (name, None, _) => name,
        ("", Some(name), None) => {
            objections.push("prefix part must be non-empty".into());
            name
        }
        (prefix, Some(name), None) => {
            objections.extend(subdomain(prefix, "bytes").iter().map(|objection| format!("prefix part {objection}")));
            name
        }
        _ => {
            return vec![format!(
                "a valid label key {KEY_TEXT} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
    };
    if name.is_empty() {
        objections.push("name part must be non-empty".into());
    } else if name.len() > LABEL_VALUE_MAX_LENGTH {
        objections.push(format!("name part {}", too_long(LABEL_VALUE_MAX_LENGTH, "bytes")));
    }
    if !is_key(name) {
        objections.push(format!("name part {KEY_TEXT}"));
    }
    objections
}

/// The rule for keys of annotations: that for keys of labels, whatever the case.
pub fn annotation_key(text: &str) -> Vec<String> {
    match text.bytes().all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase()) {
        true => label_key(text),
        false => label_key(&text.to_lowercase()),
    }
}

/// `IsConfigMapKey`: a key of `data`.
pub fn data_key(text: &str) -> Vec<String> {
    let mut objections = Vec::new();
    if text.len() > DNS1123_SUBDOMAIN_MAX_LENGTH {
        objections.push(too_long(DNS1123_SUBDOMAIN_MAX_LENGTH, "characters"));
    }
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte)) {
        objections.push(DATA_KEY_TEXT.into());
    }
    match text {
        "." => objections.push("must not be '.'".into()),
        ".." => objections.push("must not be '..'".into()),
        _ if text.starts_with("..") => objections.push("must not start with '..'".into()),
        _ => {}
    }
    objections
}

/// `IsLabelValue`.
pub fn label_value(text: &str) -> Vec<String> {
    let mut objections = Vec::new();
    if text.len() > LABEL_VALUE_MAX_LENGTH {
        objections.push(too_long(LABEL_VALUE_MAX_LENGTH, "bytes"));
    }
    if !text.is_empty() && !is_key(text) {
        objections.push(LABEL_VALUE_TEXT.into());
    }
    objections
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_tell_good_from_bad() {
        let long = "a".repeat(64);
        let longer = "a.".repeat(127) + "a";
        type Rule = fn(&str) -> Vec<String>;
        let table: &[(Rule, &str, &[&str])] = &[
            (dns_label, "a-0", &[]),
            (dns_label, "a.b", &["must not contain dots"]),
            (dns_label, "A", &[LABEL_TEXT]),
            (dns_label, "", &[LABEL_TEXT]),
            (dns_label, &long, &["must be no more than 63 characters"]),
            (dns_subdomain, "a.b-c.0", &[]),
            (dns_subdomain, "a..b", &[SUBDOMAIN_TEXT]),
            (dns_subdomain, "a.", &[SUBDOMAIN_TEXT]),
            (dns_subdomain, &longer, &["must be no more than 253 characters"]),
            (path_segment, "system:x y", &[]),
            (path_segment, "..", &["may not be '..'"]),
            (path_segment, "a/%", &["may not contain '/'", "may not contain '%'"]),
            (data_key, ".a_-B", &[]),
            (data_key, "a b", &[DATA_KEY_TEXT]),
            (data_key, "", &[DATA_KEY_TEXT]),
            (data_key, "..", &["must not be '..'"]),
            (data_key, "..a", &["must not start with '..'"]),
            (label_value, "", &[]),
            (label_value, "a_B.9", &[]),
            (label_value, "-", &[LABEL_VALUE_TEXT]),
            (label_key, "example.com/My_name", &[]),
            (label_key, "/a", &["prefix part must be non-empty"]),
        ];
        for (rule, text, objections) in table {
            assert_eq!(rule(text), *objections, "{text:?}");
        }
        assert_eq!(label_key("a/").len(), 2);
        assert!(label_key("a/b/c")[0].starts_with("a valid label key must consist"));
    }
}
