//! The style of a string: `yaml_emitter_analyze_scalar` and `yaml_emitter_select_scalar_style` of go.yaml.in/yaml/v2 v2.4.4 (emitterc.go).

/// How a string is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    Plain,
    SingleQuoted,
    DoubleQuoted,
    /// As it is, on lines of its own.
    Literal,
}

/// A string, and the properties that determine its style.
pub(super) struct Text<'t> {
    pub(super) text: &'t str,
    /// Whether it has line breaks.
    pub(super) has_breaks: bool,
    plain: bool,
    single_quoted: bool,
    literal: bool,
}

impl<'t> Text<'t> {
    pub(super) fn of(text: &'t str) -> Self {
        let (first, last) = (text.chars().next(), text.chars().next_back());
        let is_edge = |letter: Option<char>| letter.is_some_and(|letter| letter == ' ' || is_break(letter));
        let (mut has_breaks, mut special, mut break_space) = (false, false, false);
        let (mut indicates, mut previous) = (text.starts_with("---") || text.starts_with("..."), None);
        let mut letters = text.chars().peekable();
        while let Some(letter) = letters.next() {
            let is_followed = letters.peek().is_none_or(|next| matches!(next, ' ' | '\t'));
            indicates |= match (letter, previous) {
                (
                    '#' | ',' | '[' | ']' | '{' | '}' | '&' | '*' | '!' | '|' | '>' | '\'' | '"' | '%' | '@' | '`',
                    None,
                ) => true,
                ('?' | '-', None) | (':', _) => is_followed,
                ('#', Some(before)) => matches!(before, ' ' | '\t' | '\0') || is_break(before),
                _ => false,
            };
            has_breaks |= is_break(letter);
            special |= !is_printable(letter) || is_break(letter) && previous == Some(' ');
            break_space |= letter == ' ' && previous.is_some_and(is_break);
            previous = Some(letter);
        }
        Text {
            text,
            has_breaks,
            plain: !is_edge(first) && !is_edge(last) && !break_space && !special && !has_breaks && !indicates,
            single_quoted: !break_space && !special,
            literal: !text.is_empty() && last != Some(' ') && !special,
        }
    }

    /// The style; `is_text` is whether it is still a string if written plain.
    pub(super) fn style(&self, is_key: bool, is_text: bool) -> Style {
        if self.text.contains('\n') {
            return if self.literal && !is_key { Style::Literal } else { Style::DoubleQuoted };
        }
        match (is_text, self.plain, self.single_quoted) {
            (true, true, _) => Style::Plain,
            (true, false, true) => Style::SingleQuoted,
            _ => Style::DoubleQuoted,
        }
    }
}

/// Whether a character is a line break of YAML 1.1.
pub(super) fn is_break(letter: char) -> bool {
    matches!(letter, '\r' | '\n' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether a character needs no escape.
pub(super) fn is_printable(letter: char) -> bool {
    letter != '\u{feff}' && matches!(letter, '\n' | ' '..='~' | '\u{a0}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}')
}
