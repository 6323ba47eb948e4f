//! Prefixes of a command: its sender, destination and repetition.
//!
//! ```text
//! as alice: get configmaps/a                      with that user's credentials; `as anonymous:` with none
//! as token $t: get configmaps/a                   with a bearer token
//! via replica 2: get configmaps/a                 to that API server; `via round-robin:` to each in turn
//! in kube-system: list secrets                    in that namespace; `in all:` in none
//! repeat 3: create configmaps/a-$i                one after the other, `$i` counting from 1
//! parallel $list: delete secrets/$i               at once, `$i` going through a list
//! until 200: as alice: get configmaps/a           repeated until the response has that status
//! until status.allowed=true: create ...           repeated until the response has that field
//! until /a: create configmaps/a ?dryRun=All       repeated until the webhook is called at that path; its reviews so far are forgotten
//! ```

use super::field::Field;

/// The user of a command without `as`, with full access.
pub const ADMINISTRATOR: &str = "admin";

/// The prefixes of one command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prefixes {
    /// The sender of the request.
    pub credential: Credential,
    /// The API server it goes to.
    pub route: Route,
    /// The namespace; `None` is the scenario's own, `all` is none.
    pub namespace: Option<String>,
    /// The number of times it is sent; `None` is once.
    pub repetition: Option<Repetition>,
    /// The condition that the answer has to meet; the request is sent again until it does.
    pub until: Option<Until>,
}

/// A condition on an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Until {
    /// The HTTP status is this one.
    Status(u16),
    /// The body has this field.
    Field(Field),
    /// The scenario's webhook was called at this path.
    Called(String),
}

/// The sender of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Credential {
    /// The user [`ADMINISTRATOR`].
    #[default]
    Administrator,
    /// A client without credentials.
    Anonymous,
    /// The user of a bearer token; may have `$names` in it.
    Token(String),
    /// A user known to the target.
    User(String),
}

/// The API server a request goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// This replica, counted from 1.
    Replica(usize),
    /// Each replica in turn.
    RoundRobin,
}

impl Default for Route {
    fn default() -> Self {
        Route::Replica(1)
    }
}

/// A request that is sent several times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repetition {
    /// Whether all are sent at once instead of one after the other.
    pub parallel: bool,
    /// A number of times, or the name of a list.
    pub over: String,
}

/// The end of the prefix at the front of `words`, if there is one.
fn prefix_end(words: &[String]) -> Option<usize> {
    let first = words.first()?;
    let prefix = ["as", "in", "parallel", "repeat", "until", "via"].contains(&first.as_str());
    if prefix { words.iter().position(|word| word.ends_with(':')) } else { None }
}

impl Prefixes {
    /// Parses the prefixes at the front of a command's words; returns them with the words behind.
    ///
    /// # Errors
    /// If one of them is not written as above.
    pub fn parse(words: &[String]) -> Result<(Prefixes, &[String]), String> {
        let mut prefixes = Prefixes::default();
        let mut rest = words;
        while let Some(end) = prefix_end(rest) {
            let (prefix, remainder) = rest.split_at(end + 1);
            prefixes.read(&prefix.join(" "))?;
            rest = remainder;
        }
        Ok((prefixes, rest))
    }

    fn read(&mut self, prefix: &str) -> Result<(), String> {
        let words: Vec<&str> = prefix.trim_end_matches(':').split(' ').collect();
        match words[..] {
            ["as", "anonymous"] => self.credential = Credential::Anonymous,
            ["as", "token", token] => self.credential = Credential::Token(token.to_owned()),
            ["as", user] => self.credential = Credential::User(user.to_owned()),
            ["in", namespace] => self.namespace = Some(namespace.to_owned()),
            ["via", "round-robin"] => self.route = Route::RoundRobin,
            ["via", "replica", replica] => self.route = Route::Replica(replica_number(replica)?),
            ["until", condition] => self.until = Some(Until::parse(condition)?),
            [how @ ("parallel" | "repeat"), over] => {
                self.repetition = Some(Repetition { parallel: how == "parallel", over: over.to_owned() });
            }
            _ => return Err(format!("{prefix:?} is not a prefix that `scenario/prefixes.rs` knows")),
        }
        Ok(())
    }
}

impl Until {
    fn parse(condition: &str) -> Result<Until, String> {
        if let Ok(status) = condition.parse() {
            return Ok(Until::Status(status));
        }
        if condition.starts_with('/') {
            return Ok(Until::Called(condition.to_owned()));
        }
        let field = Field::parse(condition)?;
        field.map(Until::Field).ok_or_else(|| format!("{condition:?} is neither a status, a path nor a field"))
    }
}

/// Reads the number of a replica; they count from 1.
pub fn replica_number(word: &str) -> Result<usize, String> {
    word.parse().ok().filter(|number| *number > 0).ok_or_else(|| format!("{word:?} is not the number of a replica"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::words::words;

    fn prefixes(line: &str) -> Result<Prefixes, String> {
        Prefixes::parse(&words(line)?).map(|(prefixes, _)| prefixes)
    }

    #[test]
    fn prefixes_stand_before_the_verb() {
        let read = prefixes("repeat 3: via round-robin: as token $t: in kube-system: get configmaps/a").unwrap();
        assert_eq!(read.credential, Credential::Token("$t".into()));
        assert_eq!(read.route, Route::RoundRobin);
        assert_eq!(read.namespace.as_deref(), Some("kube-system"));
        assert_eq!(read.repetition, Some(Repetition { parallel: false, over: "3".into() }));
        assert_eq!(prefixes("get configmaps/a"), Ok(Prefixes::default()));
        assert_eq!(prefixes("until 403: get configmaps/a").unwrap().until, Some(Until::Status(403)));
        assert_eq!(prefixes("until /a: get configmaps/a").unwrap().until, Some(Until::Called("/a".into())));
        assert!(matches!(prefixes("until a.b=c: get configmaps/a").unwrap().until, Some(Until::Field(_))));
        for wrong in ["until then: get configmaps/a", "via replica 0: get configmaps", "in a b: get configmaps"] {
            assert!(prefixes(wrong).is_err(), "{wrong}");
        }
    }
}
