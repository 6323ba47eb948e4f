//! Unified diffs of texts, by lines, as the messages of a few refusals end with.
//!
//! Ports the matcher of `github.com/pmezard/go-difflib/difflib` (v1.0.1, itself a port of Python's), which decides on the lines that
//! are the same: the longest block of them first, then those on both sides of it.

use crate::json;
use crate::schema::TypeRef;
use std::collections::HashMap;
use std::fmt::Write;
use tree::Value;

/// Lines around a change.
const CONTEXT: usize = 3;
/// The number of lines from which on frequent ones begin no block.
const MANY: usize = 200;

/// A block of equal lines: its places in both texts, and its length. A change has none, and is what lies between two blocks.
#[derive(Debug, Clone, Copy)]
struct Block {
    old: usize,
    new: usize,
    length: usize,
}

/// The ranges of a change, or of equal lines, in both texts.
#[derive(Debug, Clone, Copy)]
struct Part {
    equal: bool,
    old: (usize, usize),
    new: (usize, usize),
}

/// The diff of two structs of a type, as indented JSON of the internal type (`Diff` of apimachinery's `pkg/util/diff`, v0.37.1).
pub fn structs(ty: TypeRef<'_>, old: &Value, new: &Value) -> String {
    let [old, new] = [old, new].map(|value| {
        let indented = json::indent(ty.printed(value).as_bytes());
        // Go indents by one space here, and by two for clients.
        let narrow = |line: &str| {
            let text = line.trim_start_matches(' ');
            format!("{}{text}\n", " ".repeat((line.len() - text.len()) / 2))
        };
        String::from_utf8_lossy(&indented).lines().map(narrow).collect::<String>()
    });
    unified(&old, &new)
}

/// The diff of two texts, without the lines that name files; "" if they are equal.
pub fn unified(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let mut text = String::new();
    for group in groups(&parts(&blocks(&old, &new))) {
        let (first, last) = (group[0], group[group.len() - 1]);
        let [before, after] = [(first.old.0, last.old.1), (first.new.0, last.new.1)].map(range);
        writeln!(text, "@@ -{before} +{after} @@").expect("writing to a String cannot fail");
        for Part { equal, old: (from, to), new: (new_from, new_to) } in group {
            let [removed, added] = if equal { [' ', '\0'] } else { ['-', '+'] };
            let kept = old[from..to].iter().map(|line| (removed, line));
            for (sign, line) in kept.chain(new[new_from..new_to].iter().map(|line| (added, line))) {
                if sign != '\0' {
                    writeln!(text, "{sign}{line}").expect("writing to a String cannot fail");
                }
            }
        }
    }
    text
}

/// A range in a heading (`formatRangeUnified`).
fn range((start, end): (usize, usize)) -> String {
    match end - start {
        0 => format!("{start},0"),
        1 => (start + 1).to_string(),
        length => format!("{},{length}", start + 1),
    }
}

/// The places of each line of the new text, without frequent lines.
fn places<'t>(new: &[&'t str]) -> HashMap<&'t str, Vec<usize>> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (place, line) in new.iter().enumerate() {
        places.entry(line).or_default().push(place);
    }
    if new.len() >= MANY {
        places.retain(|_, found| found.len() <= new.len() / 100 + 1);
    }
    places
}

/// The equal lines, as blocks that do not touch, and an empty one at the end.
fn blocks(old: &[&str], new: &[&str]) -> Vec<Block> {
    let places = places(new);
    let mut found = Vec::new();
    let mut ranges = vec![(0, old.len(), 0, new.len())];
    while let Some((old_from, old_to, new_from, new_to)) = ranges.pop() {
        let block = longest(&places, (old, old_from, old_to), (new, new_from, new_to));
        if block.length > 0 {
            found.push(block);
            ranges.push((old_from, block.old, new_from, block.new));
            ranges.push((block.old + block.length, old_to, block.new + block.length, new_to));
        }
    }
    found.sort_by_key(|block| block.old);
    let mut joined: Vec<Block> = Vec::new();
    for block in found {
        match joined.last_mut() {
            Some(last) if last.old + last.length == block.old && last.new + last.length == block.new => {
                last.length += block.length;
            }
            _ => joined.push(block),
        }
    }
    joined.push(Block { old: old.len(), new: new.len(), length: 0 });
    joined
}

