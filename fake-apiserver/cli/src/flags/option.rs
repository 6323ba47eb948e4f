//! Tables of flags that set options of the library, and how their values are read.

use super::csv;
use super::values::go_bool;
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Error};
use fake_apiserver::internals::parse_duration;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// A flag, which sets something in options of that type.
pub(super) struct Flag<O> {
    pub(super) name: &'static str,
    /// The name of its value; that of a flag without one is [`BOOL`].
    pub(super) value: &'static str,
    pub(super) help: &'static str,
    pub(super) set: fn(&mut O, &str) -> Result<(), String>,
}

pub(super) const BOOL: &str = "BOOL";
/// A heading of the help.
pub(super) const USERS: &str = "Users and what they may do";

impl<O> Flag<O> {
    /// The argument of clap.
    pub(super) fn argument(&self) -> Arg {
        let argument =
            Arg::new(self.name).long(self.name).value_name(self.value).help(self.help).action(ArgAction::Append);
        match self.value {
            BOOL => argument.num_args(0..=1).require_equals(true).default_missing_value("true"),
            _ => argument.allow_hyphen_values(true),
        }
    }
}

/// Sets what the flags say, each value after the other: of most flags the last one counts.
pub(super) fn set_all<O>(flags: &[Flag<O>], matches: &ArgMatches, options: &mut O) -> Result<(), Error> {
    for Flag { name, set, .. } in flags {
        for value in matches.get_many::<String>(name).into_iter().flatten() {
            let invalid = |why| format!("invalid value '{value}' for '--{name}': {why}\n");
            set(options, value).map_err(|why| Error::raw(ErrorKind::ValueValidation, invalid(why)))?;
        }
    }
    Ok(())
}

pub(super) fn path(option: &mut Option<PathBuf>, value: &str) -> Result<(), String> {
    *option = (!value.is_empty()).then(|| value.into());
    Ok(())
}

pub(super) fn text(option: &mut String, value: &str) -> Result<(), String> {
    value.clone_into(option);
    Ok(())
}

pub(super) fn boolean(option: &mut bool, value: &str) -> Result<(), String> {
    *option = go_bool(value)?;
    Ok(())
}

pub(super) fn parse<N: FromStr>(option: &mut N, value: &str) -> Result<(), String> {
    *option = value.parse().map_err(|_| "not a number")?;
    Ok(())
}

/// A negative time is over at once, as in Go.
pub(super) fn duration(option: &mut Duration, value: &str) -> Result<(), String> {
    let positive = value.strip_prefix('-');
    let duration = parse_duration(positive.unwrap_or(value)).map_err(|_| "not a duration such as 30s")?;
    *option = if positive.is_some() { Duration::ZERO } else { duration };
    Ok(())
}

/// A value that is another one than the default if it is given.
pub(super) fn given<T: Default>(
    option: &mut Option<T>,
    value: &str,
    set: fn(&mut T, &str) -> Result<(), String>,
) -> Result<(), String> {
    set(option.get_or_insert_with(T::default), value)
}

/// The items of a list, separated by commas.
pub(super) fn list(option: &mut Vec<String>, value: &str) -> Result<(), String> {
    option.extend(value.split(',').filter(|item| !item.is_empty()).map(str::to_owned));
    Ok(())
}

/// The items of a line of CSV.
pub(super) fn line(option: &mut Vec<String>, value: &str) -> Result<(), String> {
    option.extend(csv::fields(value)?);
    Ok(())
}

/// A name and its value, which replaces an earlier one.
pub(super) fn pair(option: &mut Vec<(String, String)>, value: &str) -> Result<(), String> {
    let (name, value) =
        value.split_once('=').ok_or_else(|| format!("malformed pair, expect string=string: {value}"))?;
    let (name, value) = (name.trim().to_owned(), value.trim().to_owned());
    option.retain(|(known, _)| *known != name);
    option.push((name, value));
    Ok(())
}
