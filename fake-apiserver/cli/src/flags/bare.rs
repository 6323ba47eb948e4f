//! The command line of `kube-apiserver`: read as Go reads it, with its messages, then given to the same flags as `fake-apiserver`'s.

use super::csv;
use super::pflag::{self, Line};
use super::table::{FLAGS, Rule};
use super::{Flags, gates, one_line, shell};
use clap::Parser as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use fake_apiserver::git_version;
use go_text::quote;
use std::error::Error as _;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;

/// The variable with the program's own flags, for test environments that only know the real one's.
pub const OWN_FLAGS: &str = "FAKE_APISERVER_FLAGS";
/// The plugin that is on in kube-apiserver without being asked for, and off in `fake-apiserver`.
const SERVICE_ACCOUNT: &str = "ServiceAccount";

/// The demand of a command line.
enum Wanted {
    /// A text.
    Text(String),
    /// A server, after some warnings.
    Server(Box<Flags>, Vec<String>),
}

impl Flags {
    /// Parses the command line of `kube-apiserver`, without the program's name, and in front of it the program's own flags, which are
    /// words in a text. What is not a server is already printed: a help, a version or an error.
    ///
    /// # Errors
    /// The code to exit with.
    pub fn read_bare(own: OsString, arguments: Vec<OsString>) -> Result<Self, ExitCode> {
        // A failed write is ignored, as the exit code says the same.
        match wanted(own, arguments) {
            Ok(Wanted::Server(flags, warnings)) => {
                for warning in warnings {
                    writeln!(std::io::stderr(), "{warning}").ok();
                }
                Ok(*flags)
            }
            Ok(Wanted::Text(text)) => {
                write!(std::io::stdout(), "{text}").ok();
                Err(ExitCode::SUCCESS)
            }
            Err(why) => {
                writeln!(std::io::stderr(), "Error: {why}").ok();
                Err(ExitCode::FAILURE)
            }
        }
    }
}

/// The content of a command line, as far as it needs no look at the server.
enum Said {
    /// A text is wanted.
    Text(String),
    /// A server is wanted, with these flags.
    Flags(Line),
}

/// Reads a command line, up to what kube-apiserver does before it looks at its flags together.
fn said(arguments: &[String]) -> Result<Said, String> {
    let line = pflag::parse(arguments)?;
    if line.last("help") == Some("true") {
        return Ok(Said::Text(help()));
    }
    if line.words.iter().any(|word| !word.is_empty()) {
        let words: Vec<String> = line.words.iter().map(|word| quote(word)).collect();
        return Err(format!("\"kube-apiserver\" does not take any arguments, got [{}]", words.join(" ")));
    }
    // Before the version, as the real program sets them when it reads the flags.
    for gate in line.values("feature-gates") {
        gates::setting(gate)?;
    }
    Ok(match line.last("version") {
        Some("true") => Said::Text(format!("Kubernetes {}\n", git_version())),
        Some("raw") => Said::Text(raw_version()),
        _ => Said::Flags(line),
    })
}

fn wanted(own: OsString, arguments: Vec<OsString>) -> Result<Wanted, String> {
    let text = |word: OsString| word.into_string().map_err(|word| format!("{} is not UTF-8", word.display()));
    let arguments: Vec<String> = arguments.into_iter().map(text).collect::<Result<_, _>>()?;
    let line = match said(&arguments)? {
        Said::Text(text) => return Ok(Wanted::Text(text)),
        Said::Flags(line) => line,
    };
    let own = own_words(&text(own).map_err(|why| format!("{OWN_FLAGS}: {why}"))?)?;
    let words = own.into_iter().chain(for_clap(&line));
    let read = Flags::parse_words(std::iter::once("kube-apiserver".to_owned()).chain(words));
    let mut flags = read.map_err(|error| in_words_of_go(&error))?;
    flags.is_bare = true;
    let named = |list: &[String]| list.iter().any(|name| name == SERVICE_ACCOUNT);
    if !named(&flags.disable_admission_plugins) && !named(&flags.enable_admission_plugins) {
        flags.enable_admission_plugins.push(SERVICE_ACCOUNT.to_owned());
    }
    Ok(Wanted::Server(Box::new(flags), line.warnings))
}

