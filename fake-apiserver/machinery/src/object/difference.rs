//! The difference of two values in a message: `Diff` of `k8s.io/apimachinery/pkg/util/diff/diff.go` (v0.37.1), a unified diff of their
//! JSON. Its lines are matched as `difflib` of `github.com/pmezard/go-difflib` (v1.0.0) matches them.

use crate::json;
use std::collections::HashMap;

/// Lines around changes.
const CONTEXT: usize = 3;
/// Lines of the second text from which frequent ones are not looked for.
const MANY: usize = 200;
/// Lines of both texts up to which they are matched. Of longer ones only the beginnings and the ends are, so that the cost is bounded.
const MOST: usize = 4000;

/// A run of lines that both texts have: where it begins in each, and its length.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Match {
    old: usize,
    new: usize,
    len: usize,
}

/// Ranges of lines in both texts, which are equal or not.
#[derive(Debug, Clone, Copy)]
struct Step {
    old: (usize, usize),
    new: (usize, usize),
    equal: bool,
}

/// The unified diff of two values in compact JSON; empty if they are equal.
pub fn difference(old: &str, new: &str) -> String {
    let (old, new) = (indented(old), indented(new));
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let mut text = String::new();
    for group in groups(steps(&matches(&old, &new), old.len(), new.len())) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let ranges = (range(first.old.0, last.old.1), range(first.new.0, last.new.1));
        text.push_str(&format!("@@ -{} +{} @@\n", ranges.0, ranges.1));
        let mut lines = |mark: char, lines: &[&str]| {
            for line in lines {
                text.push(mark);
                text.push_str(line);
                text.push('\n');
            }
        };
        for step in group {
            let removed = &old[step.old.0..step.old.1];
            match step.equal {
                true => lines(' ', removed),
                false => {
                    lines('-', removed);
                    lines('+', &new[step.new.0..step.new.1]);
                }
            }
        }
    }
    text
}

/// `formatRangeUnified`.
fn range(start: usize, end: usize) -> String {
    match end - start {
        1 => (start + 1).to_string(),
        0 => format!("{start},0"),
        length => format!("{},{length}", start + 1),
    }
}

/// Compact JSON with a line for each value, one space deeper for each level (`json.MarshalIndent`); clients get two.
fn indented(json: &str) -> String {
    let indented = String::from_utf8(json::indent(json.as_bytes())).expect("spaces in JSON leave it a text");
    let narrow = |line: &str| {
        let text = line.trim_start_matches(' ');
        format!("{}{text}\n", " ".repeat((line.len() - text.len()) / 2))
    };
    indented.lines().map(narrow).collect()
}

/// The runs that both texts have, none of them adjacent (`GetMatchingBlocks`).
fn matches(old: &[&str], new: &[&str]) -> Vec<Match> {
    let mut found = Vec::new();
    if old.len() + new.len() > MOST {
        let first = old.iter().zip(new).take_while(|(old, new)| old == new).count();
        let rest = old.len().min(new.len()) - first;
        let last = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(old, new)| old == new).count();
        found.push(Match { old: 0, new: 0, len: first });
        found.push(Match { old: old.len() - last, new: new.len() - last, len: last });
    } else {
        let places = places(new);
        let mut todo = vec![((0, old.len()), (0, new.len()))];
        while let Some(((old_from, old_to), (new_from, new_to))) = todo.pop() {
            if old_from == old_to || new_from == new_to {
                continue;
            }
            let longest = longest(old, new, &places, (old_from, old_to), (new_from, new_to));
            if longest.len > 0 {
                todo.push(((old_from, longest.old), (new_from, longest.new)));
                todo.push(((longest.old + longest.len, old_to), (longest.new + longest.len, new_to)));
                found.push(longest);
            }
        }
        found.sort_by_key(|found| found.old);
    }
    let mut joined: Vec<Match> = Vec::new();
    for next in found.into_iter().filter(|found| found.len > 0) {
        match joined.last_mut() {
            Some(last) if (last.old + last.len, last.new + last.len) == (next.old, next.new) => last.len += next.len,
            _ => joined.push(next),
        }
    }
    joined
}

/// The places of each line of the second text, but for lines that are frequent (`chainB`).
fn places<'l>(lines: &[&'l str]) -> HashMap<&'l str, Vec<usize>> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, line) in lines.iter().enumerate() {
        places.entry(line).or_default().push(index);
    }
    if lines.len() >= MANY {
        places.retain(|_, places| places.len() <= lines.len() / 100 + 1);
    }
    places
}

