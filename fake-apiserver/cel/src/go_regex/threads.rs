//! The execution of programs: all ways through a program at once, in the order in which Go prefers them, so that a match takes no longer
//! than the text is long, times the program (`regexp/exec.go` of Go 1.26).

use super::program::{Program, Step};
use regex_syntax::hir::Look;
use std::ops::Range;

/// The places in a program that are reached at a place in a text, the preferred ones first, each with the start of its match.
struct Places {
    list: Vec<(u32, usize)>,
    /// For each step the place in the list, if that has it.
    index: Vec<u32>,
}

impl Places {
    fn new(steps: usize) -> Self {
        Places { list: Vec::new(), index: vec![0; steps] }
    }

    /// Adds a step, unless it is there.
    fn add(&mut self, step: u32, start: usize) -> bool {
        let at = self.index[step as usize] as usize;
        let is_new = self.list.get(at).is_none_or(|(known, _)| *known != step);
        if is_new {
            self.index[step as usize] = u32::try_from(self.list.len()).expect("there are no more places than steps");
            self.list.push((step, start));
        }
        is_new
    }
}

/// A search in a text.
struct Search<'s> {
    program: &'s Program,
    text: &'s str,
    /// The steps that are still to be followed.
    due: Vec<u32>,
    /// For each class the last character that was looked up in it, and whether it was there.
    known: Vec<Option<(char, bool)>>,
}

/// The first match from `from` on, as Go prefers it; any, if only its existence matters. `None`, too, if it does not go on.
pub(super) fn find(
    program: &Program,
    text: &str,
    from: usize,
    any: bool,
    goes_on: &dyn Fn() -> bool,
) -> Option<Range<usize>> {
    let mut search = Search { program, text, due: Vec::new(), known: vec![None; program.classes.len()] };
    let (mut now, mut next) = (Places::new(program.steps.len()), Places::new(program.steps.len()));
    let mut found: Option<Range<usize>> = None;
    let mut work = 0;
    let ends = text[from..].char_indices().map(|(at, char)| (from + at, Some(char))).chain([(text.len(), None)]);
    for (at, char) in ends {
        if found.is_none() && !(program.is_anchored && at > 0) {
            search.follow(0, at, at, &mut now);
        }
        if now.list.is_empty() {
            break;
        }
        work += now.list.len() + 1;
        if work > CHECKED {
            work = 0;
            if !goes_on() {
                return None;
            }
        }
        let behind = at + char.map_or(0, char::len_utf8);
        for (step, start) in now.list.drain(..) {
            let consumes = match program.steps[step as usize] {
                Step::Match => {
                    found = Some(start..at);
                    // All others are less preferred.
                    break;
                }
                Step::Char(expected) => char == Some(expected),
                Step::Class(class) => char.is_some_and(|char| search.is_in(class, char)),
                _ => false,
            };
            if consumes {
                search.follow(step + 1, start, behind, &mut next);
            }
        }
        if any && found.is_some() {
            break;
        }
        std::mem::swap(&mut now, &mut next);
        next.list.clear();
    }
    found
}

/// The number of steps between two questions whether to go on: about a tenth of a millisecond.
const CHECKED: usize = 10_000;

impl Search<'_> {
    /// Adds all places that are reached from a step without consuming a character.
    fn follow(&mut self, step: u32, start: usize, at: usize, places: &mut Places) {
        self.due.push(step);
        while let Some(step) = self.due.pop() {
            if !places.add(step, start) {
                continue;
            }
            match self.program.steps[step as usize] {
                Step::Jump(to) => self.due.push(to),
                Step::Split(first, second) => self.due.extend([second, first]),
                Step::Look(look) if self.is_at(look, at) => self.due.push(step + 1),
                Step::Look(_) | Step::Char(_) | Step::Class(_) | Step::Match => {}
            }
        }
    }

    fn is_in(&mut self, class: u32, char: char) -> bool {
        let class = class as usize;
        if let Some((known, is_in)) = self.known[class]
            && known == char
        {
            return is_in;
        }
        let is_in = self.program.classes[class].contain(char);
        self.known[class] = Some((char, is_in));
        is_in
    }

    /// Whether a place in the text is such a one. Words are in ASCII.
    fn is_at(&self, look: Look, at: usize) -> bool {
        let bytes = self.text.as_bytes();
        let before = at.checked_sub(1).map(|at| bytes[at]);
        let behind = bytes.get(at).copied();
        let is_word = |byte: Option<u8>| byte.is_some_and(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
        match look {
            Look::Start => before.is_none(),
            Look::End => behind.is_none(),
            Look::StartLF => before.is_none_or(|byte| byte == b'\n'),
            Look::EndLF => behind.is_none_or(|byte| byte == b'\n'),
            Look::WordAscii => is_word(before) != is_word(behind),
            Look::WordAsciiNegate => is_word(before) == is_word(behind),
            other => unreachable!("no expression of Go is translated to {other:?}"),
        }
    }
}