/// The words of the program's own flags.
fn own_words(text: &str) -> Result<Vec<String>, String> {
    let words = shell::split(text).map_err(|why| format!("{OWN_FLAGS}: {why}"))?;
    let alone = Flags::try_parse_from(std::iter::once("fake-apiserver").chain(words.iter().map(String::as_str)));
    match alone {
        // A pair of flags may be divided between the two.
        Err(error) if error.kind() != ErrorKind::MissingRequiredArgument => {
            let message =
                if error.use_stderr() { one_line(&error) } else { "--help and --version are for command lines".into() };
            Err(format!("{OWN_FLAGS}: {}", message.trim_start_matches("error: ")))
        }
        _ => Ok(words),
    }
}

/// The flags in the form in which clap reads them.
fn for_clap(line: &Line) -> impl Iterator<Item = String> {
    line.given.iter().flat_map(|(flag, values)| {
        let name = flag.name;
        // As if it were not given.
        let is_none = flag.is_empty_by_default() && !is_line(name) && values.iter().all(String::is_empty);
        let passed = match name {
            "help" | "version" => Vec::new(),
            _ if is_none => Vec::new(),
            _ if is_line(name) => vec![csv::line(values)],
            _ => values.clone(),
        };
        passed.into_iter().map(move |value| format!("--{name}={value}"))
    })
}

/// Whether a flag is a list that clap reads as pflag does: a line of CSV.
fn is_line(name: &str) -> bool {
    name == "cors-allowed-origins" || name.starts_with("requestheader-") && name != "requestheader-client-ca-file"
}

/// An error of clap, in the words of pflag where it has some.
fn in_words_of_go(error: &clap::Error) -> String {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    match (text(ContextKind::InvalidArg), text(ContextKind::InvalidValue), error.source()) {
        (Some(argument), Some(value), Some(why)) => {
            let name = argument.split([' ', '[', '=']).next().unwrap_or_default();
            format!("invalid argument {} for {} flag: {why}", quote(value), quote(name))
        }
        _ => one_line(error).trim_start_matches("error: ").to_owned(),
    }
}

/// The text of `--help`. It has no line about a plain port, for which envtest looks.
fn help() -> String {
    let mut text = format!(
        "A kube-apiserver for tests, as version {} but for what `fake-apiserver --help` says: objects in memory, no controllers of a control plane.\n\
         Flags of its own are taken from the variable {OWN_FLAGS}.\n\nUsage:\n  kube-apiserver [flags]\n\nFlags:\n",
        git_version()
    );
    for flag in FLAGS.iter().filter(|flag| flag.rule != Rule::Refused && flag.deprecated.is_none()) {
        let kind = if flag.is_bool() { "" } else { flag.kind };
        let default = if flag.is_empty_by_default() { String::new() } else { format!("(default {})", flag.default) };
        let rule = match &flag.rule {
            Rule::Obeyed | Rule::Refused => String::new(),
            Rule::Unused => "no effect here".to_owned(),
            Rule::Only(values) => format!("here only {}", values.join(" or ")),
        };
        let line = format!("      --{} {kind}  {rule} {default}", flag.name);
        writeln!(text, "{}", line.trim_end()).expect("memory");
    }
    text
}

/// The version as `%#v` of Go prints it.
fn raw_version() -> String {
    let version = git_version();
    let mut numbers = version.trim_start_matches('v').split('.');
    let mut number = || numbers.next().unwrap_or_default();
    format!(
        "version.Info{{Major:\"{}\", Minor:\"{}\", EmulationMajor:\"\", EmulationMinor:\"\", MinCompatibilityMajor:\"\", MinCompatibilityMinor:\"\", \
         GitVersion:\"{version}\", GitCommit:\"\", GitTreeState:\"\", BuildDate:\"\", GoVersion:\"\", Compiler:\"\", Platform:\"\"}}\n",
        number(),
        number(),
    )
}

/// The flags of a server, or the error.
#[cfg(test)]
pub(super) fn server<W: AsRef<std::ffi::OsStr>>(own: &str, words: &[W]) -> Result<Flags, String> {
    match wanted(own.into(), words.iter().map(OsString::from).collect())? {
        Wanted::Server(flags, _) => Ok(*flags),
        Wanted::Text(text) => Err(text),
    }
}

#[cfg(test)]
mod tests;
