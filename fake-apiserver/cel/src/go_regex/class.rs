//! Classes of characters and escaped characters in regular expressions.

use super::{Parser, push_char, refuse};

/// The categories and scripts of `\p{...}` (`unicodeTable`), as canonical names. The crate has more. Go does not find scripts
/// of several words, as its table has them with underscores.
const CLASSES: &str = "Any Assigned Ascii Lc C Cc Cf Cn Co Cs L Ll Lm Lo Lt Lu M Mc Me Mn N Nd Nl No P Pc Pd Pe Pf Pi Po Ps S \
    Sc Sk Sm So Z Zl Zp Zs Casedletter Closepunctuation Combiningmark Connectorpunctuation Control Currencysymbol \
    Dashpunctuation Decimalnumber Enclosingmark Finalpunctuation Format Initialpunctuation Letter Letternumber Lineseparator \
    Lowercaseletter Mark Mathsymbol Modifierletter Modifiersymbol Nonspacingmark Number Openpunctuation Other Otherletter \
    Othernumber Otherpunctuation Othersymbol Paragraphseparator Privateuse Punctuation Separator Spaceseparator Spacingmark \
    Surrogate Symbol Titlecaseletter Unassigned Uppercaseletter Cntrl Digit Punct Adlam Ahom Arabic Armenian Avestan Balinese \
    Bamum Batak Bengali Bhaiksuki Bopomofo Brahmi Braille Buginese Buhid Carian Chakma Cham Cherokee Chorasmian Common Coptic \
    Cuneiform Cypriot Cyrillic Deseret Devanagari Dogra Duployan Elbasan Elymaic Ethiopic Georgian Glagolitic Gothic Grantha \
    Greek Gujarati Gurmukhi Han Hangul Hanunoo Hatran Hebrew Hiragana Inherited Javanese Kaithi Kannada Katakana Kawi \
    Kharoshthi Khmer Khojki Khudawadi Lao Latin Lepcha Limbu Lisu Lycian Lydian Mahajani Makasar Malayalam Mandaic Manichaean \
    Marchen Medefaidrin Miao Modi Mongolian Mro Multani Myanmar Nabataean Nandinagari Newa Nko Nushu Ogham Oriya Osage Osmanya \
    Palmyrene Phoenician Rejang Runic Samaritan Saurashtra Sharada Shavian Siddham Sinhala Sogdian Soyombo Sundanese Syriac \
    Tagalog Tagbanwa Takri Tamil Tangsa Tangut Telugu Thaana Thai Tibetan Tifinagh Tirhuta Toto Ugaritic Vai Vithkuqi Wancho \
    Yezidi Yi";

/// The names of `posixGroup`.
const POSIX: [&str; 14] = [
    "alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "word",
    "xdigit",
];

