//! The words of a command line, by flag.

use clap::parser::ValueSource;
use clap::{ArgMatches, Command};
use std::collections::BTreeMap;

/// The words that were given for each flag, by its name.
pub(super) type Given = BTreeMap<String, Vec<String>>;

/// The words of a command line that clap has read for a command.
pub(super) fn given(command: &Command, matches: &ArgMatches) -> Given {
    let arguments =
        command.get_arguments().filter_map(|argument| Some((argument.get_id().as_str(), argument.get_long()?)));
    let said = arguments.filter(|(id, _)| matches.value_source(id) == Some(ValueSource::CommandLine));
    said.map(|(id, name)| {
        let words = matches.get_raw(id).into_iter().flatten();
        (name.to_owned(), words.map(|word| word.to_string_lossy().into_owned()).collect())
    })
    .collect()
}
