//! `fake-apiserver replay FILE --at MOMENT [--cluster NAME] [FLAGS] [-- COMMAND]`: serves the cluster as it was at a moment of a recorded run.

use crate::{around, logging, recorded, run};
use anyhow::Context as _;
use controller::program;
use fake_apiserver::control::recording::{At, Moment};
use fake_apiserver_cli::{Flags, exit_code};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use tokio::runtime;

const USAGE: &str = "usage: fake-apiserver replay FILE --at MOMENT [--cluster NAME] [FLAGS] [-- COMMAND [ARGUMENTS]]\n\
                     MOMENT is the cursor of a request, revision=N, a time by the server's clock, or end";

/// The name of the first cluster.
const FIRST: &str = "default";

/// Serves the moment that the arguments name, with the flags behind them.
pub(crate) fn main(mut arguments: Vec<OsString>) -> ExitCode {
    let command = arguments.iter().position(|word| word == "--").map(|place| arguments.split_off(place).split_off(1));
    let (Some(file), Some(at)) = (file(&mut arguments), taken(&mut arguments, "--at")) else {
        program::say(USAGE);
        return ExitCode::FAILURE;
    };
    let cluster = taken(&mut arguments, "--cluster");
    // Any free port for a command, unless the flags name one.
    let own = command.iter().map(|_| "--secure-port=0".into());
    let arguments = own.chain(arguments);
    let flags = match moment(file.as_ref(), cluster.as_deref(), &at) {
        Ok(moment) => Flags::read(arguments).map(|flags| flags.replaying(moment)),
        Err(error) => return exit_code(Err(error)),
    };
    let flags = match flags {
        Ok(Ok(flags)) => flags,
        Ok(Err(why)) => return exit_code(Err(anyhow::Error::msg(why))),
        Err(code) => return code,
    };
    logging::start(flags.verbosity);
    let runtime = runtime::Builder::new_current_thread().enable_all().build().context("unable to start threads");
    let ended = runtime.and_then(|runtime| match &command {
        Some(command) if !command.is_empty() => runtime.block_on(around::around(&flags, command)),
        _ => runtime.block_on(run::run(&flags)).map(|()| ExitCode::SUCCESS),
    });
    ended.unwrap_or_else(|error| exit_code(Err(error)))
}

/// The file, which is the first word, unless that is a flag.
fn file(arguments: &mut Vec<OsString>) -> Option<OsString> {
    let is_file = arguments.first().is_some_and(|word| !word.as_encoded_bytes().starts_with(b"-"));
    is_file.then(|| arguments.remove(0))
}

/// The value of a flag, which is taken out.
fn taken(arguments: &mut Vec<OsString>, flag: &str) -> Option<String> {
    let begins = format!("{flag}=");
    let is_it = |word: &OsString| word == flag || word.as_encoded_bytes().starts_with(begins.as_bytes());
    let place = arguments.iter().position(is_it)?;
    let word = arguments.remove(place).into_string().ok()?;
    match word.split_once('=') {
        Some((_, value)) => Some(value.to_owned()),
        None => (place < arguments.len()).then(|| arguments.remove(place))?.into_string().ok(),
    }
}

/// The moment; what cannot be brought back is said.
fn moment(file: &Path, cluster: Option<&str>, at: &str) -> anyhow::Result<Moment> {
    let at: At = at.parse().map_err(anyhow::Error::msg).context("--at")?;
    let recording = recorded::read(file)?;
    let failed = || format!("unable to replay {}", file.display());
    let moment = recording
        .moment_of(cluster.filter(|name| *name != FIRST), at)
        .map_err(anyhow::Error::msg)
        .with_context(failed)?;
    program::say(&format!(
        "The objects at revision {}, and a clock that stands still at {}.",
        moment.revision, moment.time
    ));
    for lost in &moment.lost {
        program::say(&format!("Not brought back: {lost}."));
    }
    Ok(moment)
}
