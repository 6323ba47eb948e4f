//! Formats of texts: the table of `supportedVersionedFormats` of `k8s.io/apiextensions-apiserver/pkg/apiserver/validation/formats.go`
//! (v0.37.1), with the checks of `k8s.io/kube-openapi/pkg/validation/strfmt`.

mod address;
mod code;
mod email;
mod time;

use crate::object::url;

/// A check of a text.
pub(super) type Check = fn(&str) -> bool;

/// The formats of texts, without dashes, in order.
const FORMATS: [(&str, Check); 26] = [
    ("bsonobjectid", code::object_id),
    ("byte", code::base64),
    ("cidr", address::cidr),
    ("creditcard", code::credit_card),
    ("date", time::date),
    ("datetime", time::date_time),
    ("duration", time::duration),
    ("email", email::email),
    ("hexcolor", code::hex_color),
    ("hostname", address::hostname),
    ("ipv4", address::ipv4),
    ("ipv6", address::ipv6),
    ("isbn", code::isbn),
    ("isbn10", code::isbn10),
    ("isbn13", code::isbn13),
    ("k8slongname", code::long_name),
    ("k8sshortname", code::short_name),
    ("mac", address::mac),
    ("password", |_| true),
    ("rgbcolor", code::rgb_color),
    ("ssn", code::social_security),
    ("uri", |text| url::parse_request_uri(text).is_ok()),
    ("uuid", |text| code::uuid(text, None, false)),
    ("uuid3", |text| code::uuid(text, Some(b'3'), false)),
    ("uuid4", |text| code::uuid(text, Some(b'4'), true)),
    ("uuid5", |text| code::uuid(text, Some(b'5'), true)),
];

/// The check of a format of texts; `None` if the format is not supported, and therefore ignored. Dashes in the name are
/// ignored.
pub(super) fn of_text(name: &str) -> Option<Check> {
    let plain = name.replace('-', "");
    let at = FORMATS.binary_search_by_key(&plain.as_str(), |(name, _)| name).ok()?;
    Some(FORMATS[at].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_found() {
        assert!(FORMATS.is_sorted_by_key(|(name, _)| name));
        assert!(of_text("date-time").is_some() && of_text("k8s-short-name").is_some());
        assert!(of_text("binary").is_none() && of_text("").is_none());
    }
}
