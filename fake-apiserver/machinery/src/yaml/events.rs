//! The events of the first document of a text: parserc.go of go.yaml.in/yaml/v2 v2.4.4.

use super::cursor::Problem;
use super::scan::{Kind, Scanner};

/// An event, and the line where it begins, counted from 0.
pub(super) struct Event {
    pub(super) line: usize,
    pub(super) what: What,
}

pub(super) enum What {
    /// The name of the anchor.
    Alias(String),
    Scalar {
        text: String,
        /// Whether its text decides what it means.
        plain: bool,
        properties: Properties,
    },
    ListStart(Properties),
    ObjectStart(Properties),
    /// The end of a list or an object.
    End,
    /// The end of the document, or of a text without one.
    DocumentEnd,
}

/// The words before a node.
#[derive(Default)]
pub(super) struct Properties {
    pub(super) anchor: Option<String>,
    pub(super) tag: Option<String>,
}

/// The part of a document that comes next.
#[derive(Clone, Copy)]
enum State {
    DocumentStart,
    DocumentContent,
    DocumentEnd,
    BlockListFirst,
    BlockList,
    IndentlessList,
    BlockKeyFirst,
    BlockKey,
    BlockValue,
    FlowListFirst,
    FlowList,
    /// The key of an object of one field, which stands in a list without braces; its value; its end.
    PairKey,
    PairValue,
    PairEnd,
    FlowKeyFirst,
    FlowKey,
    FlowValue,
    FlowNoValue,
}

/// The collections in which a node may be.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Flow,
    Block,
    /// The value of a key, where a list need not be indented.
    BlockOrIndentless,
}

/// The parser of a document.
pub(super) struct Parser<'t> {
    scanner: Scanner<'t>,
    state: State,
    /// The states after the nodes that are open.
    after: Vec<State>,
    /// Handles of tags, with what they stand for.
    prefixes: Vec<(String, String)>,
}

impl<'t> Parser<'t> {
    pub(super) fn new(scanner: Scanner<'t>) -> Self {
        Parser { scanner, state: State::DocumentStart, after: Vec::new(), prefixes: Vec::new() }
    }

    /// The next event. There is none after the end of the document.
    ///
    /// # Errors
    /// If the text is not YAML.
    pub(super) fn next(&mut self) -> Result<Event, Problem> {
        match self.state {
            State::DocumentStart => self.document_start(),
            State::DocumentContent => match self.sees(is_document_end)? {
                true => self.empty_and_leave(),
                false => self.node(Place::Block),
            },
            State::DocumentEnd => {
                let line = self.line()?;
                Ok(Event { line, what: What::DocumentEnd })
            }
            State::BlockListFirst | State::BlockList => self.block_entry(),
            State::IndentlessList => self.indentless_entry(),
            State::BlockKeyFirst | State::BlockKey => self.block_key(),
            State::BlockValue => self.block_value(),
            State::FlowListFirst | State::FlowList => self.flow_entry(),
            State::PairKey => self.pair_key(),
            State::PairValue => self.flow_value(Kind::FlowListEnd, State::PairEnd),
            State::PairEnd => {
                self.state = State::FlowList;
                Ok(Event { line: self.line()?, what: What::End })
            }
            State::FlowKeyFirst | State::FlowKey => self.flow_key(),
            State::FlowValue => self.flow_value(Kind::FlowObjectEnd, State::FlowKey),
            State::FlowNoValue => {
                self.state = State::FlowKey;
                self.empty()
            }
        }
    }

    /// The line of the next token.
    fn line(&mut self) -> Result<usize, Problem> {
        Ok(self.scanner.peek()?.line)
    }

    fn sees(&mut self, test: impl Fn(&Kind) -> bool) -> Result<bool, Problem> {
        Ok(test(&self.scanner.peek()?.kind))
    }

    fn takes(&mut self, kind: &Kind) -> Result<bool, Problem> {
        let takes = self.sees(|seen| seen == kind)?;
        if takes {
            self.scanner.take()?;
        }
        Ok(takes)
    }

    fn problem<T>(&mut self, words: &'static str) -> Result<T, Problem> {
        Err(Problem { line: self.line()?, words: words.into() })
    }

    fn leave(&mut self) {
        self.state = self.after.pop().unwrap_or(State::DocumentEnd);
    }

    /// The node that comes next, after which the parser is in that state.
    fn node_then(&mut self, place: Place, then: State) -> Result<Event, Problem> {
        self.after.push(then);
        self.node(place)
    }

    /// An empty scalar where the next token begins.
    fn empty(&mut self) -> Result<Event, Problem> {
        let line = self.line()?;
        Ok(empty_at(line, Properties::default()))
    }

    fn empty_and_leave(&mut self) -> Result<Event, Problem> {
        self.leave();
        self.empty()
    }

    /// An empty scalar in a line, after which the parser is in that state.
    fn empty_then(&mut self, line: usize, then: State) -> Event {
        self.state = then;
        empty_at(line, Properties::default())
    }