impl Parser<'_> {
    /// Translates a class in brackets.
    pub(super) fn class(&mut self) -> Result<(), String> {
        let whole = self.rest;
        self.take(1, "[");
        if self.rest.starts_with('^') {
            self.take(1, "^");
        }
        let mut first = true;
        while first || !self.rest.starts_with(']') {
            first = false;
            if let Some(named) = self.rest.strip_prefix("[:")
                && let Some(end) = named.find(":]")
            {
                let text = &self.rest[..end + 4];
                if !POSIX.contains(&named[..end].trim_start_matches('^')) || named[..end].starts_with("^^") {
                    return refuse("invalid character class range", text);
                }
                self.take(text.len(), text);
                continue;
            }
            if let Some(ranges) = self.shared_class()? {
                self.written.push_str(&ranges);
                continue;
            }
            let before = self.rest;
            let low = self.class_char(whole)?;
            let mut high = low;
            if let Some(rest) = self.rest.strip_prefix('-')
                && !rest.is_empty()
                && !rest.starts_with(']')
            {
                self.rest = rest;
                high = self.class_char(whole)?;
                if high < low {
                    return refuse("invalid character class range", self.since(before));
                }
            }
            push_char(&mut self.written, low);
            if high != low {
                self.written.push('-');
                push_char(&mut self.written, high);
            }
        }
        self.take(1, "]");
        Ok(())
    }

    fn class_char(&mut self, whole: &str) -> Result<char, String> {
        match self.rest.chars().next() {
            None => refuse("missing closing ]", whole),
            Some('\\') => self.escaped_char(),
            Some(char) => {
                self.rest = &self.rest[char.len_utf8()..];
                Ok(char)
            }
        }
    }

    /// Translates `\d` and the like, and `\p{…}`, to the content of a class.
    pub(super) fn shared_class(&mut self) -> Result<Option<String>, String> {
        let Some(letter) = self.rest.strip_prefix('\\').and_then(|rest| rest.chars().next()) else {
            return Ok(None);
        };
        let ranges = match letter {
            'd' => "0-9",
            'D' => "[^0-9]",
            's' => r"\t\n\f\r\x20",
            'S' => r"[^\t\n\f\r\x20]",
            'w' => "0-9A-Za-z_",
            'W' => "[^0-9A-Za-z_]",
            'p' | 'P' => return self.unicode_class(letter == 'P').map(Some),
            _ => return Ok(None),
        };
        self.rest = &self.rest[2..];
        Ok(Some(ranges.to_owned()))
    }

    /// Translates `\p{Greek}`, `\pL`, `\p{^Lu}`.
    fn unicode_class(&mut self, mut negative: bool) -> Result<String, String> {
        let named = &self.rest[2..];
        let (mut name, length) = match named.chars().next() {
            Some('{') => match named.find('}') {
                Some(end) => (&named[1..end], end + 3),
                None => return refuse("invalid character class range", self.rest),
            },
            Some(char) => (&named[..char.len_utf8()], char.len_utf8() + 2),
            None => ("", 2),
        };
        let text = &self.rest[..length];
        if let Some(rest) = name.strip_prefix('^') {
            negative = !negative;
            name = rest;
        }
        let canonical = canonical(name);
        if !CLASSES.split_ascii_whitespace().any(|class| class == canonical) {
            return refuse("invalid character class range", text);
        }
        self.rest = &self.rest[length..];
        Ok(format!(r"\{}{{{name}}}", if negative { 'P' } else { 'p' }))
    }

    /// Parses an escape; returns the character that it stands for (`parseEscape`).
    pub(super) fn escaped_char(&mut self) -> Result<char, String> {
        let before = self.rest;
        let mut chars = before[1..].chars();
        let Some(letter) = chars.next() else {
            return refuse("trailing backslash at end of expression", "");
        };
        let octal = |char: char| char.to_digit(8);
        let found = match letter {
            'a' => Some('\u{7}'),
            'f' => Some('\u{c}'),
            'n' => Some('\n'),
            'r' => Some('\r'),
            't' => Some('\t'),
            'v' => Some('\u{b}'),
            '0'..='7' => {
                let mut code = u32::from(letter) - u32::from('0');
                let mut more = 0;
                while let Some(digit) = chars.clone().next().and_then(octal).filter(|_| more < 2) {
                    chars.next();
                    code = code * 8 + digit;
                    more += 1;
                }
                if letter == '0' || more > 0 { char::from_u32(code) } else { None }
            }
            'x' => hexadecimal(&mut chars),
            _ if letter.is_ascii() && !letter.is_ascii_alphanumeric() => Some(letter),
            _ => None,
        };
        self.rest = chars.as_str();
        found.map_or_else(|| refuse("invalid escape sequence", self.since(before)), Ok)
    }
}

/// `canonicalName`: the first letter upper case, the others lower case, without word separators.
fn canonical(name: &str) -> String {
    let mut letters = name.chars().filter(|char| !matches!(char, '_' | '-' | ' '));
    let first = letters.next().map(|char| char.to_ascii_uppercase());
    first.into_iter().chain(letters.map(|char| char.to_ascii_lowercase())).collect()
}

/// The character of a hexadecimal code: `7F` or `{1F600}`.
fn hexadecimal(chars: &mut std::str::Chars<'_>) -> Option<char> {
    let first = chars.next()?;
    if first != '{' {
        let second = chars.next()?;
        return char::from_u32(first.to_digit(16)? * 16 + second.to_digit(16)?);
    }
    let mut code = 0;
    let mut digits = 0;
    loop {
        match chars.next()? {
            '}' if digits > 0 => return char::from_u32(code),
            char => code = code * 16 + char.to_digit(16)?,
        }
        if code > u32::from(char::MAX) {
            return None;
        }
        digits += 1;
    }
}
