//! The flags of kube-apiserver that mean nothing here: those without an effect in this server, those that may only say what it does
//! anyway, and those that are refused.
//!
//! `others.txt` has a line for each: its name, `bool` or `value`, and its rule.
//!
//! GAP: flags: those that have no effect or are refused, listed in `fake-apiserver/cli/src/flags/others.txt`

use super::values::go_bool;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};
use std::sync::LazyLock;

/// A flag of kube-apiserver that this server does not obey.
struct Other {
    name: &'static str,
    is_bool: bool,
    rule: Rule,
}

/// The values of a flag that are taken.
enum Rule {
    /// Any, without an effect.
    Unused,
    /// Only the values that describe the server's fixed behaviour.
    Only(Vec<&'static str>),
    /// None.
    Refused,
}

static OTHERS: LazyLock<Vec<Other>> = LazyLock::new(|| include_str!("others.txt").lines().map(Other::parse).collect());

impl Other {
    /// Reads a line of the table.
    fn parse(line: &'static str) -> Other {
        let mut words = line.split(' ');
        let name = words.next().unwrap_or_default();
        let is_bool = words.next() == Some("bool");
        let rule = match words.next() {
            Some("unused") => Rule::Unused,
            Some("only") => Rule::Only(words.collect()),
            _ => Rule::Refused,
        };
        Other { name, is_bool, rule }
    }

    fn argument(&self) -> Arg {
        let argument = Arg::new(self.name).long(self.name).hide(true).action(ArgAction::Append);
        match self.is_bool {
            true => argument.num_args(0..=1).require_equals(true).default_missing_value("true"),
            false => argument.value_name("VALUE").allow_hyphen_values(true),
        }
    }

    /// Whether the value may be given; if not, why.
    fn check(&self, value: &str) -> Result<(), String> {
        let name = self.name;
        if self.is_bool
            && let Err(why) = go_bool(value)
        {
            return Err(format!("invalid value '{value}' for '--{name}': {why}"));
        }
        let same = |one: &str| one == value || (self.is_bool && go_bool(one) == go_bool(value));
        match &self.rule {
            Rule::Unused => Ok(()),
            Rule::Only(values) if values.iter().any(|one| same(one)) => Ok(()),
            // An empty text or list, as by default.
            Rule::Only(_) | Rule::Refused if value.is_empty() => Ok(()),
            Rule::Only(values) => {
                let values = values.join(" or ");
                Err(format!("invalid value '{value}' for '--{name}': fake-apiserver has nothing but {values}"))
            }
            Rule::Refused => Err(format!("fake-apiserver does not support '--{name}'")),
        }
    }
}

/// The text of `--help` about the flags without an effect.
pub(super) fn help() -> String {
    let named = |wanted: fn(&Rule) -> bool| {
        let names = OTHERS.iter().filter(|other| wanted(&other.rule)).map(|other| other.name);
        names.collect::<Vec<_>>().join(", ")
    };
    let only = OTHERS.iter().filter_map(|other| match &other.rule {
        Rule::Only(values) => Some(format!("{}={}", other.name, values.join("|"))),
        _ => None,
    });
    format!(
        "Flags of kube-apiserver that are accepted and have no effect, for lack of etcd, services, kubelets, caches and the like:\n{}\n\n\
         Flags of kube-apiserver that are accepted with these values only:\n{}\n\n\
         Flags of kube-apiserver that are refused:\n{}",
        named(|rule| matches!(rule, Rule::Unused)),
        only.collect::<Vec<_>>().join(", "),
        named(|rule| matches!(rule, Rule::Refused)),
    )
}

/// The flags of the table, as an argument group of clap.
#[derive(Debug, Default)]
pub(super) struct Others;

impl Args for Others {
    fn augment_args(command: Command) -> Command {
        command.args(OTHERS.iter().map(Other::argument))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Others {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        for other in &*OTHERS {
            let given = matches.get_many::<String>(other.name);
            // As everywhere the last one counts.
            if let Some(Err(why)) = given.and_then(|mut values| values.next_back()).map(|value| other.check(value)) {
                return Err(Error::raw(clap::error::ErrorKind::ValueValidation, format!("{why}\n")));
            }
        }
        Ok(Others)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        Self::from_arg_matches(matches).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_form() {
        for (other, line) in OTHERS.iter().zip(include_str!("others.txt").lines()) {
            let kind = if other.is_bool { "bool" } else { "value" };
            let rule = match &other.rule {
                Rule::Unused => "unused".to_owned(),
                Rule::Only(values) => format!("only {}", values.join(" ")),
                Rule::Refused => "refused".to_owned(),
            };
            assert_eq!(format!("{} {kind} {rule}", other.name), line);
        }
    }
}
