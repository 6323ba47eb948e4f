//! A section of a text, such as the README, that a command writes: the lines between `<!-- NAME -->` and `<!-- end of NAME -->`.

/// The section `name` of `text`.
pub fn section<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let [begin, end] = bounds(text, name)?;
    Some(&text[begin..end])
}

/// `text` with `content`, which ends with a line feed, in place of its section `name`.
pub fn with_section(text: &str, name: &str, content: &str) -> Option<String> {
    let [begin, end] = bounds(text, name)?;
    Some(format!("{}{content}{}", &text[..begin], &text[end..]))
}

fn bounds(text: &str, name: &str) -> Option<[usize; 2]> {
    let mark = format!("<!-- {name} -->\n");
    let begin = text.find(&mark)? + mark.len();
    Some([begin, begin + text[begin..].find(&format!("<!-- end of {name} -->\n"))?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_takes_the_place_of_another() {
        let text = with_section("a\n<!-- b -->\nold\n<!-- end of b -->\nc\n", "b", "new\n").unwrap();
        assert_eq!((section(&text, "b"), text.ends_with("c\n")), (Some("new\n"), true));
        assert_eq!((section(&text, "c"), with_section(&text, "c", "")), (None, None));
    }
}
