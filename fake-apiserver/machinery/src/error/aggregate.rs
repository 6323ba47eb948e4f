//! Several messages as one.

use std::collections::HashSet;

/// Several messages as Go's error aggregate prints them: one bare, more in brackets, repetitions dropped.
pub fn aggregate(messages: impl IntoIterator<Item = String>) -> String {
    let mut messages: Vec<String> = messages.into_iter().collect();
    let mut seen = HashSet::new();
    let first: Vec<bool> = messages.iter().map(|message| seen.insert(message.as_str())).collect();
    let mut first = first.into_iter();
    messages.retain(|_| first.next().unwrap_or_default());
    match messages.as_slice() {
        [one] => one.clone(),
        many => format!("[{}]", many.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It would not end in our time if each were compared with all before it.
    #[test]
    fn many_messages_are_aggregated() {
        let messages = || (0..400_000).map(|number| (number % 300_000).to_string());
        assert_eq!(
            aggregate(messages()).len(),
            "[]".len() + (0..300_000).map(|n: u32| n.to_string().len() + 2).sum::<usize>() - 2
        );
        assert_eq!(aggregate(["b", "a", "b"].map(String::from)), "[b, a]");
        assert_eq!(aggregate(["b", "b"].map(String::from)), "b");
    }
}
