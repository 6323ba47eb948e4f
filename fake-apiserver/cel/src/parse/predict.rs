//! Prediction of a rule's alternative from the tokens ahead: ANTLR's adaptive prediction.
//!
//! Port of `parser_atn_simulator.go` of antlr4-go v4.13. The simulation follows all alternatives at once, first without the
//! calls that led to the rule (with cached results), and with them only if that is ambiguous. A stack of calls is explicit
//! here; a configuration has the set of stacks with which it is reached.

use super::grammar::{By, Grammar, RULE_STOP};
use super::lexer::{EOF, Kind};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The number of a stack in [`Stacks`]; 0 is the empty one.
type Stack = u32;

/// All stacks so far, as lists of states to return to.
#[derive(Default)]
struct Stacks {
    entries: Vec<(Stack, usize)>,
    numbers: HashMap<(Stack, usize), Stack>,
}

impl Stacks {
    fn push(&mut self, parent: Stack, state: usize) -> Stack {
        *self.numbers.entry((parent, state)).or_insert_with(|| {
            self.entries.push((parent, state));
            self.entries.len() as Stack
        })
    }

    fn pop(&self, stack: Stack) -> Option<(Stack, usize)> {
        (stack > 0).then(|| self.entries[stack as usize - 1])
    }

    /// Whether `shorter` is the top of `longer`.
    fn begins(&self, mut shorter: Stack, mut longer: Stack) -> bool {
        loop {
            match (self.pop(shorter), self.pop(longer)) {
                (None, _) => return true,
                (Some((a, x)), Some((b, y))) if x == y => (shorter, longer) = (a, b),
                _ => return false,
            }
        }
    }
}

/// The ways in which an alternative reached a state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Reached {
    stacks: BTreeSet<Stack>,
    /// Whether it was reached through the end of the decision's rule.
    outside: bool,
    /// Whether a left-recursive rule was left in a way that the precedence filter does not apply to.
    unfiltered: bool,
}

/// The states reached, by alternative.
type Configs = BTreeMap<(usize, usize), Reached>;

#[derive(Clone, Copy)]
struct Config {
    state: usize,
    alt: usize,
    stack: Stack,
    outside: bool,
    unfiltered: bool,
}

enum Outcome {
    Goes,
    Unique(usize),
    Conflict,
}

struct Known {
    configs: Configs,
    outcome: Outcome,
}

/// The cache of predictions without calls.
#[derive(Default)]
pub(crate) struct Memory {
    stacks: Stacks,
    known: Vec<Known>,
    numbers: HashMap<(usize, Configs), usize>,
    starts: HashMap<(usize, u32), usize>,
    edges: HashMap<(usize, Kind), Option<usize>>,
}

/// A decision to be made.
pub(crate) struct Decision<'a> {
    pub(crate) grammar: &'a Grammar,
    pub(crate) number: usize,
    pub(crate) precedence: u32,
    /// The kinds of the tokens ahead, up to the end of the text.
    pub(crate) ahead: &'a [Kind],
    /// The states to return to, the innermost call first.
    pub(crate) calls: &'a dyn Fn() -> Vec<usize>,
}

