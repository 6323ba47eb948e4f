//! The value of `--controllers`.

use fake_apiserver::{Builder, Controller, UnknownController};
use std::str::FromStr;

/// An element of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    /// `*`: all usual controllers that are not named.
    All,
    /// `foo`: with this controller.
    With(Controller),
    /// `-foo`: without this controller.
    Without(Controller),
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

/// Whether choices enable a controller: the first one that names it counts, then `*`, then the default (`IsControllerEnabled` of
/// `k8s.io/controller-manager/pkg/app`, v0.37.1).
pub(super) fn is_wanted(controller: Controller, choices: &[Choice], default: bool) -> bool {
    let named = choices.iter().find_map(|choice| match choice {
        Choice::With(of) if *of == controller => Some(true),
        Choice::Without(of) if *of == controller => Some(false),
        _ => None,
    });
    named.unwrap_or(default || controller.is_usual() && choices.contains(&Choice::All))
}

/// The controllers that run: those that are named, whether they are built or not, and with `*` all that are.
pub(super) fn chosen(choices: &[Choice]) -> Vec<Controller> {
    let built: Vec<Controller> = Builder::available_controllers().collect();
    let is_chosen = |one: &&Controller| {
        let among = |choice: &Choice| *choice != Choice::All || built.contains(one);
        let choices: Vec<Choice> = choices.iter().copied().filter(among).collect();
        is_wanted(**one, &choices, false)
    };
    Controller::ALL.iter().filter(is_chosen).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &str) -> Vec<Choice> {
        let choices = words.split(',').filter(|word| !word.is_empty()).map(str::parse);
        choices.collect::<Result<_, _>>().expect(words)
    }

    #[test]
    fn the_first_word_about_a_controller_counts() {
        for (words, default, expected) in [
            ("", true, true),
            ("", false, false),
            ("*", false, true),
            ("*,-namespace", false, false),
            ("serviceaccount", true, true),
            ("-namespace-controller", true, false),
            ("namespace,-namespace-controller", false, true),
            ("-clusterrole-aggregation", true, true),
        ] {
            assert_eq!(is_wanted(Controller::Namespace, &read(words), default), expected, "{words} {default}");
        }
    }

    #[test]
    fn a_star_is_all_that_are_built_and_usual() {
        let all = chosen(&read("*"));
        assert!(all.contains(&Controller::GarbageCollector) && all.contains(&Controller::ServiceAccount), "{all:?}");
        assert!(!all.contains(&Controller::BootstrapSigner) && !all.contains(&Controller::SeLinuxWarning), "{all:?}");
        assert_eq!(chosen(&read("selinux-warning-controller")), [Controller::SeLinuxWarning]);
        assert!(!chosen(&read("*,-garbagecollector")).contains(&Controller::GarbageCollector));
        assert_eq!(chosen(&[]), []);
    }

    #[test]
    fn unknown_names_are_refused() {
        let refused = "-deployments".parse::<Choice>().map_err(|error| error.to_string());
        assert_eq!(refused, Err(r#""deployments" is not in the list of known controllers"#.into()));
    }
}
