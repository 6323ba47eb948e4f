//! A command as it was written: prefixes, a verb, its arguments, and indented lines below. Verbs have no meaning here.

use super::prefixes::Prefixes;
use super::words::words;

/// A command without its prefixes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawCommand {
    /// The first word of the line.
    pub verb: String,
    /// The other words of the line.
    pub arguments: Vec<String>,
    /// The indented lines.
    pub details: Vec<String>,
}

/// Reads a command's lines.
///
/// # Errors
/// If there is no verb, a quote is not closed, or a prefix cannot be read.
pub fn parse(lines: &[String]) -> Result<(Prefixes, RawCommand), String> {
    let (first, details) = lines.split_first().ok_or("no command")?;
    let words = words(first)?;
    let (prefixes, rest) = Prefixes::parse(&words)?;
    let (verb, arguments) = rest.split_first().ok_or("no verb")?;
    Ok((prefixes, RawCommand { verb: verb.clone(), arguments: arguments.to_vec(), details: details.to_vec() }))
}

impl RawCommand {
    /// The words of the line behind the verb.
    pub fn words(&self) -> Vec<&str> {
        self.arguments.iter().map(String::as_str).collect()
    }

    /// An error that shows how the verb is used.
    pub fn usage(&self, usage: &str) -> String {
        format!("{} {}: expected `{usage}`", self.verb, self.arguments.join(" "))
    }

    /// Whether it starts a client that acts on its own: a controller or a kubelet.
    pub fn starts_actor(&self) -> bool {
        ["controller", "kubelet"].contains(&self.verb.as_str()) && self.words().first() == Some(&"start")
    }
}