impl Decision<'_> {
    /// The number of the alternative, from 1; or the number of tokens ahead after which none was possible.
    pub(crate) fn predict(&self, memory: &mut Memory) -> Result<usize, usize> {
        let mut at = self.start(memory);
        let mut ahead = 0;
        loop {
            let kind = self.ahead[ahead];
            let next = match memory.edges.get(&(at, kind)) {
                Some(next) => *next,
                None => {
                    let next = self.step(memory, at, kind);
                    memory.edges.insert((at, kind), next);
                    next
                }
            };
            let Some(next) = next else {
                return finished(self.grammar, &memory.known[at].configs).ok_or(ahead);
            };
            match memory.known[next].outcome {
                Outcome::Unique(alt) => return Ok(alt),
                Outcome::Conflict => return self.predict_with_calls(),
                Outcome::Goes => at = next,
            }
            if kind != EOF {
                ahead += 1;
            }
        }
    }

    fn start(&self, memory: &mut Memory) -> usize {
        if let Some(start) = memory.starts.get(&(self.number, self.precedence)) {
            return *start;
        }
        let mut configs = self.closure_of_alternatives(&mut memory.stacks, 0, false);
        if self.grammar.precedence[self.number] {
            let first: BTreeMap<usize, BTreeSet<Stack>> = configs
                .iter()
                .filter(|((_, alt), _)| *alt == 1)
                .map(|((state, _), reached)| (*state, reached.stacks.clone()))
                .collect();
            configs.retain(|(state, alt), reached| {
                *alt == 1 || reached.unfiltered || first.get(state) != Some(&reached.stacks)
            });
        }
        let number = self.remember(memory, configs, Outcome::Goes);
        memory.starts.insert((self.number, self.precedence), number);
        number
    }

    fn step(&self, memory: &mut Memory, from: usize, kind: Kind) -> Option<usize> {
        let configs = self.reach(&mut memory.stacks, &memory.known[from].configs, kind, false)?;
        let outcome = match unique(&configs) {
            Some(alt) => Outcome::Unique(alt),
            None if in_conflict(self.grammar, &configs) => Outcome::Conflict,
            None => Outcome::Goes,
        };
        Some(self.remember(memory, configs, outcome))
    }

    fn remember(&self, memory: &mut Memory, configs: Configs, outcome: Outcome) -> usize {
        let number = memory.known.len();
        match memory.numbers.entry((self.number, configs.clone())) {
            std::collections::hash_map::Entry::Occupied(known) => *known.get(),
            std::collections::hash_map::Entry::Vacant(free) => {
                free.insert(number);
                memory.known.push(Known { configs, outcome });
                number
            }
        }
    }

    fn predict_with_calls(&self) -> Result<usize, usize> {
        let mut stacks = Stacks::default();
        let outer = (self.calls)().into_iter().rev().fold(0, |stack, state| stacks.push(stack, state));
        let mut configs = self.closure_of_alternatives(&mut stacks, outer, true);
        let mut ahead = 0;
        loop {
            let kind = self.ahead[ahead];
            let Some(next) = self.reach(&mut stacks, &configs, kind, true) else {
                return finished(self.grammar, &configs).ok_or(ahead);
            };
            if let Some(alt) = unique(&next) {
                return Ok(alt);
            }
            let lowest: BTreeSet<usize> = subsets(&next).iter().filter_map(|alts| alts.first().copied()).collect();
            if let (1, Some(alt)) = (lowest.len(), lowest.first()) {
                return Ok(*alt);
            }
            configs = next;
            if kind != EOF {
                ahead += 1;
            }
        }
    }

    fn closure_of_alternatives(&self, stacks: &mut Stacks, outer: Stack, full: bool) -> Configs {
        let mut closure =
            Closure { decision: self, stacks, full, at_end: false, seen: BTreeSet::new(), found: Configs::new() };
        let state = self.grammar.decisions[self.number];
        for (i, transition) in self.grammar.states[state].transitions.iter().enumerate() {
            let config =
                Config { state: transition.target, alt: i + 1, stack: outer, outside: false, unfiltered: false };
            closure.visit(config, Some(0));
        }
        closure.finish()
    }

    fn reach(&self, stacks: &mut Stacks, configs: &Configs, kind: Kind, full: bool) -> Option<Configs> {
        let mut moved = Configs::new();
        let mut skipped = Configs::new();
        for ((state, alt), reached) in configs {
            if self.grammar.states[*state].kind == RULE_STOP {
                if full || kind == EOF {
                    skipped.insert((*state, *alt), reached.clone());
                }
                continue;
            }
            for transition in &self.grammar.states[*state].transitions {
                if matches!(transition.by, By::Tokens(set) if set & 1 << kind != 0) {
                    merge(&mut moved, (transition.target, *alt), reached);
                }
            }
        }
        let mut next = if skipped.is_empty() && kind != EOF && unique(&moved).is_some() {
            moved
        } else {
            let at_end = kind == EOF;
            let mut closure =
                Closure { decision: self, stacks, full, at_end, seen: BTreeSet::new(), found: Configs::new() };
            for ((state, alt), reached) in &moved {
                for stack in &reached.stacks {
                    let config = Config {
                        state: *state,
                        alt: *alt,
                        stack: *stack,
                        outside: reached.outside,
                        unfiltered: reached.unfiltered,
                    };
                    closure.visit(config, None);
                }
            }
            closure.finish()
        };
        let stops = |grammar: &Grammar, state: usize| grammar.states[state].kind == RULE_STOP;
        if kind == EOF {
            next.retain(|(state, _), _| stops(self.grammar, *state));
        }
        if !full || !next.keys().any(|(state, _)| stops(self.grammar, *state)) {
            for (key, reached) in &skipped {
                merge(&mut next, *key, reached);
            }
        }
        (!next.is_empty()).then_some(next)
    }
}

fn merge(configs: &mut Configs, key: (usize, usize), reached: &Reached) {
    let known = configs.entry(key).or_default();
    known.stacks.extend(&reached.stacks);
    known.outside |= reached.outside;
    known.unfiltered |= reached.unfiltered;
}

