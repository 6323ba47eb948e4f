//! The value of `--controllers`: controllers that run as clients, and those that are built into the server.

use controller::manager::catalogue::{self, Kind, UnknownController, is_wanted};
use std::str::FromStr;

/// A controller that is built into the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BuiltIn {
    /// Deleted namespaces are emptied and removed.
    Namespace,
    /// Cluster roles with an `aggregationRule` are filled.
    ClusterRoleAggregation,
    /// The types in validating admission policies are checked.
    ValidatingAdmissionPolicyStatus,
}

/// An element of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    /// `*`, or about a controller that runs as a client.
    Ported(catalogue::Choice),
    /// With or without a built-in controller.
    BuiltIn(BuiltIn, bool),
}

impl FromStr for Choice {
    type Err = UnknownController;

    fn from_str(word: &str) -> Result<Self, UnknownController> {
        let (name, on) = word.strip_prefix('-').map_or((word, true), |name| (name, false));
        // The names since Kubernetes 1.27, and those before.
        match name {
            "namespace-controller" | "namespace" => Ok(Choice::BuiltIn(BuiltIn::Namespace, on)),
            "clusterrole-aggregation-controller" | "clusterrole-aggregation" => {
                Ok(Choice::BuiltIn(BuiltIn::ClusterRoleAggregation, on))
            }
            // It is newer than the other names.
            "validatingadmissionpolicy-status-controller" => {
                Ok(Choice::BuiltIn(BuiltIn::ValidatingAdmissionPolicyStatus, on))
            }
            _ => word.parse().map(Choice::Ported),
        }
    }
}

/// The controllers to run as clients.
pub(super) fn ported(choices: &[Choice]) -> Vec<Kind> {
    let choices: Vec<catalogue::Choice> = choices
        .iter()
        .filter_map(|choice| match choice {
            Choice::Ported(choice) => Some(*choice),
            Choice::BuiltIn(..) => None,
        })
        .collect();
    Kind::ALL.into_iter().filter(|kind| is_wanted(*kind, &choices)).collect()
}

/// Whether a built-in controller is on: the first element that names it counts, then `*`, then the default.
pub(super) fn is_on(controller: BuiltIn, choices: &[Choice], default: bool) -> bool {
    let named = choices.iter().find_map(|choice| match choice {
        Choice::BuiltIn(of, on) if *of == controller => Some(*on),
        _ => None,
    });
    named.unwrap_or(default || choices.contains(&Choice::Ported(catalogue::Choice::All)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &str) -> Vec<Choice> {
        let choices = words.split(',').filter(|word| !word.is_empty()).map(str::parse);
        choices.collect::<Result<_, _>>().expect(words)
    }

    #[test]
    fn built_in_controllers_are_on_unless_they_are_named() {
        for (words, bare, expected) in [
            ("", false, true),
            ("", true, false),
            ("*", true, true),
            ("*,-namespace", true, false),
            ("serviceaccount", false, true),
            ("-namespace-controller", false, false),
            ("namespace,-namespace-controller", true, true),
            ("-clusterrole-aggregation", false, true),
        ] {
            let choices = read(words);
            assert_eq!(is_on(BuiltIn::Namespace, &choices, !bare), expected, "{words} {bare}");
            let runs = ported(&choices).contains(&Kind::ServiceAccount);
            assert_eq!(runs, words.starts_with('*') || words == "serviceaccount", "{words}");
        }
    }

    #[test]
    fn policies_are_checked_if_that_is_asked_for() {
        for (words, expected) in [
            ("", false),
            ("*", true),
            ("validatingadmissionpolicy-status-controller", true),
            ("*,-validatingadmissionpolicy-status-controller", false),
            ("namespace-controller", false),
        ] {
            let is_on = is_on(BuiltIn::ValidatingAdmissionPolicyStatus, &read(words), false);
            assert_eq!(is_on, expected, "{words}");
        }
    }
}
