//! The nodes of a template.

use super::functions::Function;
use super::scan::{Piece, Token};
use super::{Data, Kind, Mistake, Node, Operand, Pipe, Read};
use std::collections::VecDeque;

/// Keywords of Go's templates that are not supported.
const REFUSED: [&str; 5] = ["define", "template", "block", "break", "continue"];

/// The nodes that pieces are.
pub(super) fn nodes(pieces: Vec<Piece>) -> Read<Vec<Node>> {
    let mut parser = Parser { pieces: pieces.into(), variables: vec![String::new()], line: 0 };
    let (nodes, end) = parser.list()?;
    match end {
        End::Text => Ok(nodes),
        End::Word => parser.fail("unexpected {{end}}"),
        End::Else(_) => parser.fail("unexpected {{else}}"),
    }
}

/// The end of a list of nodes.
enum End {
    Text,
    /// The word `end`.
    Word,
    /// With what is behind the word.
    Else(Vec<Token>),
}

struct Parser {
    pieces: VecDeque<Piece>,
    /// The names of the variables that there are; that of `$` is empty.
    variables: Vec<String>,
    line: usize,
}

impl Parser {
    fn fail<T>(&self, message: impl Into<String>) -> Read<T> {
        Err(Mistake { line: self.line, message: message.into() })
    }

    fn list(&mut self) -> Read<(Vec<Node>, End)> {
        let mut nodes = Vec::new();
        while let Some(piece) = self.pieces.pop_front() {
            let (tokens, line) = match piece {
                Piece::Text(text) => {
                    nodes.push(Node::Text(text));
                    continue;
                }
                Piece::Action(tokens, line) => (tokens, line),
            };
            self.line = line;
            let word = match tokens.first() {
                Some(Token::Word(word)) => word.clone(),
                Some(_) => String::new(),
                None => return self.fail("missing value for command"),
            };
            let rest = || tokens[1..].to_vec();
            match &*word {
                "if" => nodes.push(self.block(Kind::If, rest())?),
                "with" => nodes.push(self.block(Kind::With, rest())?),
                "range" => nodes.push(self.block(Kind::Range, rest())?),
                "end" if tokens.len() == 1 => return Ok((nodes, End::Word)),
                "else" => return Ok((nodes, End::Else(rest()))),
                word if REFUSED.contains(&word) => return self.fail(format!("{word} is not supported in a template")),
                _ => {
                    let pipe = self.whole_pipe(tokens, 1)?;
                    nodes.push(Node::Action(pipe));
                }
            }
        }
        Ok((nodes, End::Text))
    }

    /// A block, up to its end.
    fn block(&mut self, kind: Kind, tokens: Vec<Token>) -> Read<Node> {
        let (before, begin) = (self.variables.len(), self.line);
        let pipe = self.whole_pipe(tokens, if kind == Kind::Range { 2 } else { 1 })?;
        let (then, mut end) = self.list()?;
        let mut otherwise = Vec::new();
        if let End::Else(tokens) = end {
            (otherwise, end) = self.otherwise(kind, tokens)?;
        }
        self.variables.truncate(before);
        match end {
            End::Word => Ok(Node::Block { kind, pipe, then, otherwise }),
            End::Else(_) => self.fail("expected end; found {{else}}"),
            End::Text => Err(Mistake { line: begin, message: "unexpected EOF: a block has no {{end}}".to_owned() }),
        }
    }

    /// The nodes behind an `else`; `else if` and `else with` have the end of their block for its own.
    fn otherwise(&mut self, kind: Kind, tokens: Vec<Token>) -> Read<(Vec<Node>, End)> {
        let Some(first) = tokens.first() else { return self.list() };
        let is = |word: &str| *first == Token::Word(word.to_owned());
        let inner = match kind {
            Kind::If if is("if") => Kind::If,
            Kind::With if is("with") => Kind::With,
            _ => return self.fail("unexpected token behind else"),
        };
        Ok((vec![self.block(inner, tokens[1..].to_vec())?], End::Word))
    }

    /// The pipeline that is all of an action.
    fn whole_pipe(&mut self, tokens: Vec<Token>, most: usize) -> Read<Pipe> {
        let mut tokens = VecDeque::from(tokens);
        let pipe = self.pipe(&mut tokens, most)?;
        match tokens.front() {
            Some(token) => self.fail(format!("unexpected {} in an action", named(token))),
            None => Ok(pipe),
        }
    }

