//! The controllers by the names of kube-controller-manager, and the choice of some of them.

use std::str::FromStr;

/// A controller of this crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// The controller [`tokens`](crate::controllers::tokens).
    ServiceAccountToken,
    /// The controller [`service_accounts`](crate::controllers::service_accounts).
    ServiceAccount,
    /// The controller [`root_ca`](crate::controllers::root_ca).
    RootCaPublisher,
    /// The controller [`legacy_token_cleaner`](crate::controllers::legacy_token_cleaner).
    LegacyTokenCleaner,
}

impl Kind {
    /// All controllers.
    pub const ALL: [Kind; 4] =
        [Kind::ServiceAccountToken, Kind::ServiceAccount, Kind::RootCaPublisher, Kind::LegacyTokenCleaner];

    /// The name since Kubernetes 1.27.
    pub fn name(self) -> &'static str {
        match self {
            Kind::ServiceAccountToken => "serviceaccount-token-controller",
            Kind::ServiceAccount => "serviceaccount-controller",
            Kind::RootCaPublisher => "root-ca-certificate-publisher-controller",
            Kind::LegacyTokenCleaner => "legacy-serviceaccount-token-cleaner-controller",
        }
    }

    /// The name before 1.27, which is still accepted.
    pub fn alias(self) -> &'static str {
        match self {
            Kind::ServiceAccountToken => "serviceaccount-token",
            Kind::ServiceAccount => "serviceaccount",
            Kind::RootCaPublisher => "root-ca-cert-publisher",
            Kind::LegacyTokenCleaner => "legacy-service-account-token-cleaner",
        }
    }

    /// The name of its client in kube-controller-manager.
    pub fn client_name(self) -> &'static str {
        match self {
            Kind::ServiceAccountToken => "tokens-controller",
            Kind::ServiceAccount => "service-account-controller",
            Kind::RootCaPublisher => "root-ca-cert-publisher",
            Kind::LegacyTokenCleaner => "legacy-service-account-token-cleaner",
        }
    }
}

/// The error for an unknown controller name.
#[derive(Debug, thiserror::Error)]
#[error("{0:?} is not in the list of known controllers")]
pub struct UnknownController(String);

impl FromStr for Kind {
    type Err = UnknownController;

    fn from_str(name: &str) -> Result<Self, UnknownController> {
        let named = |kind: &Kind| kind.name() == name || kind.alias() == name;
        Kind::ALL.into_iter().find(named).ok_or_else(|| UnknownController(name.to_owned()))
    }
}

/// An element of `--controllers`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// `*`: all controllers that are not named.
    All,
    /// `foo`: with this controller.
    With(Kind),
    /// `-foo`: without this controller.
    Without(Kind),
}

impl FromStr for Choice {
    type Err = UnknownController;

    fn from_str(word: &str) -> Result<Self, UnknownController> {
        Ok(match word.strip_prefix('-') {
            None if word == "*" => Choice::All,
            None => Choice::With(word.parse()?),
            Some(name) => Choice::Without(name.parse()?),
        })
    }
}

/// Whether `choices` enable the controller: the first element that names it counts, then `*`.
pub fn is_wanted(kind: Kind, choices: &[Choice]) -> bool {
    let word = choices.iter().find(|choice| matches!(choice, Choice::With(of) | Choice::Without(of) if *of == kind));
    match word {
        Some(choice) => *choice == Choice::With(kind),
        None => choices.contains(&Choice::All),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_about_a_controller_counts() {
        for (words, wanted) in [
            ("", false),
            ("*", true),
            ("serviceaccount-token", true),
            ("serviceaccount-token-controller", true),
            ("serviceaccount", false),
            ("*,-serviceaccount", true),
            ("*,-serviceaccount-token", false),
            ("-serviceaccount-token-controller", false),
            ("-serviceaccount-token,serviceaccount-token-controller", false),
            ("serviceaccount-token,-serviceaccount-token", true),
        ] {
            let choices = words.split(',').filter(|word| !word.is_empty()).map(str::parse);
            let choices: Vec<Choice> = choices.collect::<Result<_, _>>().expect(words);
            assert_eq!(is_wanted(Kind::ServiceAccountToken, &choices), wanted, "{words}");
        }
    }

    #[test]
    fn every_name_is_of_one_controller() {
        for kind in Kind::ALL {
            for name in [kind.name(), kind.alias()] {
                assert_eq!(name.parse::<Kind>().ok(), Some(kind));
            }
        }
        let refused = "-deployment".parse::<Choice>().map_err(|error| error.to_string());
        assert_eq!(refused, Err(r#""deployment" is not in the list of known controllers"#.into()));
    }
}
