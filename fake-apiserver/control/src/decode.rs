//! Words as JSON: what is wrong with a text is said with what was meant.

use crate::near::hint;
use crate::refusal::Refusal;
use serde::de::DeserializeOwned;

/// Reads words from JSON; an empty text is `{}`.
///
/// # Errors
/// 400 with the field, and the field or value that was meant.
pub fn decode<T: DeserializeOwned>(text: &[u8]) -> Result<T, Refusal> {
    let text = if text.trim_ascii().is_empty() { b"{}" } else { text };
    serde_json::from_slice(text).map_err(|error| refusal(&error.to_string()))
}

/// serde's message (``unknown field `verb`, expected one of `verbs`, `names` at line 1 column 9``) as a refusal.
pub(crate) fn refusal(message: &str) -> Refusal {
    let mut quoted = message.split('`').skip(1).step_by(2);
    match (message.starts_with("unknown "), quoted.next()) {
        (true, Some(name)) => {
            let known: Vec<&str> = quoted.collect();
            Refusal::bad_field(name, format_args!("{message}{}", hint(name, known)))
        }
        (false, Some(name)) if message.starts_with("missing field") => Refusal::bad_field(name, message),
        _ => Refusal::bad_request(message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::Rule;

    #[test]
    fn what_was_meant_is_said() {
        let refusal = decode::<Rule>(br#"{"match": {"verb": ["create"]}}"#).unwrap_err();
        assert_eq!((refusal.code, refusal.reason.as_str()), (400, "BadRequest"));
        assert!(refusal.message.ends_with("did you mean \"verbs\"?"), "{refusal}");
        assert_eq!(refusal.details.unwrap().causes[0].field, "verb");
        let refusal = decode::<Rule>(br#"{"actions": [{"preset": "etcd-timout"}]}"#).unwrap_err();
        assert!(refusal.message.ends_with("did you mean \"etcd-timeout\"?"), "{refusal}");
        let refusal = decode::<Rule>(b"{").unwrap_err();
        assert!(refusal.message.starts_with("EOF"), "{refusal}");
        assert_eq!(decode::<Rule>(b" ").unwrap(), Rule::default());
    }
}