    /// The end of a collection at the next token, which is taken.
    fn end(&mut self) -> Result<Event, Problem> {
        self.leave();
        Ok(Event { line: self.scanner.take()?.line, what: What::End })
    }

    fn document_start(&mut self) -> Result<Event, Problem> {
        let is_bare = !self.sees(|kind| {
            matches!(kind, Kind::Version(..) | Kind::TagPrefix(..) | Kind::DocumentStart | Kind::StreamEnd)
        })?;
        if self.sees(|kind| *kind == Kind::StreamEnd)? {
            let line = self.line()?;
            return Ok(Event { line, what: What::DocumentEnd });
        }
        self.directives()?;
        if is_bare {
            return self.node_then(Place::Block, State::DocumentEnd);
        }
        if !self.takes(&Kind::DocumentStart)? {
            return self.problem("did not find expected <document start>");
        }
        self.after.push(State::DocumentEnd);
        self.state = State::DocumentContent;
        self.next()
    }

    fn directives(&mut self) -> Result<(), Problem> {
        let mut has_version = false;
        while self.sees(|kind| matches!(kind, Kind::Version(..) | Kind::TagPrefix(..)))? {
            let token = self.scanner.take()?;
            let refusal = match token.kind {
                Kind::TagPrefix(handle, prefix) => {
                    let is_known = self.prefixes.iter().any(|(known, _)| *known == handle);
                    self.prefixes.push((handle, prefix));
                    is_known.then_some("found duplicate %TAG directive")
                }
                _ if has_version => Some("found duplicate %YAML directive"),
                kind => {
                    has_version = true;
                    (kind != Kind::Version(1, 1)).then_some("found incompatible YAML document")
                }
            };
            if let Some(words) = refusal {
                return Err(Problem { line: token.line, words: words.into() });
            }
        }
        self.prefixes.extend([("!".into(), "!".into()), ("!!".into(), "tag:yaml.org,2002:".into())]);
        Ok(())
    }

    fn node(&mut self, place: Place) -> Result<Event, Problem> {
        let line = self.line()?;
        if self.sees(|kind| matches!(kind, Kind::Alias(_)))? {
            self.leave();
            let Kind::Alias(name) = self.scanner.take()?.kind else { unreachable!("it was seen") };
            return Ok(Event { line, what: What::Alias(name) });
        }
        let properties = self.properties()?;
        let is_block = place != Place::Flow;
        let (state, is_list) = match &self.scanner.peek()?.kind {
            Kind::BlockEntry if place == Place::BlockOrIndentless => (State::IndentlessList, true),
            Kind::Scalar { .. } => {
                self.leave();
                let Kind::Scalar { text, plain } = self.scanner.take()?.kind else { unreachable!("it was seen") };
                let plain = properties.tag.as_deref().map_or(plain, |tag| tag == "!");
                return Ok(Event { line, what: What::Scalar { text, plain, properties } });
            }
            Kind::FlowListStart => (State::FlowListFirst, true),
            Kind::FlowObjectStart => (State::FlowKeyFirst, false),
            Kind::BlockListStart if is_block => (State::BlockListFirst, true),
            Kind::BlockObjectStart if is_block => (State::BlockKeyFirst, false),
            _ if properties.anchor.is_some() || properties.tag.is_some() => {
                self.leave();
                return Ok(empty_at(line, properties));
            }
            _ => return self.problem("did not find expected node content"),
        };
        self.state = state;
        Ok(Event { line, what: if is_list { What::ListStart(properties) } else { What::ObjectStart(properties) } })
    }

    /// The anchor and the tag of a node, in any order.
    fn properties(&mut self) -> Result<Properties, Problem> {
        let mut found = Properties::default();
        loop {
            let is_next = match &self.scanner.peek()?.kind {
                Kind::Anchor(_) => found.anchor.is_none(),
                Kind::Tag(..) => found.tag.is_none(),
                _ => false,
            };
            if !is_next {
                return Ok(found);
            }
            let token = self.scanner.take()?;
            match token.kind {
                Kind::Anchor(name) => found.anchor = Some(name),
                Kind::Tag(handle, suffix) if handle.is_empty() => found.tag = Some(suffix),
                Kind::Tag(handle, suffix) => {
                    let prefix = self.prefixes.iter().find(|(known, _)| *known == handle);
                    let Some((_, prefix)) = prefix else {
                        return Err(Problem { line: token.line, words: "found undefined tag handle".into() });
                    };
                    found.tag = Some(format!("{prefix}{suffix}"));
                }
                _ => {}
            }
        }
    }

    fn block_entry(&mut self) -> Result<Event, Problem> {
        if let State::BlockListFirst = self.state {
            self.scanner.take()?;
        }
        if self.sees(|kind| *kind == Kind::BlockEntry)? {
            let line = self.scanner.take()?.line;
            return match self.sees(|kind| matches!(kind, Kind::BlockEntry | Kind::BlockEnd))? {
                false => self.node_then(Place::Block, State::BlockList),
                true => Ok(self.empty_then(line, State::BlockList)),
            };
        }
        match self.sees(|kind| *kind == Kind::BlockEnd)? {
            true => self.end(),
            false => self.problem("did not find expected '-' indicator"),
        }
    }