/// The closure: the configurations reached without a token.
struct Closure<'a, 'b> {
    decision: &'a Decision<'b>,
    stacks: &'a mut Stacks,
    /// Whether the calls that led to the decision are followed.
    full: bool,
    /// Whether the end of the text has been consumed, which can be consumed again.
    at_end: bool,
    seen: BTreeSet<(usize, usize, Stack, bool, bool, bool)>,
    found: Configs,
}

impl Closure<'_, '_> {
    /// Visits a configuration. `depth` is the number of calls since the decision; predicates are evaluated only at depth 0.
    fn visit(&mut self, config: Config, depth: Option<i32>) {
        let Config { state, alt, stack, outside, unfiltered } = config;
        if !self.seen.insert((state, alt, stack, outside, unfiltered, depth == Some(0))) {
            return;
        }
        let grammar = self.decision.grammar;
        let stops = grammar.states[state].kind == RULE_STOP;
        if stops {
            if let Some((below, back)) = self.stacks.pop(stack) {
                return self.visit(Config { state: back, stack: below, ..config }, depth);
            }
            if self.full {
                return self.add(config);
            }
        }
        if !grammar.states[state].epsilon_only {
            self.add(config);
        }
        for transition in &grammar.states[state].transitions {
            let mut next = Config { state: transition.target, ..config };
            let mut depth = depth;
            match transition.by {
                By::Tokens(set) if !(self.at_end && set & 1 != 0) => continue,
                By::Precedence(precedence) if depth == Some(0) && precedence < self.decision.precedence => continue,
                By::Action => depth = None,
                By::Rule { follow } => {
                    next.stack = self.stacks.push(stack, follow);
                    depth = depth.map(|depth| if depth >= 0 { depth + 1 } else { depth });
                }
                By::Epsilon(outermost) if stops => {
                    let number = self.decision.number;
                    if grammar.precedence[number] && outermost == Some(grammar.states[grammar.decisions[number]].rule) {
                        next.unfiltered = true;
                    }
                    next.outside = true;
                    depth = depth.map(|depth| depth - 1);
                }
                _ => {}
            }
            self.visit(next, depth);
        }
    }

    fn add(&mut self, config: Config) {
        let Config { state, alt, stack, outside, unfiltered } = config;
        merge(&mut self.found, (state, alt), &Reached { stacks: BTreeSet::from([stack]), outside, unfiltered });
    }

    /// Finishes the closure. Without the calls that led to the decision, a stack stands for all stacks that it begins, which
    /// are merged into it.
    fn finish(self) -> Configs {
        let mut found = self.found;
        if !self.full {
            for reached in found.values_mut() {
                let all: Vec<Stack> = reached.stacks.iter().copied().collect();
                reached
                    .stacks
                    .retain(|stack| !all.iter().any(|other| other != stack && self.stacks.begins(*other, *stack)));
            }
        }
        found
    }
}

fn unique(configs: &Configs) -> Option<usize> {
    let mut alts = configs.keys().map(|(_, alt)| *alt);
    let first = alts.next()?;
    alts.all(|alt| alt == first).then_some(first)
}

/// The sets of alternatives that reached the same state with the same stacks.
fn subsets(configs: &Configs) -> Vec<BTreeSet<usize>> {
    let mut by: BTreeMap<(usize, &BTreeSet<Stack>), BTreeSet<usize>> = BTreeMap::new();
    for ((state, alt), reached) in configs {
        by.entry((*state, &reached.stacks)).or_default().insert(*alt);
    }
    by.into_values().collect()
}

fn in_conflict(grammar: &Grammar, configs: &Configs) -> bool {
    if configs.keys().all(|(state, _)| grammar.states[*state].kind == RULE_STOP) {
        return true;
    }
    let mut by_state: BTreeMap<usize, usize> = BTreeMap::new();
    for (state, _) in configs.keys() {
        *by_state.entry(*state).or_default() += 1;
    }
    subsets(configs).iter().any(|alts| alts.len() > 1) && !by_state.values().any(|alts| *alts == 1)
}

/// The first alternative that could end the decision's rule, which is chosen if all others fail.
fn finished(grammar: &Grammar, configs: &Configs) -> Option<usize> {
    configs
        .iter()
        .filter(|((state, _), reached)| {
            reached.outside || (grammar.states[*state].kind == RULE_STOP && reached.stacks.contains(&0))
        })
        .map(|((_, alt), _)| *alt)
        .min()
}
