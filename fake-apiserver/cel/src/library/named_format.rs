//! Named formats of strings, such as `format.dns1123Label()`.
//!
//! Port of `pkg/cel/library/format.go` of k8s.io/apiserver v0.37.1 and of the rules of k8s.io/apimachinery and kube-openapi.

use super::{Opaque, Table, text};
use crate::value::{Outcome, Timestamp, Value, no_such_overload};

pub(super) const OVERLOADS: Table = &[
    ("format.byte", |_| Ok(constant("byte"))),
    ("format.date", |_| Ok(constant("date"))),
    ("format.datetime", |_| Ok(constant("datetime"))),
    ("format.dns1035Label", |_| Ok(constant("dns1035Label"))),
    ("format.dns1035LabelPrefix", |_| Ok(constant("dns1035LabelPrefix"))),
    ("format.dns1123Label", |_| Ok(constant("dns1123Label"))),
    ("format.dns1123LabelPrefix", |_| Ok(constant("dns1123LabelPrefix"))),
    ("format.dns1123Subdomain", |_| Ok(constant("dns1123Subdomain"))),
    ("format.dns1123SubdomainPrefix", |_| Ok(constant("dns1123SubdomainPrefix"))),
    ("format.labelValue", |_| Ok(constant("labelValue"))),
    ("format.qualifiedName", |_| Ok(constant("qualifiedName"))),
    ("format.uri", |_| Ok(constant("uri"))),
    ("format.uuid", |_| Ok(constant("uuid"))),
    ("format-named", |args| {
        let name = text(&args[0])?;
        let found = FORMATS.iter().find(|(known, _)| *known == name);
        Ok(found.map_or(Value::Optional(None), |(_, format)| Value::some(Value::Opaque(Opaque::Format(format)))))
    }),
    ("format-validate", |args| validate(&args[0], text(&args[1])?)),
];

/// A format.
#[derive(Debug)]
pub(crate) struct NamedFormat {
    pub(super) name: &'static str,
    /// The length of the regular expression that cost estimates assume.
    pub(crate) regex_size: u64,
    findings: fn(&str) -> Vec<String>,
}

const UUID: &str = "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$";
const DATE_TIME: &str = "^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$";

static FORMATS: [(&str, NamedFormat); 13] = [
    ("dns1123Label", named("DNS1123Label", 30, label)),
    ("dns1123Subdomain", named("DNS1123Subdomain", 60, subdomain)),
    ("dns1035Label", named("DNS1035Label", 30, dns1035)),
    ("qualifiedName", named("QualifiedName", 60, qualified_name)),
    ("dns1123LabelPrefix", named("DNS1123LabelPrefix", 30, |s| label(&masked(s)))),
    ("dns1123SubdomainPrefix", named("DNS1123SubdomainPrefix", 60, |s| subdomain(&masked(s)))),
    ("dns1035LabelPrefix", named("DNS1035LabelPrefix", 30, |s| dns1035(&masked(s)))),
    ("labelValue", named("LabelValue", 40, label_value)),
    ("uri", named("URI", 1103, |s| super::url::parse_request(s).err().into_iter().collect())),
    ("uuid", named("uuid", UUID.len() as u64, |s| unless(is_uuid(s), "does not match the UUID format"))),
    ("byte", named("byte", 84, |s| unless(is_base64(s), "invalid base64"))),
    ("date", named("date", DATE_TIME.len() as u64, |s| unless(Timestamp::parse_day(s).is_some(), "invalid date"))),
    ("datetime", named("datetime", DATE_TIME.len() as u64, |s| unless(is_date_time(s), "invalid datetime"))),
];

const fn named(name: &'static str, regex_size: u64, findings: fn(&str) -> Vec<String>) -> NamedFormat {
    NamedFormat { name, regex_size, findings }
}

fn constant(name: &str) -> Value {
    let found = FORMATS.iter().find(|(known, _)| *known == name).map(|(_, format)| format);
    found.map_or(Value::Null, |format| Value::Opaque(Opaque::Format(format)))
}

fn validate(format: &Value, subject: &str) -> Outcome {
    let Value::Opaque(Opaque::Format(format)) = format else { return no_such_overload() };
    let findings = (format.findings)(subject);
    Ok(match findings.is_empty() {
        true => Value::Optional(None),
        false => Value::some(Value::from(findings.into_iter().map(Value::from).collect::<Vec<_>>())),
    })
}

fn unless(is_right: bool, finding: &str) -> Vec<String> {
    if is_right { Vec::new() } else { vec![finding.to_owned()] }
}

