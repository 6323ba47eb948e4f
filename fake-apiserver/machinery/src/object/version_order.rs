//! The order of API versions: stable before beta before alpha, newer before older, all else after them by name
//! (`CompareKubeAwareVersionStrings` of `k8s.io/apimachinery/pkg/version`, v0.37.1).

use std::cmp::{Ordering, Reverse};

/// Compares two versions: the preferred one is less.
pub fn compare(one: &str, other: &str) -> Ordering {
    match (parse(one), parse(other)) {
        (Some(one), Some(other)) => Reverse(one).cmp(&Reverse(other)),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => one.cmp(other),
    }
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Stability {
    Alpha,
    Beta,
    Stable,
}

/// `v2beta1`: stability, major and minor number.
fn parse(version: &str) -> Option<(Stability, u64, u64)> {
    let rest = version.strip_prefix('v')?;
    let end = rest.find(|next: char| !next.is_ascii_digit()).unwrap_or(rest.len());
    let (major, suffix) = rest.split_at(end);
    let (stability, minor) = match suffix {
        "" => (Stability::Stable, None),
        suffix => match (suffix.strip_prefix("beta"), suffix.strip_prefix("alpha")) {
            (Some(minor), _) => (Stability::Beta, Some(minor)),
            (_, Some(minor)) => (Stability::Alpha, Some(minor)),
            _ => return None,
        },
    };
    Some((stability, number(major)?, minor.map_or(Some(0), number)?))
}

fn number(digits: &str) -> Option<u64> {
    let is_number = !digits.starts_with('0') && digits.bytes().all(|digit| digit.is_ascii_digit());
    if is_number { digits.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_as_kubernetes_orders_them() {
        let ordered =
            ["v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "foo1", "foo10", "v0"];
        let mut versions = ordered;
        versions.reverse();
        versions.sort_by(|one, other| compare(one, other));
        assert_eq!(versions, ordered);
    }
}
