//! The line `for`, which makes several scenarios of one file, one for each of its rows:
//!
//! ```text
//! for $resource $Kind in deployments Deployment, replicasets ReplicaSet
//! ```
//!
//! Everywhere else in the text the names stand for the words of the row.

use super::text::{Block, SyntaxError, Text};
use std::collections::BTreeSet;

/// The words of one scenario by the names that stand for them; none, if its file has no line `for`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Row(Vec<(String, String)>);

/// The beginning of the line.
const FOR: &str = "for ";

/// The rows of a text: a single one without names, if there is no line `for`.
///
/// # Errors
/// If there are several such lines, or one is not written as above.
pub(super) fn rows(text: &Text) -> Result<Vec<Row>, SyntaxError> {
    let line = |block: &Block| Some((block.line, block.command.first()?.strip_prefix(FOR)?.to_owned()));
    let mut lines = text.blocks.iter().filter_map(line);
    let Some((line, written)) = lines.next() else { return Ok(vec![Row::default()]) };
    if let Some((second, _)) = lines.next() {
        return Err(SyntaxError::new(second, "there is one line `for` at most"));
    }
    read(&written).ok_or_else(|| {
        let usage =
            "expected `for $NAME... in WORD..., WORD...`, a word for each name, the first one another in each row";
        SyntaxError::new(line, format!("for {written}: {usage}"))
    })
}

fn read(written: &str) -> Option<Vec<Row>> {
    let (names, rows) = written.split_once(" in ")?;
    let name = |word: &str| {
        word.strip_prefix('$').filter(|name| !name.is_empty() && end(name) == name.len()).map(str::to_owned)
    };
    let names: Vec<String> = names.split(' ').map(name).collect::<Option<_>>()?;
    let row = |row: &str| {
        let words: Vec<&str> = row.split(' ').collect();
        let fits = words.len() == names.len() && words.iter().all(|word| !word.is_empty());
        fits.then(|| Row(names.iter().cloned().zip(words.into_iter().map(str::to_owned)).collect()))
    };
    let rows: Vec<Row> = rows.split(", ").map(row).collect::<Option<_>>()?;
    let firsts: BTreeSet<&str> = rows.iter().map(|Row(words)| words[0].1.as_str()).collect();
    (firsts.len() == rows.len()).then_some(rows)
}

/// The length of the name at the front of `text`.
fn end(text: &str) -> usize {
    text.find(|character: char| !is_part(character)).unwrap_or(text.len())
}

fn is_part(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

impl Row {
    /// The name of the scenario that this row makes of the file called so: `area/behaviour[deployments]`.
    pub(super) fn name(&self, file: &str) -> String {
        self.0.first().map_or_else(|| file.to_owned(), |(_, word)| format!("{file}[{word}]"))
    }

    /// The text with the words in place of the names.
    pub(super) fn fill(&self, text: &Text) -> Text {
        let fill = |line: &String| if line.starts_with(FOR) { line.clone() } else { self.filled(line) };
        let fill_all = |lines: &Vec<String>| lines.iter().map(fill).collect();
        let block = |block: &Block| Block {
            line: block.line,
            comment: fill_all(&block.comment),
            command: fill_all(&block.command),
            observed: block.observed.as_ref().map(fill_all),
        };
        Text { blocks: text.blocks.iter().map(block).collect() }
    }

    fn filled(&self, line: &str) -> String {
        let mut filled = String::new();
        let mut rest = line;
        while let Some(dollar) = rest.find('$') {
            let (before, from) = rest.split_at(dollar + 1);
            let name = &from[..end(from)];
            match self.0.iter().find(|(known, _)| known == name) {
                Some((_, word)) => {
                    filled += &before[..dollar];
                    filled += word;
                    rest = &from[name.len()..];
                }
                None => {
                    // The second one of two dollar signs begins no name.
                    let length = if from.starts_with('$') { 1 } else { 0 };
                    filled += before;
                    filled += &from[..length];
                    rest = &from[length..];
                }
            }
        }
        filled + rest
    }

    /// The line with the names in place of the words, where these stand alone.
    pub fn spell(&self, line: &str) -> String {
        let mut spelled = String::new();
        let mut rest = line;
        while let Some(next) = rest.chars().next() {
            let stands_alone = !spelled.ends_with(is_part);
            let is_here = |(_, word): &&(String, String)| {
                rest.strip_prefix(word.as_str()).is_some_and(|behind| !behind.starts_with(is_part))
            };
            let found = self.0.iter().filter(is_here).max_by_key(|(_, word)| word.len()).filter(|_| stands_alone);
            let length = match found {
                Some((name, word)) => {
                    spelled += &format!("${name}");
                    word.len()
                }
                None => {
                    spelled.push(next);
                    next.len_utf8()
                }
            };
            rest = &rest[length..];
        }
        spelled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(written: &str) -> Row {
        read(written).expect("a row").remove(0)
    }

    #[test]
    fn names_stand_for_words() {
        let row = row("$resource $Kind $group in deployments Deployment apps, replicasets ReplicaSet apps");
        for (line, filled) in [
            ("create $resource/a ?dryRun=All", "create deployments/a ?dryRun=All"),
            ("  message = \"$Kind.$group \\\"a\\\"\"", "  message = \"Deployment.apps \\\"a\\\"\""),
            ("$resources $$resource $resource_ $", "$resources $$resource $resource_ $"),
            ("uid=$uid $_", "uid=$uid $_"),
        ] {
            assert_eq!(row.filled(line), filled);
            assert_eq!(row.spell(filled), line);
        }
        assert_eq!(row.spell("mydeployments DeploymentSpec apps-"), "mydeployments DeploymentSpec $group-");
        assert_eq!(row.name("workloads/scale"), "workloads/scale[deployments]");
        assert_eq!(Row::default().name("create/twice"), "create/twice");
    }

    #[test]
    fn rows_have_as_many_words_as_there_are_names() {
        for wrong in [
            "$a",
            "a in b",
            "$ in b",
            "$a- in b",
            "$a $b in c",
            "$a in b c",
            "$a in b,c d",
            "$a in  b",
            "$a in ",
            "$a in b, b",
        ] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
        assert_eq!(read("$a in b, c").map(|rows| rows.len()), Some(2));
    }
}
