//! References to container images.
//!
//! Follows `ParseImageName` of `pkg/util/parsers/parsers.go` (v1.37.1), which parses them by `github.com/distribution/reference` (v0.6.0).

/// The domain of names that have none.
const DEFAULT_DOMAIN: &str = "docker.io";
/// The most bytes of a name without its domain (`RepositoryNameTotalLengthMax`).
const LONGEST_NAME: usize = 255;

/// The tag of a reference: `latest` if it has neither tag nor digest; `None` if it has only a digest, or is not a valid reference.
pub(super) fn tag(image: &str) -> Option<&str> {
    if image.len() == 64 && is_all(image, is_lower_hex) {
        return None;
    }
    let (domain, rest) = with_domain(image);
    if rest.split(':').next().is_some_and(|name| name.chars().any(char::is_uppercase)) {
        return None;
    }
    let (named, digest) = rest.split_once('@').map_or((rest, None), |(named, digest)| (named, Some(digest)));
    let (name, tag) = match named.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => (name, Some(tag)),
        _ => (named, None),
    };
    let has_path = name.split('/').all(is_path_component);
    let is_familiar = matches!(domain, DEFAULT_DOMAIN | "index.docker.io") && !name.contains('/');
    let is_short = name.len() + if is_familiar { "library/".len() } else { 0 } <= LONGEST_NAME;
    let valid = has_path
        && is_short
        && (is_domain(domain) || is_path_component(domain))
        && tag.is_none_or(is_tag)
        && digest.is_none_or(is_digest);
    if !valid { None } else { tag.or(digest.is_none().then_some("latest")) }
}

/// The domain of a reference, and the rest (`splitDockerDomain`).
fn with_domain(image: &str) -> (&str, &str) {
    let Some((first, rest)) = image.split_once('/') else { return (DEFAULT_DOMAIN, image) };
    let is_domain = first == "localhost" || first.contains(['.', ':']) || first.chars().any(char::is_uppercase);
    if is_domain { (first, rest) } else { (DEFAULT_DOMAIN, image) }
}

fn is_all(text: &str, is: fn(u8) -> bool) -> bool {
    !text.is_empty() && text.bytes().all(is)
}

fn is_lower_hex(byte: u8) -> bool {
    byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)
}

/// A host, an address of IPv4, or one of IPv6 in brackets; and a port.
fn is_domain(domain: &str) -> bool {
    let (host, port) = match domain.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (domain, None),
    };
    let is_label = |label: &str| {
        is_all(label, |byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let address = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    let is_host = match address {
        Some(address) => is_all(address, |byte| byte.is_ascii_hexdigit() || byte == b':'),
        None => host.split('.').all(is_label),
    };
    is_host && port.is_none_or(|port| is_all(port, |byte| byte.is_ascii_digit()))
}

/// Lower case and digits, with single dots, one or two underscores, or any dashes between them.
fn is_path_component(component: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let mut separators = component.split(|character: char| character.is_ascii() && is_plain(character as u8));
    let ends = |byte: Option<&u8>| byte.is_some_and(|byte| is_plain(*byte));
    let is_separator = |text: &str| matches!(text, "" | "." | "_" | "__") || is_all(text, |byte| byte == b'-');
    ends(component.as_bytes().first()) && ends(component.as_bytes().last()) && separators.all(is_separator)
}

fn is_tag(tag: &str) -> bool {
    is_all(tag, |byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
        && !tag.starts_with(['.', '-'])
        && tag.len() <= 128
}

/// A digest of an algorithm that Go's package knows.
fn is_digest(digest: &str) -> bool {
    let lengths = [("sha256:", 64), ("sha384:", 96), ("sha512:", 128)];
    lengths.iter().any(|(algorithm, length)| {
        digest.strip_prefix(algorithm).is_some_and(|sum| sum.len() == *length && is_all(sum, is_lower_hex))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_has_a_tag_unless_a_digest_replaces_it_or_it_is_none() {
        let sum = "0123456789abcdef".repeat(4);
        let digest = format!("sha256:{sum}");
        for (image, expected) in [
            ("nginx", Some("latest")),
            ("nginx:1.7.9", Some("1.7.9")),
            ("nginx:latest", Some("latest")),
            ("localhost:5000/a/b__c.d---e:v_1", Some("v_1")),
            ("[::1]:5000/a", Some("latest")),
            ("Host/a", Some("latest")),
            ("a_b.c/d", Some("latest")),
            ("ko://knative.dev/serving/cmd/webhook", None),
            ("a//b", None),
            ("A", None),
            ("a:", None),
            ("a:.b", None),
            ("a b", None),
            ("a___b", None),
            ("a-", None),
            ("", None),
            ("example.com:/a", None),
            (&sum, None),
            (&format!("a@{digest}"), None),
            (&format!("a:latest@{digest}"), Some("latest")),
            ("a:latest@sha256:00", None),
            (&format!("a:latest@md5:{sum}"), None),
            (&"a".repeat(248), None),
            (&"a".repeat(247), Some("latest")),
        ] {
            assert_eq!(tag(image), expected, "{image}");
        }
    }
}