    /// A pipeline, which may declare or set so many variables.
    fn pipe(&mut self, tokens: &mut VecDeque<Token>, most: usize) -> Read<Pipe> {
        let (variables, assigns) = self.variables(tokens, most)?;
        let mut pipe = Pipe { variables, assigns, commands: Vec::new(), line: self.line };
        loop {
            let command = self.command(tokens)?;
            let Some(first) = command.first() else { return self.fail("missing value for command") };
            if *first == Operand::Constant(Data::Nothing) {
                return self.fail("nil is not a command");
            }
            if !pipe.commands.is_empty() && !matches!(first, Operand::Function(_)) {
                return self.fail("non executable command in pipeline");
            }
            pipe.commands.push(command);
            if tokens.front() != Some(&Token::Bar) {
                break;
            }
            tokens.pop_front();
        }
        if !pipe.assigns {
            self.variables.extend(pipe.variables.iter().cloned());
        }
        Ok(pipe)
    }

    /// The variables in front of a pipeline, and whether they are there already.
    fn variables(&self, tokens: &mut VecDeque<Token>, most: usize) -> Read<(Vec<String>, bool)> {
        let variable = |index: usize| match tokens.get(index) {
            Some(Token::Path(Some(name), fields)) if fields.is_empty() => Some(name.clone()),
            _ => None,
        };
        let (names, sign) = match (variable(0), tokens.get(1), variable(2), tokens.get(3)) {
            (Some(first), Some(Token::Comma), Some(second), sign) => (vec![first, second], sign),
            (Some(first), sign, ..) => (vec![first], sign),
            _ => return Ok((Vec::new(), false)),
        };
        let assigns = match sign {
            Some(Token::Declare) => false,
            Some(Token::Assign) => true,
            _ if names.len() == 1 => return Ok((Vec::new(), false)),
            _ => return self.fail("expected := behind variables"),
        };
        if names.len() > most {
            return self.fail("too many declarations");
        }
        if let Some(unknown) = names.iter().find(|name| assigns && !self.variables.contains(name)) {
            return self.fail(format!("undefined variable \"${unknown}\""));
        }
        tokens.drain(..names.len() * 2);
        Ok((names, assigns))
    }

    fn command(&mut self, tokens: &mut VecDeque<Token>) -> Read<Vec<Operand>> {
        let mut operands = Vec::new();
        while let Some(operand) = self.operand(tokens)? {
            operands.push(operand);
        }
        let is_called = matches!(operands.first(), Some(Operand::Function(_)));
        match operands.len() > 1 && !is_called {
            true => self.fail("can't give argument to non-function"),
            false => Ok(operands),
        }
    }

    fn operand(&mut self, tokens: &mut VecDeque<Token>) -> Read<Option<Operand>> {
        let Some(token) = tokens.front() else { return Ok(None) };
        let operand = match token {
            Token::Path(Some(name), _) if !self.variables.contains(name) => {
                return self.fail(format!("undefined variable \"${name}\""));
            }
            Token::Path(variable, fields) => Operand::Path(variable.clone(), fields.clone()),
            Token::Text(text) => Operand::Constant(Data::Json(text.as_str().into())),
            Token::Int(number) => Operand::Constant(Data::Int(*number)),
            Token::Word(word) => self.word(word)?,
            Token::Open => {
                tokens.pop_front();
                let inner = self.pipe(tokens, 0)?;
                let Some(Token::Close(fields)) = tokens.pop_front() else { return self.fail("unclosed left paren") };
                return Ok(Some(Operand::Pipe(Box::new(inner), fields)));
            }
            Token::Close(_) | Token::Bar => return Ok(None),
            Token::Comma | Token::Declare | Token::Assign => {
                return self.fail(format!("unexpected {} in operand", named(token)));
            }
        };
        tokens.pop_front();
        Ok(Some(operand))
    }

    fn word(&self, word: &str) -> Read<Operand> {
        let constant = match word {
            "true" | "false" => Data::Json((word == "true").into()),
            "nil" => Data::Nothing,
            _ => match Function::named(word) {
                Some(function) => return Ok(Operand::Function(function)),
                None => return self.fail(format!("the function {word} is not supported in a template")),
            },
        };
        Ok(Operand::Constant(constant))
    }
}

fn named(token: &Token) -> String {
    match token {
        Token::Word(word) => word.clone(),
        Token::Text(text) => format!("{text:?}"),
        Token::Int(number) => number.to_string(),
        Token::Path(variable, fields) => {
            let start = variable.as_ref().map(|name| format!("${name}")).unwrap_or_default();
            format!("{start}.{}", fields.join("."))
        }
        Token::Open => "\"(\"".to_owned(),
        Token::Close(_) => "\")\"".to_owned(),
        Token::Bar => "\"|\"".to_owned(),
        Token::Comma => "\",\"".to_owned(),
        Token::Declare => "\":=\"".to_owned(),
        Token::Assign => "\"=\"".to_owned(),
    }
}