/// The longest block within ranges of both texts, the first one of several (`findLongestMatch`).
fn longest(
    places: &HashMap<&str, Vec<usize>>,
    (old, old_from, old_to): (&[&str], usize, usize),
    (new, new_from, new_to): (&[&str], usize, usize),
) -> Block {
    let mut best = Block { old: old_from, new: new_from, length: 0 };
    // The lengths of blocks that end before the present line, by their ends in the new text.
    let mut lengths: HashMap<usize, usize> = HashMap::new();
    for (place, line) in old.iter().enumerate().take(old_to).skip(old_from) {
        let mut next = HashMap::new();
        let others = places.get(line).map(Vec::as_slice).unwrap_or_default();
        for &other in others.iter().filter(|other| (new_from..new_to).contains(other)) {
            let length = lengths.get(&other).copied().unwrap_or_default() + 1;
            next.insert(other + 1, length);
            if length > best.length {
                best = Block { old: place + 1 - length, new: other + 1 - length, length };
            }
        }
        lengths = next;
    }
    while best.old > old_from && best.new > new_from && old[best.old - 1] == new[best.new - 1] {
        best = Block { old: best.old - 1, new: best.new - 1, length: best.length + 1 };
    }
    let end = |block: &Block| (block.old + block.length, block.new + block.length);
    while end(&best).0 < old_to && end(&best).1 < new_to && old[end(&best).0] == new[end(&best).1] {
        best.length += 1;
    }
    best
}

/// The changes between blocks, and the blocks (`GetOpCodes`).
fn parts(blocks: &[Block]) -> Vec<Part> {
    let mut parts = Vec::new();
    let (mut old, mut new) = (0, 0);
    for block in blocks {
        if old < block.old || new < block.new {
            parts.push(Part { equal: false, old: (old, block.old), new: (new, block.new) });
        }
        (old, new) = (block.old + block.length, block.new + block.length);
        if block.length > 0 {
            parts.push(Part { equal: true, old: (block.old, old), new: (block.new, new) });
        }
    }
    parts
}

/// The changes with the lines around them, those together that are near each other (`GetGroupedOpCodes`).
fn groups(parts: &[Part]) -> Vec<Vec<Part>> {
    let mut groups = vec![Vec::new()];
    for (index, part) in parts.iter().enumerate() {
        let (is_first, is_last) = (index == 0, index + 1 == parts.len());
        let length = part.old.1 - part.old.0;
        let shortened = length.saturating_sub(CONTEXT);
        let head = Part {
            old: (part.old.0, part.old.1.min(part.old.0 + CONTEXT)),
            new: (part.new.0, part.new.1.min(part.new.0 + CONTEXT)),
            ..*part
        };
        let tail =
            Part { old: (part.old.0 + shortened, part.old.1), new: (part.new.0 + shortened, part.new.1), ..*part };
        let mut add = |part: Part| groups.last_mut().expect("there is always one").push(part);
        match part.equal {
            true if is_first => add(tail),
            true if is_last => add(head),
            true if length > 2 * CONTEXT => {
                add(head);
                groups.push(vec![tail]);
            }
            _ => add(*part),
        }
    }
    groups.retain(|group| group.iter().any(|part| !part.equal));
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Diffs as go-difflib prints them.
    #[test]
    fn diffs() {
        for (old, new, expected) in [
            ("a", "a", ""),
            ("a", "b", "@@ -1 +1 @@\n-a\n+b\n"),
            ("", "a\nb", "@@ -0,0 +1,2 @@\n+a\n+b\n"),
            ("1\n2\n3\n4\n5\n6", "1\n2\n3\n4\nx\n6", "@@ -2,5 +2,5 @@\n 2\n 3\n 4\n-5\n+x\n 6\n"),
            ("ab\nac", "ac\nab\nac", "@@ -1,2 +1,3 @@\n+ac\n ab\n ac\n"),
        ] {
            assert_eq!(unified(old, new), expected, "{old:?} {new:?}");
        }
        let lines: Vec<String> = (0..30).map(|line| line.to_string()).collect();
        let (old, mut new) = (lines.join("\n"), lines);
        new[5] = "x".into();
        new.remove(20);
        let expected =
            "@@ -3,7 +3,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n@@ -18,7 +18,6 @@\n 17\n 18\n 19\n-20\n 21\n 22\n 23\n";
        assert_eq!(unified(&old, &new.join("\n")), expected);
    }
}
