//! The flags of kube-apiserver that mean nothing here, as arguments of clap: those without an effect in this server, those that may only say what it
//! does anyway, and those that are refused.

use super::table::{FLAGS, Flag, Rule};
use super::values::go_bool;
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Args, Command, Error, FromArgMatches};

/// The flags that this server does not obey. clap has the help, the version and the level of the log.
fn others() -> impl Iterator<Item = &'static Flag> {
    FLAGS.iter().filter(|flag| flag.rule != Rule::Obeyed)
}

fn argument(flag: &'static Flag) -> Arg {
    let argument = Arg::new(flag.name).long(flag.name).hide(true).action(ArgAction::Append);
    match flag.is_bool() {
        true => argument.num_args(0..=1).require_equals(true).default_missing_value("true"),
        false => argument.value_name("VALUE").allow_hyphen_values(true),
    }
}

/// Whether the flag may have that value; if not, why.
fn check(flag: &Flag, value: &str) -> Result<(), String> {
    let name = flag.name;
    if flag.is_bool()
        && let Err(why) = go_bool(value)
    {
        return Err(format!("invalid value '{value}' for '--{name}': {why}"));
    }
    let same = |one: &str| one == value || (flag.is_bool() && go_bool(one) == go_bool(value));
    match &flag.rule {
        Rule::Obeyed | Rule::Unused => Ok(()),
        Rule::Only(values) if values.iter().any(|one| same(one)) => Ok(()),
        // An empty text or list, as by default.
        Rule::Only(_) | Rule::Refused if value.is_empty() => Ok(()),
        Rule::Only(values) => {
            let values = values.join(" or ");
            Err(format!("invalid value '{value}' for '--{name}': fake-apiserver has nothing but {values}"))
        }
        Rule::Refused => Err(format!("fake-apiserver does not support '--{name}': {}", flag.why)),
    }
}

/// The text of `--help-flags`.
pub(super) fn help() -> String {
    let named = |wanted: fn(&Rule) -> bool| {
        let names = others().filter(|flag| wanted(&flag.rule)).map(|flag| flag.name);
        names.collect::<Vec<_>>().join(", ")
    };
    let only = others().filter_map(|flag| match &flag.rule {
        Rule::Only(values) => Some(format!("{}={}", flag.name, values.join("|"))),
        _ => None,
    });
    format!(
        "Flags of kube-apiserver that are accepted and have no effect, for lack of etcd, services, kubelets, caches and the like:\n{}\n\n\
         Flags of kube-apiserver that are accepted with these values only:\n{}\n\n\
         Flags of kube-apiserver that are refused:\n{}\n",
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
        command.args(others().map(argument))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Others {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        for flag in others() {
            let given = matches.get_many::<String>(flag.name);
            // As everywhere the last one counts.
            if let Some(Err(why)) = given.and_then(|mut values| values.next_back()).map(|value| check(flag, value)) {
                return Err(Error::raw(ErrorKind::ValueValidation, format!("{why}\n")));
            }
        }
        Ok(Others)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        Self::from_arg_matches(matches).map(drop)
    }
}
