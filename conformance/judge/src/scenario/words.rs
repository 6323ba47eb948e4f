//! A line cut into words. Quotes and brackets hold a word together: `secrets=[{"name": "a"}]` is one word.

/// Cuts `line` at its spaces, but never inside `"…"`, `[…]`, `{…}` or `(…)`.
pub fn words(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut closers = Vec::new();
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            ' ' if closers.is_empty() => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
                continue;
            }
            '"' => {
                word.push('"');
                quoted(&mut characters, &mut word)?;
                continue;
            }
            '[' => closers.push(']'),
            '{' => closers.push('}'),
            '(' => closers.push(')'),
            ']' | '}' | ')' if closers.pop() != Some(character) => {
                return Err(format!("unmatched {character:?} in {line:?}"));
            }
            _ => {}
        }
        word.push(character);
    }
    if let Some(closer) = closers.pop() {
        return Err(format!("{closer:?} is missing in {line:?}"));
    }
    if !word.is_empty() {
        words.push(word);
    }
    Ok(words)
}

/// Copies the rest of a quoted string, its closing quote included.
fn quoted(characters: &mut std::str::Chars<'_>, word: &mut String) -> Result<(), String> {
    while let Some(character) = characters.next() {
        word.push(character);
        match character {
            '"' => return Ok(()),
            '\\' => word.extend(characters.next()),
            _ => {}
        }
    }
    Err(format!("a quote is not closed: {word}"))
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn quotes_and_brackets_hold_words_together() {
        for (line, expected) in [
            ("", &[][..]),
            ("get  configmaps/a", &["get", "configmaps/a"]),
            (r#"PUT 200 secrets=[{"name": "$new"}]"#, &["PUT", "200", r#"secrets=[{"name": "$new"}]"#]),
            (r#"a="b ] c" d"#, &[r#"a="b ] c""#, "d"]),
            (r#"a="say \"hi there\"""#, &[r#"a="say \"hi there\"""#]),
            ("?labelSelector=app in (a, b)", &["?labelSelector=app", "in", "(a, b)"]),
        ] {
            assert_eq!(words(line).as_deref(), Ok(&expected.iter().map(ToString::to_string).collect::<Vec<_>>()[..]));
        }
        for line in ["a]", "[a", r#""a"#] {
            assert!(words(line).is_err(), "{line}");
        }
    }
}
