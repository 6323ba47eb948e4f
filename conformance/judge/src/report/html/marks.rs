//! Marks: words in the lanes of API servers for the effect of a command, read from the command's words, which the player has
//! checked.

use crate::scenario::command::RawCommand;

/// The verbs that change a server or read its log instead of sending requests.
const VERBS: [&str; 5] = ["clock", "compact", "fault", "log", "replica"];

/// A word for one API server, or for all.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mark {
    /// The replica, counted from 1; `None` is all of them.
    pub(super) replica: Option<usize>,
    pub(super) text: String,
}

/// Whether the verb of `command` is one of these.
pub(super) fn is_note(command: &RawCommand) -> bool {
    VERBS.contains(&command.verb.as_str())
}

/// The mark of `command`, if it has one.
pub(super) fn mark(command: &RawCommand) -> Option<Mark> {
    let one = |number: &str, text: String| Some(Mark { replica: Some(number.parse().ok()?), text });
    let all = |text: String| Some(Mark { replica: None, text });
    match (command.verb.as_str(), &command.words()[..]) {
        ("clock", ["advance", duration]) => all(signed(duration)?),
        ("clock", ["replica", number, "offset", duration]) => one(number, format!("off {}", signed(duration)?)),
        ("compact", []) => all("compact".to_owned()),
        ("fault", ["clear"]) => all("no fault".to_owned()),
        ("fault", settings) => {
            let status = settings.iter().find_map(|setting| setting.strip_prefix("status="))?;
            all(format!("fault {status}"))
        }
        ("log", ["of", "replica", number]) => one(number, "log".to_owned()),
        ("replica", [number, disruption]) => one(number, (*disruption).to_owned()),
        _ => None,
    }
}

/// `60s` as `+60 s`.
fn signed(duration: &str) -> Option<String> {
    let seconds: i64 = duration.strip_suffix('s')?.parse().ok()?;
    Some(format!("{seconds:+} s"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::command::parse;

    #[test]
    fn commands_leave_marks() {
        for (line, replica, text) in [
            ("clock advance 60s", None, "+60 s"),
            ("clock replica 3 offset -120s", Some(3), "off -120 s"),
            ("compact", None, "compact"),
            ("fault create secrets status=403 times=2", None, "fault 403"),
            ("fault clear", None, "no fault"),
            ("log of replica 2", Some(2), "log"),
            ("replica 1 hold", Some(1), "hold"),
        ] {
            let (_, command) = parse(&[line.to_owned()]).unwrap();
            assert!(is_note(&command), "{line}");
            assert_eq!(mark(&command), Some(Mark { replica, text: text.to_owned() }), "{line}");
        }
        let (_, command) = parse(&["get configmaps/a".to_owned()]).unwrap();
        assert_eq!((is_note(&command), mark(&command)), (false, None));
    }
}
