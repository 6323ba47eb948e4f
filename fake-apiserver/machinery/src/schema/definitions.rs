//! An index of a text of types: the types of a kind can be read without those of all others.

/// The error of a text that does not describe types.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("schema: {0}")]
pub struct DataError(pub(super) String);

impl DataError {
    pub(super) fn not_a_line(line: &str) -> Self {
        DataError(format!("not a line: {line}"))
    }
}

/// The definitions of a text.
pub(super) struct Definitions<'d> {
    /// In the order of the text.
    pub(super) kinds: Vec<KindLine<'d>>,
    /// Types by name: the line that begins one, and those below it. Ordered.
    types: Vec<(&'d str, &'d str)>,
    /// Those that have the types that this text names and does not define.
    base: Option<&'d Definitions<'d>>,
}

/// A line with the type of a kind.
#[derive(Debug, Clone, Copy)]
pub(super) struct KindLine<'d> {
    pub(super) api_version: &'d str,
    pub(super) kind: &'d str,
    pub(super) type_name: &'d str,
}

impl<'d> Definitions<'d> {
    /// # Errors
    /// If a line is not a definition, or repeats one.
    pub(super) fn of(text: &'d str) -> Result<Self, DataError> {
        let mut definitions = Definitions { kinds: Vec::new(), types: Vec::new(), base: None };
        let mut start = 0;
        for line_feed in memchr::memchr_iter(b'\n', text.as_bytes()) {
            let end = line_feed + 1;
            if text.as_bytes().get(end) != Some(&b' ') {
                definitions.add(&text[start..end])?;
                start = end;
            }
        }
        if start < text.len() {
            definitions.add(&text[start..])?;
        }
        definitions.types.sort_unstable();
        let twice = definitions.types.windows(2).find(|pair| pair[0].0 == pair[1].0);
        match twice {
            Some(pair) => Err(DataError(format!("{} is defined twice", pair[0].0))),
            None => Ok(definitions),
        }
    }

    /// Those of a text that names types of another.
    ///
    /// # Errors
    /// As [`Definitions::of`].
    pub(super) fn over(base: &'d Definitions<'d>, text: &'d str) -> Result<Self, DataError> {
        Ok(Definitions { base: Some(base), ..Definitions::of(text)? })
    }

    /// The names of all types of the text, ordered.
    pub(super) fn names(&self) -> impl Iterator<Item = &'d str> {
        self.types.iter().map(|(name, _)| *name)
    }

    /// The lines that define the type of that name.
    pub(super) fn lines(&self, name: &str) -> Option<&'d str> {
        match self.types.binary_search_by_key(&name, |(name, _)| name) {
            Ok(at) => Some(self.types[at].1),
            Err(_) => self.base.and_then(|base| base.lines(name)),
        }
    }

    fn add(&mut self, lines: &'d str) -> Result<(), DataError> {
        let (first, below) = lines.split_once('\n').unwrap_or((lines, ""));
        let mut words = first.split(' ');
        match (words.next(), words.next(), words.next(), words.next(), words.next()) {
            (Some(comment), ..) if comment.starts_with('#') && below.is_empty() => {}
            (Some("kind"), Some(api_version), Some(kind), Some(type_name), None) if below.is_empty() => {
                self.kinds.push(KindLine { api_version, kind, type_name });
            }
            (Some("struct" | "union" | "leaf" | "type" | "message"), Some(name), ..) => self.types.push((name, lines)),
            _ => return Err(DataError::not_a_line(first)),
        }
        Ok(())
    }
}
