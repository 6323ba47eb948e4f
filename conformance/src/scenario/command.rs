//! A command: prefixes that say who, where and how often, then a verb.
//!
//! ```text
//! as alice: get configmaps/a                      with that user's credentials; `as anonymous:` with none
//! as token $t: get configmaps/a                   with a bearer token
//! via replica 2: get configmaps/a                 to that API server; `via round-robin:` to one after the other
//! in kube-system: list secrets                    in that namespace; `in all:` in none
//! repeat 3: create configmaps/a-$i                one after the other, `$i` counting from 1
//! parallel $list: delete secrets/$i               at once, `$i` going through a list
//! until 200: as alice: get configmaps/a           again and again until that is the status, for what takes a moment to be
//! until status.allowed=true: create ...           noticed; or until the answer has that field
//! ```

use super::field::Field;
use super::words::words;
use crate::verbs::Verb;

/// A command, ready to be carried out.
#[derive(Debug, Clone, PartialEq)]
pub struct Command {
    /// Who, where and how often.
    pub prefixes: Prefixes,
    /// What.
    pub verb: Verb,
}

/// What stands before the verb.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prefixes {
    /// Who.
    pub credential: Credential,
    /// To which API server.
    pub route: Route,
    /// In which namespace; `None` is the scenario's own, `all` is none.
    pub namespace: Option<String>,
    /// How often.
    pub repetition: Option<Repetition>,
    /// As long as the answer is not like that.
    pub until: Option<Until>,
}

/// What an answer has to be like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Until {
    /// It has that status.
    Status(u16),
    /// Its body has that field.
    Field(Field),
}

/// Who sends a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Credential {
    /// The administrator.
    #[default]
    Administrator,
    /// Nobody in particular.
    Anonymous,
    /// Whoever the token speaks for.
    Token(String),
    /// A user the target knows.
    User(String),
}

/// Which API server a request goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// Always this one, counted from 1.
    Replica(usize),
    /// One after the other.
    RoundRobin,
}

impl Default for Route {
    fn default() -> Self {
        Route::Replica(1)
    }
}

/// How often a request is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repetition {
    /// All at once instead of one after the other.
    pub parallel: bool,
    /// A number, or the name of a list.
    pub over: String,
}

impl Command {
    /// Reads a command's lines.
    pub fn parse(lines: &[String]) -> Result<Command, String> {
        let (first, details) = lines.split_first().ok_or("no command")?;
        let words = words(first)?;
        let mut prefixes = Prefixes::default();
        let mut rest = &words[..];
        while let Some(end) = prefix_end(rest) {
            let (prefix, remainder) = rest.split_at(end + 1);
            prefixes.read(&prefix.join(" "))?;
            rest = remainder;
        }
        let (verb, arguments) = rest.split_first().ok_or("no verb")?;
        let verb = Verb::parse(&Written { verb, arguments, details })?;
        if prefixes != Prefixes::default() && !verb.takes_prefixes() {
            return Err(format!("{:?} takes no prefixes", rest[0]));
        }
        if prefixes.until.is_some() && (prefixes.repetition.is_some() || !matches!(verb, Verb::Request(_))) {
            return Err("`until` is for single requests".to_owned());
        }
        Ok(Command { prefixes, verb })
    }
}

/// A command as it was written, without its prefixes.
#[derive(Debug, Clone, Copy)]
pub struct Written<'a> {
    /// The first word.
    pub verb: &'a str,
    /// The other words of the line.
    pub arguments: &'a [String],
    /// The indented lines.
    pub details: &'a [String],
}

impl<'a> Written<'a> {
    /// The words of the line behind the verb.
    pub fn words(&self) -> Vec<&'a str> {
        self.arguments.iter().map(String::as_str).collect()
    }

    /// An error that shows how the verb is used.
    pub fn usage(&self, usage: &str) -> String {
        format!("{} {}: expected `{usage}`", self.verb, self.arguments.join(" "))
    }
}

/// Where the prefix at the front of `words` ends, if there is one.
fn prefix_end(words: &[String]) -> Option<usize> {
    let first = words.first()?;
    let prefix = ["as", "in", "parallel", "repeat", "until", "via"].contains(&first.as_str());
    if prefix { words.iter().position(|word| word.ends_with(':')) } else { None }
}

impl Prefixes {
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
            _ => return Err(format!("{prefix:?} is no prefix that `scenario/command.rs` knows")),
        }
        Ok(())
    }
}

impl Until {
    fn parse(condition: &str) -> Result<Until, String> {
        if let Ok(status) = condition.parse() {
            return Ok(Until::Status(status));
        }
        let field = Field::parse(condition)?;
        field.map(Until::Field).ok_or_else(|| format!("{condition:?} is neither a status nor a field"))
    }
}

/// Reads the number of a replica; they count from 1.
pub fn replica_number(word: &str) -> Result<usize, String> {
    word.parse().ok().filter(|number| *number > 0).ok_or_else(|| format!("{word:?} is not the number of a replica"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefixes(line: &str) -> Result<Prefixes, String> {
        Command::parse(&[line.to_owned()]).map(|command| command.prefixes)
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
        assert!(matches!(prefixes("until a.b=c: get configmaps/a").unwrap().until, Some(Until::Field(_))));
        for wrong in [
            "until then: get configmaps/a",
            "until 200: repeat 2: get configmaps/a",
            "until 200: watch pods as w",
            "as: get configmaps",
            "via replica 0: get configmaps",
            "as alice: clock advance 1s",
            "as alice:",
        ] {
            assert!(prefixes(wrong).is_err(), "{wrong}");
        }
    }
}
