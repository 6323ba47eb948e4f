//! The program of declarative validation: `checks.txt`, whose head explains the lines. Only what can be seen in answers is kept.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::{LazyLock, OnceLock};

const CHECKS: &str = include_str!("checks.txt");

/// The programs of the kinds that every server has.
pub(super) static PROGRAMS: LazyLock<Programs> = LazyLock::new(|| Programs::of(&[CHECKS]));
/// The same and those of the kinds that a server has only if it is asked for them.
pub(super) static OPTIONAL: LazyLock<Programs> =
    LazyLock::new(|| Programs::of(&[CHECKS, include_str!("checks_optional.txt")]));

/// The programs of kinds. Each is read when it is first asked for: most servers see objects of few kinds.
#[derive(Debug)]
pub(super) struct Programs {
    kinds: HashMap<&'static str, OnceLock<Program>>,
    /// The lines of types, by their names.
    texts: HashMap<&'static str, &'static str>,
}

/// The checks of a kind.
#[derive(Debug)]
pub(super) struct Program {
    /// Those of its type and of all types below it, by their names.
    types: HashMap<&'static str, Type>,
}

const WRITTEN: &str = "`cargo xtask schema` writes checks";

/// The checks of a type.
#[derive(Debug, Default)]
pub(super) struct Type {
    /// The checks of the value itself, which come first.
    pub(super) calls: Vec<Call>,
    pub(super) fields: Vec<Field>,
}

/// The checks of a field.
#[derive(Debug)]
pub(super) struct Field {
    /// The name in JSON; `None` for an embedded struct, whose fields stand in the same object.
    pub(super) name: Option<&'static str>,
    pub(super) calls: Vec<Call>,
}

/// A check of a value.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) stage: Stage,
    pub(super) ends: Ends,
    pub(super) check: Check,
    /// Checks of other values, or under a condition.
    pub(super) inner: Vec<Call>,
}

/// The stage of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Findings are only logged.
    Alpha,
    /// Findings take the place of those by hand.
    Beta,
    /// There is no rule by hand any more.
    Stable,
}

/// The consequence of findings for later checks of the same value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ends {
    No,
    Yes,
    /// They end the validation, and are not reported: an optional field that is not there.
    Silently,
}

