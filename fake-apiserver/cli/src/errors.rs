//! The errors of the program under its own name: on one line of the standard error, with what to do next behind it; on a terminal in colours, and
//! what to do next on a line of its own.

use fake_apiserver::{IdentityError, StartError};
use std::fmt;
use std::io::{self, ErrorKind, IsTerminal as _, Write as _};
use std::process::ExitCode;

/// The variables that turn colours off: the one if it is set, the other if it is `dumb`.
const NO_COLOR: &str = "NO_COLOR";
const TERMINAL: &str = "TERM";

/// An error that says what to do next.
#[derive(Debug)]
pub struct Advised {
    /// The text about what went wrong.
    pub message: String,
    /// The advice.
    pub tip: &'static str,
}

impl fmt::Display for Advised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Advised {}

/// The exit code of a program; an error is printed, with what to do next.
pub fn exit_code(result: anyhow::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print(&format!("{error:#}"), tip(&error));
            ExitCode::FAILURE
        }
    }
}

/// Prints an error. That it cannot be printed is ignored, as the exit code says the same.
pub(crate) fn print(message: &str, tip: Option<&str>) {
    let text = text(message, tip, io::stderr().is_terminal(), has_colours());
    write!(io::stderr(), "{text}").ok();
}

/// Whether a terminal is to have colours (<https://no-color.org>).
fn has_colours() -> bool {
    let is_set = std::env::var_os(NO_COLOR).is_some_and(|value| !value.is_empty());
    !is_set && std::env::var_os(TERMINAL).is_none_or(|name| name != "dumb")
}

fn text(message: &str, tip: Option<&str>, on_terminal: bool, in_colours: bool) -> String {
    let styled = |style: &str, word: &str| match on_terminal && in_colours {
        true => format!("\u{1b}[{style}m{word}\u{1b}[0m"),
        false => word.to_owned(),
    };
    let (error, hint) = (styled("1;31", "error:"), styled("32", "tip:"));
    match tip {
        None => format!("{error} {message}\n"),
        Some(tip) if on_terminal => format!("{error} {message}\n  {hint} {tip}\n"),
        Some(tip) => format!("{error} {message} ({hint} {tip})\n"),
    }
}

/// The advice after an error.
fn tip(error: &anyhow::Error) -> Option<&'static str> {
    if let Some(advised) = error.downcast_ref::<Advised>() {
        return Some(advised.tip);
    }
    match error.downcast_ref::<StartError>() {
        Some(StartError::Listen { source, .. }) => return of_port(source.kind()),
        Some(StartError::Ports { .. }) => return Some("choose a smaller --secure-port"),
        Some(StartError::Identity(IdentityError::NoPair { .. })) => {
            return Some("restore the missing file, or remove the other one: then a new pair is made");
        }
        Some(StartError::Identity(why))
            if !matches!(why, IdentityError::Folder { .. } | IdentityError::Generate(_)) =>
        {
            return Some(
                "give a certificate and its key; a --cert-dir without apiserver.crt and apiserver.key gets a new pair",
            );
        }
        _ => {}
    }
    error.chain().find_map(|cause| of_file(cause.downcast_ref::<io::Error>()?.kind()))
}

fn of_port(kind: ErrorKind) -> Option<&'static str> {
    match kind {
        ErrorKind::AddrInUse => {
            Some("another program listens there: stop it, or choose another port; --secure-port=0 takes any free one")
        }
        ErrorKind::AddrNotAvailable => Some("--bind-address has to be an address of this host"),
        ErrorKind::PermissionDenied => Some("ports below 1024 are for privileged users: choose another one"),
        _ => None,
    }
}

fn of_file(kind: ErrorKind) -> Option<&'static str> {
    match kind {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Some("free some space there, or name another place"),
        ErrorKind::FileTooLarge => Some("files may not be that large here: see `ulimit -f`, or name another place"),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            Some("name another place, or get the permission for this one")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn on_a_terminal_there_are_colours_and_lines() {
        assert_eq!(text("a", Some("b"), false, true), "error: a (tip: b)\n");
        assert_eq!(text("a", Some("b"), true, false), "error: a\n  tip: b\n");
        assert_eq!(text("a", Some("b"), true, true), "\u{1b}[1;31merror:\u{1b}[0m a\n  \u{1b}[32mtip:\u{1b}[0m b\n");
        assert_eq!(text("a", None, false, false), "error: a\n");
    }
}
