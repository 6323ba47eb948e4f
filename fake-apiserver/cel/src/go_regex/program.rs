//! Programs that match expressions character by character, as Go's do (`regexp/syntax/prog.go`). A class of characters is stored once,
//! however many instructions refer to it, so that a counted repetition of a large class is small.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind, Look, Repetition};
use std::collections::HashMap;

/// The nesting that the crate's parser must allow: more than Go does, which has other nodes.
const NEST_LIMIT: u32 = 5000;

/// A compiled expression: instructions for threads that read a text once.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) steps: Vec<Step>,
    pub(super) classes: Vec<Ranges>,
    /// Whether it matches at the beginning of the text only.
    pub(super) is_anchored: bool,
}

/// An instruction. Unless it says otherwise, the next one follows.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    /// Consumes a character.
    Char(char),
    /// Consumes a character of a class.
    Class(u32),
    /// Goes on if the place is such a one.
    Look(Look),
    /// Goes on in two places, of which the first is preferred.
    Split(u32, u32),
    Jump(u32),
    Match,
}

/// Ranges of characters, in order.
#[derive(Debug)]
pub(super) struct Ranges(Box<[(char, char)]>);

impl Ranges {
    pub(super) fn contain(&self, char: char) -> bool {
        let at = self.0.partition_point(|(_, last)| *last < char);
        self.0.get(at).is_some_and(|(first, _)| *first <= char)
    }
}

impl Program {
    /// Compiles an expression in the crate's syntax.
    ///
    /// # Errors
    /// If the crate refuses it.
    pub(super) fn compile(translated: &str) -> Result<Program, String> {
        let parsed = ParserBuilder::new().nest_limit(NEST_LIMIT).build().parse(translated);
        let tree = parsed.map_err(|error| error.to_string())?;
        let mut compiler = Compiler::default();
        compiler.node(&tree);
        compiler.steps.push(Step::Match);
        let Compiler { mut steps, mut classes, .. } = compiler;
        steps.shrink_to_fit();
        classes.shrink_to_fit();
        Ok(Program { steps, classes, is_anchored: tree.properties().look_set_prefix().contains(Look::Start) })
    }

    /// The number of ranges and other steps, each as often as it is repeated.
    pub(super) fn weight(&self) -> usize {
        let weight = |step: &Step| match step {
            Step::Class(class) => self.classes[*class as usize].0.len(),
            _ => 1,
        };
        self.steps.iter().map(weight).sum()
    }

    /// About how many bytes it takes up.
    pub(super) fn bytes(&self) -> usize {
        let ranges: usize = self.classes.iter().map(|ranges| size_of_val(&*ranges.0)).sum();
        ranges + self.steps.len() * size_of::<Step>()
    }
}

#[derive(Default)]
struct Compiler {
    steps: Vec<Step>,
    classes: Vec<Ranges>,
    /// The numbers of classes.
    numbers: HashMap<Box<[(char, char)]>, u32>,
}

impl Compiler {
    /// The number of the next step.
    fn here(&self) -> u32 {
        u32::try_from(self.steps.len()).expect("the limit on sizes is far less")
    }

    fn node(&mut self, node: &Hir) {
        match node.kind() {
            HirKind::Empty => {}
            HirKind::Literal(literal) => {
                self.steps.extend(String::from_utf8_lossy(&literal.0).chars().map(Step::Char));
            }
            HirKind::Class(class) => self.class(class),
            HirKind::Look(look) => self.steps.push(Step::Look(*look)),
            HirKind::Repetition(repetition) => self.repetition(repetition),
            HirKind::Capture(capture) => self.node(&capture.sub),
            HirKind::Concat(nodes) => nodes.iter().for_each(|node| self.node(node)),
            HirKind::Alternation(nodes) => self.alternatives(nodes),
        }
    }

    fn class(&mut self, class: &Class) {
        let ranges: Box<[(char, char)]> = match class {
            Class::Unicode(class) => class.iter().map(|range| (range.start(), range.end())).collect(),
            Class::Bytes(class) => class.iter().map(|range| (range.start().into(), range.end().into())).collect(),
        };
        let number = self.numbers.get(&ranges).copied().unwrap_or_else(|| {
            let number = u32::try_from(self.classes.len()).expect("there are no more classes than steps");
            self.classes.push(Ranges(ranges.clone()));
            self.numbers.insert(ranges, number);
            number
        });
        self.steps.push(Step::Class(number));
    }

    fn repetition(&mut self, repetition: &Repetition) {
        let Repetition { min, max, greedy, sub } = repetition;
        let split = |inside, behind| if *greedy { Step::Split(inside, behind) } else { Step::Split(behind, inside) };
        // Splits, each with the step to which it goes unless it goes behind.
        let mut splits = Vec::new();
        let mut optional = |compiler: &mut Self| {
            let at = compiler.here();
            compiler.steps.push(Step::Match);
            splits.push((at, at + 1));
        };
        match max {
            Some(max) => {
                (0..*min).for_each(|_| self.node(sub));
                for _ in *min..*max {
                    optional(self);
                    self.node(sub);
                }
            }
            // As in Go `x*` is `(x+)?`, which is not the same if `x` may be empty.
            None => {
                (1..*min).for_each(|_| self.node(sub));
                if *min == 0 {
                    optional(self);
                }
                let start = self.here();
                self.node(sub);
                splits.push((self.here(), start));
                self.steps.push(Step::Match);
            }
        }
        let behind = self.here();
        splits.into_iter().for_each(|(at, inside)| self.steps[at as usize] = split(inside, behind));
    }

    fn alternatives(&mut self, nodes: &[Hir]) {
        let mut jumps = Vec::new();
        for (number, node) in nodes.iter().enumerate() {
            if number + 1 == nodes.len() {
                self.node(node);
                break;
            }
            let at = self.here();
            self.steps.push(Step::Match);
            self.node(node);
            jumps.push(self.steps.len());
            self.steps.push(Step::Match);
            self.steps[at as usize] = Step::Split(at + 1, self.here());
        }
        let behind = self.here();
        jumps.into_iter().for_each(|at| self.steps[at] = Step::Jump(behind));
    }
}