/// A name as a prefix: a dash at its end is replaced by a letter.
fn masked(name: &str) -> String {
    match name.strip_suffix('-').filter(|rest| !rest.is_empty()) {
        Some(rest) => {
            let mut masked = rest.to_owned();
            masked.push('a');
            masked
        }
        None => name.to_owned(),
    }
}

const LABEL: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN: &str = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";
const DNS1035: &str = "[a-z]([-a-z0-9]*[a-z0-9])?";
const NAME: &str = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";

fn too_long(most: usize) -> String {
    format!("must be no more than {most} bytes")
}

fn wrong(message: &str, regex: &str, examples: &str) -> String {
    format!("{message} (e.g. {examples}, regex used for validation is '{regex}')")
}

fn is_label(text: &str) -> bool {
    let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let bytes = text.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return false };
    inner(*first) && inner(*last) && bytes.iter().all(|b| inner(*b) || *b == b'-')
}

fn is_subdomain(text: &str) -> bool {
    text.split('.').all(is_label)
}

pub(super) fn label(text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    if text.len() > 63 {
        findings.push(too_long(63));
    }
    if !is_label(text) {
        findings.push(match is_subdomain(text) {
            true => "must not contain dots".to_owned(),
            false => wrong(
                "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end \
                 with an alphanumeric character",
                LABEL,
                "'my-name',  or '123-abc'",
            ),
        });
    }
    findings
}

pub(super) fn subdomain(text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    if text.len() > 253 {
        findings.push(too_long(253));
    }
    if !is_subdomain(text) {
        findings.push(wrong(
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and \
             end with an alphanumeric character",
            SUBDOMAIN,
            "'example.com'",
        ));
    }
    findings
}

fn dns1035(text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    if text.len() > 63 {
        findings.push(too_long(63));
    }
    if !is_label(text) || text.starts_with(|c: char| c.is_ascii_digit()) {
        findings.push(wrong(
            "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, \
             and end with an alphanumeric character",
            DNS1035,
            "'my-name',  or 'abc-123'",
        ));
    }
    findings
}

fn is_name(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return false };
    let is_inner = |b: &u8| b.is_ascii_alphanumeric() || b"-_.".contains(b);
    first.is_ascii_alphanumeric() && last.is_ascii_alphanumeric() && bytes.iter().all(is_inner)
}

fn qualified_name(text: &str) -> Vec<String> {
    const RULE: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
    let rule = || wrong(RULE, NAME, "'MyName',  or 'my.name',  or '123-abc'");
    let mut findings = Vec::new();
    let parts: Vec<&str> = text.split('/').collect();
    let name = match parts.as_slice() {
        [name] => name,
        [prefix, name] => {
            if prefix.is_empty() {
                findings.push("prefix part must be non-empty".to_owned());
            } else {
                findings.extend(subdomain(prefix).into_iter().map(|finding| format!("prefix part {finding}")));
            }
            name
        }
        _ => {
            let optional = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
            return vec![format!("a valid label key {} {optional}", rule())];
        }
    };
    if name.is_empty() {
        findings.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        findings.push(format!("name part {}", too_long(63)));
    }
    if !is_name(name) {
        findings.push(format!("name part {}", rule()));
    }
    findings
}

fn label_value(text: &str) -> Vec<String> {
    let mut findings = Vec::new();
    if text.len() > 63 {
        findings.push(too_long(63));
    }
    if !text.is_empty() && !is_name(text) {
        findings.push(wrong(
            "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and \
             end with an alphanumeric character",
            "(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?",
            "'MyValue',  or 'my_value',  or '12345'",
        ));
    }
    findings
}

fn is_uuid(text: &str) -> bool {
    let mut rest = text;
    for (i, length) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if i > 0 {
            rest = rest.strip_prefix('-').unwrap_or(rest);
        }
        let Some((part, after)) = rest.split_at_checked(length) else { return false };
        if !part.bytes().all(|b| b.is_ascii_hexdigit()) {
            return false;
        }
        rest = after;
    }
    rest.is_empty()
}

/// Whether a text is valid base64.
fn is_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    !text.is_empty()
        && text.len().is_multiple_of(4)
        && text.len() - body.len() <= 2
        && body.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'+' || b == b'/')
}

fn is_date_time(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut parts = lower.split('t');
    let (Some(date), Some(clock)) = (parts.next(), parts.next()) else { return false };
    if Timestamp::parse_day(date).is_none() {
        return false;
    }
    crate::go_regex::compile(DATE_TIME).is_ok_and(|regex| {
        let within = |range: std::ops::Range<usize>, most: &str| clock.get(range).is_some_and(|part| part <= most);
        regex.is_match(clock) && within(0..2, "23") && within(3..5, "59") && within(6..8, "59")
    })
}
