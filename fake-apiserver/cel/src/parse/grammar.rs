//! The transition network of CEL's grammar, from `grammar.txt`, and the tokens that can follow its states.

/// A set of tokens: a bit for each kind, and one for "the rule can end here".
pub(crate) type TokenSet = u64;

/// The bit for the end of the rule.
pub(crate) const EPSILON: TokenSet = 1 << 62;

/// Kinds of states, numbered as ANTLR numbers them.
pub(crate) const RULE_STOP: u8 = 7;
pub(crate) const STAR_LOOP_ENTRY: u8 = 10;

pub(crate) struct State {
    pub(crate) kind: u8,
    pub(crate) rule: usize,
    pub(crate) transitions: Vec<Transition>,
    pub(crate) epsilon_only: bool,
}

pub(crate) struct Transition {
    pub(crate) target: usize,
    pub(crate) by: By,
}

/// The label of a transition.
#[derive(Debug, Clone, Copy)]
pub(crate) enum By {
    /// No token. A return from the outermost call of a left-recursive rule names the rule.
    Epsilon(Option<usize>),
    /// A call of a rule, after which `follow` is the state.
    Rule { follow: usize },
    /// No token, if the precedence of the call is not higher than this.
    Precedence(u32),
    /// No token; predicates behind it are not evaluated.
    Action,
    /// One of these tokens.
    Tokens(TokenSet),
}

pub(crate) struct Grammar {
    pub(crate) states: Vec<State>,
    /// The states where alternatives begin, by the number of the decision.
    pub(crate) decisions: Vec<usize>,
    /// Whether each decision is about continuing a left-recursive rule.
    pub(crate) precedence: Vec<bool>,
    next: Vec<TokenSet>,
}

impl Grammar {
    pub(crate) fn new() -> Self {
        let text = include_str!("grammar.txt");
        let mut numbers = text.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace);
        let mut read = || numbers.next().and_then(|n| n.parse::<i32>().ok()).unwrap_or(0);
        let (_version, _kind, _tokens) = (read(), read(), read());
        let mut states: Vec<State> = (0..read())
            .map(|_| {
                let (kind, rule) = (read() as u8, read() as usize);
                // The ends of blocks and the beginnings of loops are followed by the state that belongs to them.
                if matches!(kind, 12 | 3 | 4 | 5) {
                    read();
                }
                State { kind, rule, transitions: Vec::new(), epsilon_only: false }
            })
            .collect();
        for _ in 0..read() {
            read();
        }
        let recursive: Vec<usize> = (0..read()).map(|_| states[read() as usize].rule).collect();
        for _ in 0..read() {
            read();
        }
        for _ in 0..read() {
            read();
        }
        let sets: Vec<TokenSet> = (0..read())
            .map(|_| {
                let (intervals, eof) = (read(), read());
                (0..intervals).fold(TokenSet::from(eof != 0), |set, _| {
                    let (from, to) = (read(), read());
                    (from..=to).fold(set, |set, token| set | 1 << token)
                })
            })
            .collect();
        let mut returns = Vec::new();
        for _ in 0..read() {
            let (source, target, kind) = (read() as usize, read() as usize, read());
            let (a, _, c) = (read(), read(), read());
            let (target, by) = match kind {
                3 => {
                    let rule = states[a as usize].rule;
                    let outermost = (recursive.contains(&rule) && c == 0).then_some(rule);
                    returns.push((source, rule, target, outermost));
                    (a as usize, By::Rule { follow: target })
                }
                5 => (target, By::Tokens(if c != 0 { 1 } else { 1 << a })),
                6 => (target, By::Action),
                7 => (target, By::Tokens(sets[a as usize])),
                10 => (target, By::Precedence(a as u32)),
                _ => (target, By::Epsilon(None)),
            };
            states[source].transitions.push(Transition { target, by });
        }
        returns.sort_by_key(|(source, ..)| *source);
        for (_, rule, follow, outermost) in returns {
            let stop = states.iter().position(|s| s.kind == RULE_STOP && s.rule == rule).unwrap_or(0);
            states[stop].transitions.push(Transition { target: follow, by: By::Epsilon(outermost) });
        }
        for state in &mut states {
            state.epsilon_only =
                !state.transitions.is_empty() && state.transitions.iter().all(|t| !matches!(t.by, By::Tokens(_)));
        }
        let decisions: Vec<usize> = (0..read()).map(|_| read() as usize).collect();
        let precedence = decisions
            .iter()
            .map(|state| states[*state].kind == STAR_LOOP_ENTRY && recursive.contains(&states[*state].rule))
            .collect();
        let mut grammar = Self { states, decisions, precedence, next: Vec::new() };
        grammar.next = (0..grammar.states.len()).map(|state| grammar.look(state, &mut Vec::new())).collect();
        grammar
    }

    /// The tokens that can come at a state, within its rule.
    pub(crate) fn next(&self, state: usize) -> TokenSet {
        self.next[state]
    }

    /// The state after the call of a rule that begins at `state`.
    pub(crate) fn follow(&self, state: usize) -> Option<usize> {
        match self.states[state].transitions.first()?.by {
            By::Rule { follow } => Some(follow),
            _ => None,
        }
    }

    fn look(&self, state: usize, seen: &mut Vec<usize>) -> TokenSet {
        if seen.contains(&state) {
            return 0;
        }
        seen.push(state);
        if self.states[state].kind == RULE_STOP {
            return EPSILON;
        }
        // No rule of this grammar matches the empty text, so the states behind a call are not reachable from here.
        self.states[state].transitions.iter().fold(0, |set, transition| {
            set | match transition.by {
                By::Tokens(tokens) => tokens,
                By::Rule { .. } => self.look(transition.target, seen) & !EPSILON,
                _ => self.look(transition.target, seen),
            }
        })
    }
}
