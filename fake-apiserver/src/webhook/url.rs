//! URLs of webhooks, and of what they redirect to.
//!
//! Follows as much of `net/url` (Go 1.26) as `Location` headers need: no users, no fragments.

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use std::fmt;

/// The characters of a `Location` that Go's `URL.String` escapes.
const ESCAPED: &AsciiSet =
    &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'\\').add(b'^').add(b'`').add(b'{').add(b'|').add(b'}');

/// A URL with the scheme `https` or `http`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Url {
    pub(super) is_secure: bool,
    /// The host as it is written, with the port if one is given.
    pub(super) authority: String,
    /// The host to connect to, and whose name the certificate must have.
    pub(super) host: String,
    pub(super) port: u16,
    /// The path, and the query behind it.
    pub(super) path: String,
}

/// The reason that a text is not such a URL, in Go's words.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unusable {
    Text(String),
    /// Its scheme is another one.
    Scheme(String),
}

impl From<Unusable> for String {
    fn from((Unusable::Text(why) | Unusable::Scheme(why)): Unusable) -> String {
        why
    }
}

impl Url {
    /// Reads an absolute URL.
    ///
    /// # Errors
    /// If its scheme is another one, or its port is none.
    pub(super) fn parse(text: &str) -> Result<Url, Unusable> {
        let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
        let is_secure = match scheme {
            "https" => true,
            "http" => false,
            scheme => return Err(Unusable::Scheme(format!("unsupported protocol scheme {scheme:?}"))),
        };
        let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, port),
            _ => (authority, ""),
        };
        let invalid = |_| Unusable::Text(format!("parse {text:?}: invalid port {:?} after host", format!(":{port}")));
        let port = match (port, is_secure) {
            ("", true) => 443,
            ("", false) => 80,
            (port, _) => port.parse().map_err(invalid)?,
        };
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        Ok(Url { is_secure, authority: authority.into(), host, port, path: path.into() })
    }

    /// The URL to which a `Location` in the answer of this one leads (`URL.Parse`).
    ///
    /// # Errors
    /// If it is none.
    pub(super) fn join(&self, location: &str) -> Result<Url, Unusable> {
        if location.contains(|letter: char| letter.is_ascii_control()) {
            let why = format!("parse {location:?}: net/url: invalid control character in URL");
            return Err(Unusable::Text(why));
        }
        let location = utf8_percent_encode(location, ESCAPED).to_string();
        let location = location.split('#').next().unwrap_or_default();
        let is_absolute = location.find(':').is_some_and(|colon| !location[..colon].contains(['/', '?']));
        if is_absolute {
            return Url::parse(location).map(Url::without_dots);
        }
        if let Some(rest) = location.strip_prefix("//") {
            let scheme = if self.is_secure { "https" } else { "http" };
            return Url::parse(&format!("{scheme}://{rest}")).map(Url::without_dots);
        }
        let own = self.path.split('?').next().unwrap_or_default();
        let path = match location.chars().next() {
            None => self.path.clone(),
            Some('/') => location.into(),
            Some('?') => format!("{own}{location}"),
            Some(_) => format!("{}{location}", &own[..own.rfind('/').map_or(0, |slash| slash + 1)]),
        };
        Ok(Url { path, ..self.clone() }.without_dots())
    }

    /// The path and query as they are sent.
    pub(super) fn target(&self) -> String {
        if self.path.starts_with('/') { self.path.clone() } else { format!("/{}", self.path) }
    }

    /// Resolves the steps `.` and `..` (`resolvePath`).
    fn without_dots(mut self) -> Url {
        let (path, query) = self.path.split_at(self.path.find('?').unwrap_or(self.path.len()));
        if path.split('/').any(|step| step == "." || step == "..") {
            let mut steps = Vec::new();
            for step in path.split('/').skip(1) {
                match step {
                    "." => {}
                    ".." => drop(steps.pop()),
                    step => steps.push(step),
                }
            }
            if path.ends_with("/.") || path.ends_with("/..") {
                steps.push("");
            }
            self.path = format!("/{}{query}", steps.join("/"));
        }
        self
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.is_secure { "https" } else { "http" };
        write!(f, "{scheme}://{}{}", self.authority, self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_are_resolved() {
        let base = Url::parse("https://a:84/x/y?timeout=1s").unwrap();
        for (location, expected) in [
            ("https://b/c?d", "https://b/c?d"),
            ("https://b", "https://b"),
            ("http://[::1]:1/c/../d", "http://[::1]:1/d"),
            ("//b:1/c", "https://b:1/c"),
            ("/c/./d/..", "https://a:84/c/"),
            ("/c d#e", "https://a:84/c%20d"),
            ("c?e", "https://a:84/x/c?e"),
            ("../c", "https://a:84/c"),
            ("?e", "https://a:84/x/y?e"),
            ("ftp://b/", "unsupported protocol scheme \"ftp\""),
            ("https://b:x/", "parse \"https://b:x/\": invalid port \":x\" after host"),
            ("a\u{7f}", "parse \"a\\u{7f}\": net/url: invalid control character in URL"),
        ] {
            assert_eq!(base.join(location).map_or_else(String::from, |url| url.to_string()), expected, "{location}");
        }
        let url = Url::parse("http://b?c").unwrap();
        assert_eq!((url.port, &*url.target()), (80, "/?c"));
    }
}
