//! Scanner of Rust sources: the modules that a file declares, and the paths that each of them names. Comments and code that is
//! compiled for tests only are left out. It knows no more of the grammar than that takes.

/// A module of a file: the file itself, or one written inside of it.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    /// The names of the inline modules around it, from the outside; empty for the file itself.
    pub(crate) inside: Vec<String>,
    /// The child modules with a file of their own.
    pub(crate) children: Vec<String>,
    /// The paths that `use` declarations import; that of a glob ends with `*`.
    pub(crate) imports: Vec<Import>,
    /// The other paths of two or more segments.
    pub(crate) paths: Vec<Vec<String>>,
    /// All identifiers, and of paths the last two together: `Timestamp::now`.
    pub(crate) words: Vec<String>,
    /// The identifiers in the types of statics.
    pub(crate) statics: Vec<String>,
    /// The string literals, with their quotes.
    pub(crate) strings: Vec<String>,
}

/// One path of a `use` declaration.
#[derive(Debug)]
pub(crate) struct Import {
    pub(crate) path: Vec<String>,
    /// The name that the path gets here; a glob has none.
    pub(crate) name: Option<String>,
    /// Whether the declaration is `pub`, to whatever extent.
    pub(crate) public: bool,
}

/// A scanned file.
#[derive(Debug, Default)]
pub(crate) struct Source {
    /// The modules; the file itself is the first.
    pub(crate) scopes: Vec<Scope>,
    /// The child modules that are compiled for tests only.
    pub(crate) test_children: Vec<String>,
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Word(String),
    /// A string literal, with its quotes.
    Text(String),
    /// `::`
    Separator,
    Sign(char),
}

/// Scans the text of a file.
pub(crate) fn scan(text: &str) -> Source {
    let tokens = tokens(text);
    let mut source = Source { scopes: vec![Scope::default()], ..Source::default() };
    // The scopes that are open, each with the depth of braces at which it ends.
    let mut open = vec![(0, 0)];
    let (mut depth, mut at) = (0, 0);
    while at < tokens.len() {
        let scope = open.last().map_or(0, |(scope, _)| *scope);
        if let Some(end) = test_only(&tokens[at..]) {
            source.test_children.extend(tokens[at..at + end].windows(3).filter_map(declared));
            at += end;
            continue;
        }
        match &tokens[at..] {
            [Token::Word(word), Token::Word(name), Token::Sign('{'), ..] if word == "mod" => {
                let inside = [source.scopes[scope].inside.clone(), vec![name.clone()]].concat();
                open.push((source.scopes.len(), depth));
                source.scopes.push(Scope { inside, ..Scope::default() });
                depth += 1;
                at += 3;
                continue;
            }
            [Token::Word(word), Token::Word(name), Token::Sign(';'), ..] if word == "mod" => {
                source.scopes[scope].children.push(name.clone());
                at += 2;
            }
            [Token::Word(word), rest @ ..] if word == "use" && rest.first() != Some(&Token::Sign('<')) => {
                let length = rest.iter().position(|token| *token == Token::Sign(';')).unwrap_or(rest.len());
                // `pub use`, `pub(crate) use`.
                let public = at > 0 && matches!(&tokens[at - 1], Token::Word(_) | Token::Sign(')'));
                let mut found = Vec::new();
                imports(&mut rest[..length].iter(), &[], &mut found);
                let found = found.into_iter().map(|(path, name)| Import { path, name, public });
                source.scopes[scope].imports.extend(found);
                at += length;
            }
            [Token::Word(first), Token::Separator, Token::Word(_), ..] => {
                let mut path = vec![first.clone()];
                while let [Token::Separator, Token::Word(next), ..] = &tokens[at + 1..] {
                    path.push(next.clone());
                    at += 2;
                }
                source.scopes[scope].words.extend(path.iter().cloned());
                source.scopes[scope].words.push(path[path.len() - 2..].join("::"));
                source.scopes[scope].paths.push(path);
            }
            [Token::Word(word), rest @ ..] if word == "static" => {
                let of_type = rest.iter().take_while(|token| **token != Token::Sign('='));
                let words =
                    of_type.filter_map(|token| if let Token::Word(word) = token { Some(word.clone()) } else { None });
                source.scopes[scope].statics.extend(words);
            }
            [Token::Word(word), ..] => source.scopes[scope].words.push(word.clone()),
            [Token::Text(text), ..] => source.scopes[scope].strings.push(text.clone()),
            [Token::Sign('{'), ..] => depth += 1,
            [Token::Sign('}'), ..] => {
                depth -= 1;
                open.pop_if(|(scope, end)| *scope > 0 && *end == depth);
            }
            _ => {}
        }
        at += 1;
    }
    source
}

