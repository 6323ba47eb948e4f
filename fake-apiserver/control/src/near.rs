//! Names that were meant, where another one was written.

/// The candidate that is most like a name, if one is like it at all: `secrets` for `secret`.
pub fn nearest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let name = name.to_lowercase();
    let of = |candidate: &'c str| (distance(&name, &candidate.to_lowercase()), candidate);
    let (distance, nearest) = candidates.into_iter().map(of).min_by_key(|(distance, _)| *distance)?;
    (distance <= (name.chars().count() / 3).max(1)).then_some(nearest)
}

/// `; did you mean "secrets"?`, or nothing.
pub fn hint<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> String {
    nearest(name, candidates).map(|near| format!("; did you mean {near:?}?")).unwrap_or_default()
}

/// The number of letters that have to be added, removed or replaced.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, other) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found_if_it_is_near() {
        let names = ["secrets", "services", "pods", "configmaps"];
        for (name, expected) in [
            ("secret", Some("secrets")),
            ("Secrets", Some("secrets")),
            ("pod", Some("pods")),
            ("configmap", Some("configmaps")),
            ("widgets", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, names), expected, "{name}");
        }
        assert_eq!(hint("secret", names), "; did you mean \"secrets\"?");
        assert_eq!(hint("x", []), "");
    }
}
