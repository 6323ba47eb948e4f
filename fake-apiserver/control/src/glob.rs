//! Patterns in which `*` stands for any text.

/// Whether a text is what a pattern describes: `*` is any text, `\*` an asterisk.
pub fn glob(pattern: &str, text: &str) -> bool {
    // The pieces between the asterisks; the first and the last are bound to the ends.
    let pieces = pieces(pattern);
    let [first, middle @ .., last] = pieces.as_slice() else {
        return pieces.first().is_some_and(|piece| piece == text);
    };
    let Some(rest) = text.strip_prefix(first.as_str()) else { return false };
    let Some(mut rest) = rest.strip_suffix(last.as_str()) else { return false };
    for piece in middle {
        let Some((_, after)) = rest.split_once(piece.as_str()) else { return false };
        rest = after;
    }
    true
}

/// The pattern that describes this text alone.
pub fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('*', "\\*")
}

fn pieces(pattern: &str) -> Vec<String> {
    let mut pieces = vec![String::new()];
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        let last = pieces.last_mut().expect("there is one from the start");
        match letter {
            '*' => pieces.push(String::new()),
            '\\' => last.extend(letters.next().or(Some('\\'))),
            _ => last.push(letter),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_asterisk_is_any_text() {
        for (pattern, text, expected) in [
            ("team-a", "team-a", true),
            ("team-a", "team-ab", false),
            ("team-*", "team-", true),
            ("team-*", "tea", false),
            ("*", "", true),
            ("*a*b*", "xxaxxbxx", true),
            ("*a*b*", "xxbxxaxx", false),
            ("a*a", "a", false),
            ("manager/*", "manager/v1 (linux)", true),
            ("", "", true),
            ("", "a", false),
            ("\\*", "*", true),
            ("\\*", "a", false),
            ("a\\\\*", "a\\b", true),
        ] {
            assert_eq!(glob(pattern, text), expected, "{pattern} {text}");
        }
        assert!(glob(&escaped("a*\\b"), "a*\\b"));
    }
}