/// The length of the item at the front of `tokens`, if it is compiled for tests only.
fn test_only(tokens: &[Token]) -> Option<usize> {
    use Token::{Sign, Word};
    let [Sign('#'), Sign('['), Word(cfg), Sign('('), Word(test), Sign(')'), Sign(']'), ..] = tokens else {
        return None;
    };
    if cfg != "cfg" || test != "test" {
        return None;
    }
    let mut depth = 0;
    for (index, token) in tokens.iter().enumerate().skip(7) {
        match token {
            Token::Sign('{') => depth += 1,
            Token::Sign('}') if depth == 1 => return Some(index + 1),
            Token::Sign('}') => depth -= 1,
            Token::Sign(';') if depth == 0 => return Some(index + 1),
            _ => {}
        }
    }
    Some(tokens.len())
}

/// The name in `mod name;`.
fn declared(tokens: &[Token]) -> Option<String> {
    match tokens {
        [Token::Word(word), Token::Word(name), Token::Sign(';')] if word == "mod" => Some(name.clone()),
        _ => None,
    }
}

/// Reads the tree of one `use` declaration behind `prefix`, up to the brace that closes it.
fn imports<'t>(
    tokens: &mut impl Iterator<Item = &'t Token>,
    prefix: &[String],
    found: &mut Vec<(Vec<String>, Option<String>)>,
) {
    let mut path = prefix.to_vec();
    // The name that the path gets; `None` before it is known, and after it is used.
    let mut name = None;
    while let Some(token) = tokens.next() {
        match token {
            Token::Word(word) if word == "as" => {
                if let Some(Token::Word(alias)) = tokens.next() {
                    name = Some(alias.clone());
                }
            }
            // `::name` is another crate, whatever is called so here: no path begins with nothing.
            Token::Separator if path.is_empty() => path.push(String::new()),
            // `{self}` imports the module around it.
            Token::Word(word) if word == "self" && !path.is_empty() => name = path.last().cloned(),
            Token::Word(word) => {
                path.push(word.clone());
                name = Some(word.clone());
            }
            Token::Sign('*') => {
                found.push(([path.as_slice(), &["*".to_owned()]].concat(), None));
                name = None;
            }
            Token::Sign('{') => {
                imports(tokens, &path, found);
                name = None;
            }
            Token::Sign(end @ (',' | '}')) => {
                found.extend(name.take().map(|name| (path.clone(), Some(name))));
                path = prefix.to_vec();
                if *end == '}' {
                    return;
                }
            }
            _ => {}
        }
    }
    found.extend(name.map(|name| (path, Some(name))));
}

/// The tokens of a text; lifetimes, characters and comments are left out.
fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            block_comment(rest)
        } else if let Some(length) = string(rest) {
            tokens.push(Token::Text(rest[..length].to_owned()));
            length
        } else if first == '\'' {
            character(rest)
        } else if first == '_' || first.is_alphanumeric() {
            let length = rest.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(rest.len());
            tokens.push(Token::Word(rest[..length].to_owned()));
            length
        } else if rest.starts_with("::") {
            tokens.push(Token::Separator);
            2
        } else {
            if !first.is_whitespace() {
                tokens.push(Token::Sign(first));
            }
            first.len_utf8()
        };
        rest = &rest[skipped..];
    }
    tokens
}

/// The length of the comment that opens `text`; comments nest.
fn block_comment(text: &str) -> usize {
    let mut depth = 0;
    for (index, _) in text.char_indices() {
        match &text.as_bytes()[index..] {
            [b'/', b'*', ..] => depth += 1,
            [b'*', b'/', ..] if depth == 1 => return index + 2,
            [b'*', b'/', ..] => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

/// The length of the string literal that opens `text`, if one does: `"…"`, `b"…"`, `r#"…"#`, …
fn string(text: &str) -> Option<usize> {
    let marked = text.trim_start_matches(['b', 'c', 'r']);
    let prefix = &text[..text.len() - marked.len()];
    let raw = match prefix {
        "" | "b" | "c" => false,
        "r" | "br" | "cr" => true,
        _ => return None,
    };
    let hashes = if raw { marked.len() - marked.trim_start_matches('#').len() } else { 0 };
    let body = marked[hashes..].strip_prefix('"')?;
    let begin = text.len() - body.len();
    if raw {
        let end = format!("\"{}", "#".repeat(hashes));
        return Some(begin + body.find(&end).map_or(body.len(), |at| at + end.len()));
    }
    let mut escaped = false;
    for (index, byte) in body.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return Some(begin + index + 1),
            _ => {}
        }
    }
    Some(text.len())
}

/// The length of the character literal that opens `text`; of a lifetime, that of its quote and its name.
fn character(text: &str) -> usize {
    let body = &text[1..];
    let literal = match body.chars().next() {
        Some('\\') => body[2..].find('\'').map(|end| end + 2),
        Some(character) => Some(character.len_utf8()).filter(|end| body[*end..].starts_with('\'')),
        None => None,
    };
    match literal {
        Some(end) => end + 2,
        None => 1 + body.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(body.len()),
    }
}
