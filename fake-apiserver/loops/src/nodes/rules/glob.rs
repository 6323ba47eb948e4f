//! Patterns in which a star stands for any text.

/// A pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::nodes) struct Glob(String);

impl Glob {
    pub(super) fn new(pattern: impl Into<String>) -> Glob {
        Glob(pattern.into())
    }

    /// Whether a text is as the pattern says.
    pub(in crate::nodes) fn matches(&self, text: &str) -> bool {
        let Some((first, rest)) = self.0.split_once('*') else { return self.0 == text };
        let (middle, last) = rest.rsplit_once('*').unwrap_or(("", rest));
        let Some(mut left) = text.strip_prefix(first).and_then(|left| left.strip_suffix(last)) else { return false };
        for part in middle.split('*') {
            match left.split_once(part) {
                Some((_, after)) => left = after,
                None => return false,
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::Glob;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, matching, others) in [
            ("a", &["a"][..], &["", "aa"][..]),
            ("*", &["", "a/b"], &[]),
            ("*:bad", &["x/y:bad", ":bad"], &["bad", "x:bad2"]),
            ("a*a", &["aa", "aba"], &["a"]),
            ("a*b*c*d", &["abcd", "axbycccd"], &["acbd", "abd"]),
        ] {
            let glob = Glob::new(pattern);
            assert!(matching.iter().all(|text| glob.matches(text)), "{pattern} {matching:?}");
            assert!(!others.iter().any(|text| glob.matches(text)), "{pattern} {others:?}");
        }
    }
}