    fn indentless_entry(&mut self) -> Result<Event, Problem> {
        if !self.sees(|kind| *kind == Kind::BlockEntry)? {
            self.leave();
            return Ok(Event { line: self.line()?, what: What::End });
        }
        let line = self.scanner.take()?.line;
        match self.sees(|kind| matches!(kind, Kind::BlockEntry) || ends_field(kind))? {
            false => self.node_then(Place::Block, State::IndentlessList),
            true => Ok(self.empty_then(line, State::IndentlessList)),
        }
    }

    fn block_key(&mut self) -> Result<Event, Problem> {
        if let State::BlockKeyFirst = self.state {
            self.scanner.take()?;
        }
        if self.sees(|kind| *kind == Kind::Key)? {
            let line = self.scanner.take()?.line;
            return match self.sees(ends_field)? {
                false => self.node_then(Place::BlockOrIndentless, State::BlockValue),
                true => Ok(self.empty_then(line, State::BlockValue)),
            };
        }
        match self.sees(|kind| *kind == Kind::BlockEnd)? {
            true => self.end(),
            false => self.problem("did not find expected key"),
        }
    }

    fn block_value(&mut self) -> Result<Event, Problem> {
        let line = self.line()?;
        if self.takes(&Kind::Value)? && !self.sees(ends_field)? {
            return self.node_then(Place::BlockOrIndentless, State::BlockKey);
        }
        Ok(self.empty_then(line, State::BlockKey))
    }

    fn flow_entry(&mut self) -> Result<Event, Problem> {
        if self.is_at_entry(Kind::FlowListEnd, "did not find expected ',' or ']'")? {
            if self.sees(|kind| *kind == Kind::Key)? {
                self.state = State::PairKey;
                let line = self.scanner.take()?.line;
                return Ok(Event { line, what: What::ObjectStart(Properties::default()) });
            }
            if !self.sees(|kind| *kind == Kind::FlowListEnd)? {
                return self.node_then(Place::Flow, State::FlowList);
            }
        }
        self.end()
    }

    /// Whether a flow collection goes on; then what begins it or separates its entries is taken.
    fn is_at_entry(&mut self, end: Kind, refusal: &'static str) -> Result<bool, Problem> {
        let is_first = matches!(self.state, State::FlowListFirst | State::FlowKeyFirst);
        if is_first {
            self.scanner.take()?;
        }
        if self.sees(|kind| *kind == end)? {
            return Ok(false);
        }
        if !is_first && !self.takes(&Kind::FlowEntry)? {
            return self.problem(refusal);
        }
        Ok(true)
    }

    fn pair_key(&mut self) -> Result<Event, Problem> {
        if !self.sees(|kind| matches!(kind, Kind::Value | Kind::FlowEntry | Kind::FlowListEnd))? {
            return self.node_then(Place::Flow, State::PairValue);
        }
        // As in Go, the token is lost.
        let line = self.scanner.take()?.line;
        Ok(self.empty_then(line, State::PairValue))
    }

    fn flow_key(&mut self) -> Result<Event, Problem> {
        if self.is_at_entry(Kind::FlowObjectEnd, "did not find expected ',' or '}'")? {
            if self.takes(&Kind::Key)? {
                if !self.sees(|kind| matches!(kind, Kind::Value | Kind::FlowEntry | Kind::FlowObjectEnd))? {
                    return self.node_then(Place::Flow, State::FlowValue);
                }
                let line = self.line()?;
                return Ok(self.empty_then(line, State::FlowValue));
            }
            if !self.sees(|kind| *kind == Kind::FlowObjectEnd)? {
                return self.node_then(Place::Flow, State::FlowNoValue);
            }
        }
        self.end()
    }

    /// The value of a field in a flow collection, which may be missing.
    fn flow_value(&mut self, end: Kind, then: State) -> Result<Event, Problem> {
        if self.takes(&Kind::Value)? && !self.sees(|kind| *kind == Kind::FlowEntry || *kind == end)? {
            return self.node_then(Place::Flow, then);
        }
        self.state = then;
        self.empty()
    }
}

fn empty_at(line: usize, properties: Properties) -> Event {
    let plain = properties.tag.is_none();
    Event { line, what: What::Scalar { text: String::new(), plain, properties } }
}

fn is_document_end(kind: &Kind) -> bool {
    use Kind::{DocumentEnd, DocumentStart, StreamEnd, TagPrefix, Version};
    matches!(kind, Version(..) | TagPrefix(..) | DocumentStart | DocumentEnd | StreamEnd)
}

/// Whether a token in a block ends a field without a value.
fn ends_field(kind: &Kind) -> bool {
    matches!(kind, Kind::Key | Kind::Value | Kind::BlockEnd)
}