/// A function of `k8s.io/apimachinery/pkg/api/validate`.
#[derive(Debug)]
pub(super) enum Check {
    Required(Nature),
    Forbidden(Nature),
    Immutable,
    MaxItems(usize),
    MaxLength(usize),
    MaxBytes(usize),
    Minimum(i64),
    Maximum(i64),
    Format(&'static str),
    Enum(Vec<&'static str>),
    /// `UpdatePointer` and `UpdateValueByCompare`: changes that are not allowed.
    Update(Vec<&'static str>),
    Unique(Match),
    /// The items of a list: how the old one is found, and how both are compared then.
    Items(Match, Match),
    /// The values of a map that have changed.
    Values,
    Keys,
    /// A field of the value.
    Subfield(&'static str),
    /// Only if an option is on, or off.
    Option(&'static str, bool),
    /// Checks of the same value that end only each other.
    Cohort,
    /// The checks of a type.
    Type(&'static str),
    /// Exactly one of the members is there; or else one at most.
    Union(Vec<Member>, bool),
    /// One field requires another, or else forbids it.
    Dependent(&'static str, &'static str, bool),
    /// A field, by the value of another one.
    Discriminated(&'static str, &'static str, Vec<Case>),
    /// A function that is written by hand.
    Custom(&'static str),
}

/// The kind of a Go type, which decides what is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Nature {
    /// Something, if it is not zero.
    Value,
    /// Something, if it is not null.
    Pointer,
    /// A list or map: something, if there is anything in it.
    Collection,
}

/// A comparison of items.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Match {
    Never,
    Equal,
    Keys(Vec<&'static str>),
}

/// A member of a union.
#[derive(Debug)]
pub(super) struct Member {
    /// The field; or the field of items, and its value.
    pub(super) field: &'static str,
    pub(super) item: Option<&'static str>,
    /// The name in messages.
    pub(super) name: &'static str,
}

/// The checks for a value of a discriminator; `None` for all others.
#[derive(Debug)]
pub(super) struct Case {
    pub(super) value: Option<&'static str>,
    pub(super) calls: Vec<Call>,
}

/// A line, and those that are indented below it.
struct Line {
    words: Vec<&'static str>,
    below: Vec<Line>,
}

impl Programs {
    /// # Panics
    /// If a line is neither of a kind nor of a type.
    fn of(texts: &[&'static str]) -> Programs {
        let mut programs = Programs { kinds: HashMap::new(), texts: HashMap::new() };
        for text in texts {
            let (head, types) = text.split_once("\ntype ").expect(WRITTEN);
            let kinds = head.lines().filter_map(|line| line.strip_prefix("kind "));
            programs.kinds.extend(kinds.map(|name| (name, OnceLock::new())));
            programs.texts.extend(types.split("\ntype ").map(|ty| ty.split_once('\n').unwrap_or((ty, ""))));
        }
        programs
    }

    /// The program of a kind, and the checks of its type; `None` if none of them has an effect on answers.
    ///
    /// # Panics
    /// If a line is not one of checks.
    pub(super) fn kind(&self, name: &str) -> Option<(&Program, &Type)> {
        let (name, program) = self.kinds.get_key_value(name)?;
        let program = program.get_or_init(|| Program::of(name, &self.texts).expect(WRITTEN));
        Some((program, program.ty(name)?))
    }

    /// The programs of all kinds whose checks have an effect.
    #[cfg(test)]
    pub(super) fn all(&self) -> impl Iterator<Item = &Program> {
        self.kinds.keys().filter_map(|name| self.kind(name)).map(|(program, _)| program)
    }
}

impl Program {
    /// The program of a kind.
    ///
    /// # Errors
    /// A line that is not one of checks.
    fn of(kind: &'static str, texts: &HashMap<&'static str, &'static str>) -> Result<Program, String> {
        let mut program = Program { types: HashMap::new() };
        let mut names = vec![kind];
        while let Some(name) = names.pop() {
            if let Entry::Vacant(place) = program.types.entry(name) {
                let text = texts.get(name).copied().unwrap_or_default();
                let ty = Type::of(&lines_at(1, &mut text.lines().peekable()))?;
                ty.for_each(&mut |call| names.extend(call.ty()));
                place.insert(ty);
            }
        }
        program.prune();
        Ok(program)
    }

    pub(super) fn ty(&self, name: &str) -> Option<&Type> {
        self.types.get(name)
    }

    /// Drops checks without findings that are reported, unless they end others.
    fn prune(&mut self) {
        let mut seen = HashSet::new();
        loop {
            let shows = |(name, ty): (&&'static str, &Type)| ty.is_seen(&seen).then_some(*name);
            let next: HashSet<&str> = self.types.iter().filter_map(shows).collect();
            if next.len() == seen.len() {
                break;
            }
            seen = next;
        }
        self.types.retain(|name, _| seen.contains(name));
        for ty in self.types.values_mut() {
            ty.fields.retain(|field| field.calls.iter().any(|call| call.is_seen(&seen)));
            for calls in ty.fields.iter_mut().map(|field| &mut field.calls).chain([&mut ty.calls]) {
                calls.retain(|call| call.ends != Ends::No || call.is_seen(&seen));
            }
        }
    }

    /// All types.
    #[cfg(test)]
    pub(super) fn all(&self) -> impl Iterator<Item = (&'static str, &Type)> {
        self.types.iter().map(|(name, ty)| (*name, ty))
    }
}

impl Type {
    fn of(lines: &[Line]) -> Result<Type, String> {
        let mut ty = Type::default();
        for line in lines {
            match line.words.as_slice() {
                ["field", name, _] => {
                    let name = Some(*name).filter(|name| *name != ".");
                    ty.fields.push(Field { name, calls: calls(&line.below)? });
                }
                _ => ty.calls.push(Call::of(line)?),
            }
        }
        Ok(ty)
    }

    /// Shows all checks, those below others included.
    pub(super) fn for_each(&self, look: &mut impl FnMut(&Call)) {
        let calls = self.fields.iter().flat_map(|field| &field.calls).chain(&self.calls);
        calls.for_each(|call| call.for_each(look));
    }

    fn is_seen(&self, types: &HashSet<&str>) -> bool {
        let mut calls = self.fields.iter().flat_map(|field| &field.calls).chain(&self.calls);
        calls.any(|call| call.is_seen(types))
    }
}

impl Call {
    fn of(line: &Line) -> Result<Call, String> {
        let (stage, rest) = line.words.split_first().ok_or_else(|| line.text())?;
        let (name, ends) = match (stage.strip_suffix('!'), stage.strip_suffix('?')) {
            (Some(stage), _) => (stage, Ends::Yes),
            (_, Some(stage)) => (stage, Ends::Silently),
            _ => (*stage, Ends::No),
        };
        let stage = match name {
            "alpha" => Stage::Alpha,
            "beta" => Stage::Beta,
            "ga" => Stage::Stable,
            _ => return Err(line.text()),
        };
        let check = Check::of(rest, &line.below)?.ok_or_else(|| line.text())?;
        let inner = match check {
            Check::Union(..) | Check::Discriminated(..) => Vec::new(),
            _ => calls(&line.below)?,
        };
        Ok(Call { stage, ends, check, inner })
    }

    /// The type whose checks it applies.
    fn ty(&self) -> Option<&'static str> {
        if let Check::Type(name) = self.check { Some(name) } else { None }
    }

    fn for_each(&self, look: &mut impl FnMut(&Call)) {
        look(self);
        let cases = if let Check::Discriminated(_, _, cases) = &self.check { cases.as_slice() } else { &[] };
        let below = self.inner.iter().chain(cases.iter().flat_map(|case| &case.calls));
        below.for_each(|call| call.for_each(look));
    }

    /// Whether this can report a finding, given the types that can.
    fn is_seen(&self, types: &HashSet<&str>) -> bool {
        self.stage != Stage::Alpha
            && self.ends != Ends::Silently
            && match &self.check {
                Check::Type(name) => types.contains(name),
                Check::Discriminated(_, _, cases) => {
                    cases.iter().flat_map(|case| &case.calls).any(|call| call.is_seen(types))
                }
                _ => self.inner.is_empty() || self.inner.iter().any(|call| call.is_seen(types)),
            }
    }
}

impl Check {
    /// The check of that name with its arguments; `None` if there is no such check.
    fn of(words: &[&'static str], below: &[Line]) -> Result<Option<Check>, String> {
        let texts = |words: &[&'static str]| words.to_vec();
        let number = |text: &str| text.parse::<i64>().map_err(|_| text.to_owned());
        let count = |text: &str| text.parse::<usize>().map_err(|_| text.to_owned());
        Ok(Some(match words {
            // Findings about optional values are never reported.
            ["RequiredValue" | "OptionalValue"] => Check::Required(Nature::Value),
            ["RequiredPointer" | "OptionalPointer"] => Check::Required(Nature::Pointer),
            ["RequiredSlice" | "RequiredMap" | "OptionalSlice" | "OptionalMap"] => Check::Required(Nature::Collection),
            ["ForbiddenPointer"] => Check::Forbidden(Nature::Pointer),
            ["Immutable"] => Check::Immutable,
            ["MaxItems", max] => Check::MaxItems(count(max)?),
            ["MaxLength", max] => Check::MaxLength(count(max)?),
            ["MaxBytes", max] => Check::MaxBytes(count(max)?),
            ["Minimum", least] => Check::Minimum(number(least)?),
            ["Maximum", most] => Check::Maximum(number(most)?),
            ["Enum", values @ ..] => Check::Enum(texts(values)),
            ["UpdatePointer" | "UpdateValueByCompare", constraints @ ..] => Check::Update(texts(constraints)),
            ["ValSliceUnique", by] => Check::Unique(Match::of(by)),
            ["EachValSliceVal", found, compared] => Check::Items(Match::of(found), Match::of(compared)),
            ["EachMapVal", _] => Check::Values,
            ["EachMapKey"] => Check::Keys,
            ["Subfield", name, _] => Check::Subfield(name),
            ["IfOption", name, on] => Check::Option(name, *on == "true"),
            ["Cohort"] => Check::Cohort,
            ["Type", name] => Check::Type(name),
            ["Union"] => Check::Union(members(below)?, true),
            ["ZeroOrOneOfUnion"] => Check::Union(members(below)?, false),
            ["DependentRequired", trigger, dependent] => Check::Dependent(trigger, dependent, true),
            ["DependentForbidden", trigger, dependent] => Check::Dependent(trigger, dependent, false),
            ["Discriminated", field, discriminator, _] => Check::Discriminated(field, discriminator, cases(below)?),
            ["Custom", name] => Check::Custom(name),
            [format] => Check::Format(format),
            _ => return Ok(None),
        }))
    }
}

impl Match {
    fn of(word: &'static str) -> Match {
        match word.strip_prefix("keys:") {
            Some(keys) => Match::Keys(keys.split(',').collect()),
            None if word == "-" => Match::Never,
            None => Match::Equal,
        }
    }
}

impl Line {
    fn text(&self) -> String {
        format!("not a line of checks: {}", self.words.join(" "))
    }
}

fn calls(lines: &[Line]) -> Result<Vec<Call>, String> {
    lines.iter().map(Call::of).collect()
}

fn members(lines: &[Line]) -> Result<Vec<Member>, String> {
    let member = |line: &Line| match line.words.as_slice() {
        ["member", field, name] => Ok(Member { field, item: None, name }),
        ["item", field, value, name] => Ok(Member { field, item: Some(value), name }),
        _ => Err(line.text()),
    };
    lines.iter().map(member).collect()
}

fn cases(lines: &[Line]) -> Result<Vec<Case>, String> {
    let case = |line: &Line| match line.words.as_slice() {
        ["case", value] => Ok(Case { value: Some(value), calls: calls(&line.below)? }),
        ["else"] => Ok(Case { value: None, calls: calls(&line.below)? }),
        _ => Err(line.text()),
    };
    lines.iter().map(case).collect()
}

/// The lines that are indented that far, with those below them.
fn lines_at(depth: usize, rest: &mut std::iter::Peekable<impl Iterator<Item = &'static str>>) -> Vec<Line> {
    let mut lines = Vec::new();
    let is_here = |line: &&'static str| line.len() - line.trim_start().len() >= depth;
    while let Some(line) = rest.next_if(is_here) {
        // Only the name of a member, which is the last word, has spaces.
        let words = match line.trim_start().strip_prefix("item ") {
            Some(item) => std::iter::once("item").chain(item.splitn(3, ' ')).collect(),
            None => line.split_whitespace().collect(),
        };
        lines.push(Line { words, below: lines_at(depth + 1, rest) });
    }
    lines
}