/// The longest run within two ranges, the earliest of several (`findLongestMatch`).
fn longest(
    old: &[&str],
    new: &[&str],
    places: &HashMap<&str, Vec<usize>>,
    (old_from, old_to): (usize, usize),
    (new_from, new_to): (usize, usize),
) -> Match {
    let mut best = Match { old: old_from, new: new_from, len: 0 };
    let mut lengths: HashMap<usize, usize> = HashMap::new();
    for (index, line) in old.iter().enumerate().take(old_to).skip(old_from) {
        let mut next = HashMap::new();
        let places = places.get(line).map(Vec::as_slice).unwrap_or_default();
        for place in places.iter().filter(|place| (new_from..new_to).contains(place)) {
            let before = place.checked_sub(1).and_then(|place| lengths.get(&place));
            let len = before.copied().unwrap_or_default() + 1;
            next.insert(*place, len);
            if len > best.len {
                best = Match { old: index + 1 - len, new: place + 1 - len, len };
            }
        }
        lengths = next;
    }
    while best.old > old_from && best.new > new_from && old[best.old - 1] == new[best.new - 1] {
        best = Match { old: best.old - 1, new: best.new - 1, len: best.len + 1 };
    }
    let end = |best: Match| (best.old + best.len, best.new + best.len);
    while end(best).0 < old_to && end(best).1 < new_to && old[end(best).0] == new[end(best).1] {
        best.len += 1;
    }
    best
}

/// The steps from the first text to the second (`GetOpCodes`).
fn steps(matches: &[Match], old: usize, new: usize) -> Vec<Step> {
    let mut steps = Vec::new();
    let (mut i, mut j) = (0, 0);
    for next in matches.iter().copied().chain([Match { old, new, len: 0 }]) {
        if i < next.old || j < next.new {
            steps.push(Step { old: (i, next.old), new: (j, next.new), equal: false });
        }
        (i, j) = (next.old + next.len, next.new + next.len);
        if next.len > 0 {
            steps.push(Step { old: (next.old, i), new: (next.new, j), equal: true });
        }
    }
    steps
}

/// The steps in groups, with a few equal lines around changes (`GetGroupedOpCodes`).
fn groups(steps: Vec<Step>) -> Vec<Vec<Step>> {
    let beginning = |step: Step| Step {
        old: (step.old.0, step.old.1.min(step.old.0 + CONTEXT)),
        new: (step.new.0, step.new.1.min(step.new.0 + CONTEXT)),
        ..step
    };
    let end = |step: Step| Step {
        old: (step.old.0.max(step.old.1.saturating_sub(CONTEXT)), step.old.1),
        new: (step.new.0.max(step.new.1.saturating_sub(CONTEXT)), step.new.1),
        ..step
    };
    let last = steps.len().saturating_sub(1);
    let mut groups = vec![Vec::new()];
    for (index, step) in steps.into_iter().enumerate() {
        let group = groups.len() - 1;
        match step.equal {
            true if index == 0 => groups[group].push(end(step)),
            true if index == last => groups[group].push(beginning(step)),
            true if step.old.1 - step.old.0 > 2 * CONTEXT => {
                groups[group].push(beginning(step));
                groups.push(vec![end(step)]);
            }
            _ => groups[group].push(step),
        }
    }
    groups.retain(|group| group.iter().any(|step| !step.equal));
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_compared_line_by_line() {
        let old = r#"{"A":1,"B":[],"C":{"x":"a,{\"b"},"D":[1,2],"E":0,"F":0,"G":0,"H":0,"I":0,"J":{}}"#;
        let new = old.replace("[1,2]", "[1,3,2]").replace(r#""J":{}"#, r#""J":{"k":1}"#);
        let wanted = concat!(
            "@@ -6,6 +6,7 @@\n  },\n  \"D\": [\n   1,\n+  3,\n   2\n  ],\n  \"E\": 0,\n",
            "@@ -13,5 +14,7 @@\n  \"G\": 0,\n  \"H\": 0,\n  \"I\": 0,\n- \"J\": {}\n+ \"J\": {\n+  \"k\": 1\n+ }\n }\n",
        );
        assert_eq!(difference(old, &new), wanted);
        assert_eq!(difference(old, old), "");
        assert_eq!(difference("null", "[]"), "@@ -1 +1 @@\n-null\n+[]\n");
    }

    #[test]
    fn long_texts_are_compared_at_both_ends() {
        let list = |item: &str| format!("[{}{item}{}]", "1,".repeat(MOST), ",2".repeat(MOST));
        let wanted = "@@ -3999,7 +3999,7 @@\n  1,\n  1,\n  1,\n- 3,\n+ 4,\n  2,\n  2,\n  2,\n";
        assert_eq!(difference(&list("3"), &list("4")), wanted);
    }
}
