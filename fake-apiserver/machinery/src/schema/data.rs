//! The reader of types from a text such as `types.txt`, which `cargo xtask schema` generates from Go's structs. The head of that
//! file explains the lines; types may stand in any order and contain themselves.

use super::definitions::{DataError, Definitions, KindLine};
use super::facets::Facets;
use super::names::Names;
use super::types::{Content, Field, Member, Root, Shape, Struct, Type, TypeId, Types, Union, Variant};
use std::collections::{HashMap, HashSet};
use std::str::FromStr;
use std::sync::Arc;

impl FromStr for Types {
    type Err = DataError;

    fn from_str(data: &str) -> Result<Types, DataError> {
        let definitions = Definitions::of(data)?;
        let mut linker = Linker::new(&definitions);
        for name in definitions.names() {
            linker.id(name);
        }
        linker.link_all(&definitions.kinds)
    }
}

/// The type of a kind and all types that it contains.
pub(super) fn read_kind(definitions: &Definitions<'_>, kind: KindLine<'_>) -> Linked<Types> {
    Linker::new(definitions).link_all(&[kind])
}

type Linked<T = ()> = Result<T, DataError>;

fn error<T>(message: String) -> Linked<T> {
    Err(DataError(message))
}

/// Types while they are read.
struct Linker<'d> {
    definitions: &'d Definitions<'d>,
    ids: HashMap<&'d str, TypeId>,
    slots: Vec<Slot<'d>>,
    /// Each text once.
    texts: HashSet<Arc<str>>,
}

struct Slot<'d> {
    name: &'d str,
    state: State<'d>,
    facets: Option<Box<Facets>>,
}

/// The state of a type.
enum State<'d> {
    /// Used, but not yet defined; or being linked.
    Open,
    /// A struct or union whose fields are not yet linked.
    Declared {
        union: bool,
        /// Of a struct.
        open: bool,
        refusal: &'d str,
        fields: Vec<Declared<'d>>,
    },
    Done(Shape),
}

/// The line of a field, and those below it.
struct Declared<'d> {
    go_name: &'d str,
    /// The field number; `None` if the field is not in protobuf.
    number: Option<u32>,
    json: &'d str,
    ty: TypeId,
    facets: Option<Box<Facets>>,
}

impl<'d> Linker<'d> {
    fn new(definitions: &'d Definitions<'d>) -> Self {
        let mut linker = Linker { definitions, ids: HashMap::new(), slots: Vec::new(), texts: HashSet::new() };
        for (name, shape) in [
            ("bool", Shape::Bool),
            ("int32", Shape::Int32),
            ("int64", Shape::Int64),
            ("float64", Shape::Float64),
            ("string", Shape::String),
            ("[]uint8", Shape::Bytes),
        ] {
            linker.add(name, State::Done(shape));
        }
        linker
    }

    /// Reads the types of those kinds and of all names so far, and what they refer to.
    fn link_all(mut self, kinds: &[KindLine<'d>]) -> Linked<Types> {
        let roots = kinds.iter().map(|line| Root {
            kind: self.text(line.kind),
            api_version: self.text(line.api_version),
            ty: self.id(line.type_name),
        });
        let roots = roots.collect();
        let mut read = 0;
        while let Some(slot) = self.slots.get(read) {
            if let (State::Open, Some(lines)) = (&slot.state, self.definitions.lines(slot.name)) {
                self.define(TypeId::new(read), lines)?;
            }
            read += 1;
        }
        for index in 0..self.slots.len() {
            self.link(TypeId::new(index))?;
        }
        let Linker { slots, mut texts, .. } = self;
        let finish = |slot: Slot<'d>| match slot.state {
            State::Done(shape) => Ok(Type { name: text(&mut texts, slot.name), shape, facets: slot.facets }),
            _ => error(format!("{} is not defined", slot.name)),
        };
        Ok(Types::new(slots.into_iter().map(finish).collect::<Linked<_>>()?, roots))
    }

    /// Reads the lines that define a type. Other types that they name are defined later.
    fn define(&mut self, id: TypeId, lines: &'d str) -> Linked {
        let mut lines = lines.lines();
        let first = lines.next().unwrap_or_default();
        let not_a_line = |line| DataError::not_a_line(line);
        let (keyword, rest) = first.split_once(' ').ok_or_else(|| not_a_line(first))?;
        let state = self.declare(keyword, rest)?.ok_or_else(|| not_a_line(first))?;
        self.slots[id.index()].state = state;
        lines.try_for_each(|line| if self.detail(id, &line[1..]) { Ok(()) } else { Err(not_a_line(line)) })
    }

    /// Reads the line that begins a type; `None` if it is another line.
    fn declare(&mut self, keyword: &str, rest: &'d str) -> Linked<Option<State<'d>>> {
        let (name, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        Ok(Some(match (keyword, rest) {
            ("struct", "" | "open") => {
                State::Declared { union: false, open: !rest.is_empty(), refusal: "", fields: Vec::new() }
            }
            ("union", refusal) => State::Declared { union: true, open: false, refusal, fields: Vec::new() },
            ("leaf", "any") => State::Done(Shape::Any),
            ("leaf", "intOrString") => State::Done(Shape::IntOrString),
            ("leaf", "microTime") => State::Done(Shape::MicroTime),
            ("leaf", "quantity") => State::Done(Shape::Quantity),
            ("leaf", "time") => State::Done(Shape::Time),
            ("type" | "message", underlying) => {
                let id = self.id(underlying);
                match (&self.slots[id.index()].state, keyword) {
                    (State::Done(Shape::List { element, .. }), keyword) => {
                        State::Done(Shape::List { element: *element, wrapped: keyword == "message" })
                    }
                    (State::Done(shape), "type") => State::Done(shape.clone()),
                    _ => return error(format!("{name} cannot be a {underlying}")),
                }
            }
            _ => return Ok(None),
        }))
    }

    /// Reads a line below that of a type, less a space: a field, or a facet of the last field or of the type.
    fn detail(&mut self, ty: TypeId, line: &'d str) -> bool {
        if let Some(facet) = line.strip_prefix("   ") {
            let slot = &mut self.slots[ty.index()];
            let facets = match &mut slot.state {
                State::Declared { fields, .. } => fields.last_mut().map_or(&mut slot.facets, |field| &mut field.facets),
                _ => &mut slot.facets,
            };
            return facets.get_or_insert_default().add(facet);
        }
        let mut words = line.trim_start().split(' ');
        let (Some(go_name), Some(number), Some(json), Some(name)) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return false;
        };
        let field = Declared { go_name, number: number.parse().ok(), json, ty: self.id(name), facets: None };
        let State::Declared { fields, .. } = &mut self.slots[ty.index()].state else { return false };
        fields.push(field);
        true
    }

    /// The type of this name. Pointers, lists and maps are defined by being named.
    fn id(&mut self, name: &'d str) -> TypeId {
        if let Some(known) = self.ids.get(name) {
            return *known;
        }
        let state = if let Some(target) = name.strip_prefix('*') {
            State::Done(Shape::Pointer(self.id(target)))
        } else if let Some(element) = name.strip_prefix("[]") {
            State::Done(Shape::List { element: self.id(element), wrapped: false })
        } else if let Some((_, element)) = name.strip_prefix("map[").and_then(|rest| rest.split_once(']')) {
            State::Done(Shape::Map(self.id(element)))
        } else {
            State::Open
        };
        self.add(name, state)
    }

    fn add(&mut self, name: &'d str, state: State<'d>) -> TypeId {
        let id = TypeId::new(self.slots.len());
        self.slots.push(Slot { name, state, facets: None });
        self.ids.insert(name, id);
        id
    }

    fn text(&mut self, of: &str) -> Arc<str> {
        text(&mut self.texts, of)
    }

    /// Links the fields of a struct or union, after those of the structs that it embeds.
    fn link(&mut self, id: TypeId) -> Linked {
        let slot = &mut self.slots[id.index()];
        let name = slot.name;
        let shape = match std::mem::replace(&mut slot.state, State::Open) {
            State::Open => return error(format!("{name} is not defined, or embeds itself")),
            State::Done(shape) => shape,
            State::Declared { union: false, open, fields, .. } => Shape::Struct(self.link_struct(name, open, fields)?),
            State::Declared { union: true, refusal, fields, .. } => Shape::Union(self.link_union(refusal, fields)),
        };
        self.slots[id.index()].state = State::Done(shape);
        Ok(())
    }

    fn link_struct(&mut self, name: &'d str, open: bool, declared: Vec<Declared<'d>>) -> Linked<Struct> {
        let owner = self.text(name.rsplit('.').next().unwrap_or(name));
        let mut fields: Vec<Field> = Vec::with_capacity(declared.len());
        let mut members = Vec::with_capacity(declared.len());
        for Declared { go_name, number, json, ty, facets } in declared {
            let content = if json == "." {
                self.link(ty)?;
                let State::Done(Shape::Struct(embedded)) = &self.slots[ty.index()].state else {
                    return error(format!("{name} embeds {go_name}, which is not a struct"));
                };
                fields.extend(embedded.fields.iter().map(|field| Field {
                    owner: owner.clone(),
                    context: format!("{go_name}.{}", field.context).into(),
                    ..field.clone()
                }));
                Content::Embedded(ty)
            } else {
                let mut options = json.split(',');
                let name = self.text(options.next().unwrap_or(json));
                let (mut omit_empty, mut omit_zero) = (false, false);
                for option in options {
                    omit_empty |= option == "omitempty";
                    omit_zero |= option == "omitzero";
                }
                let (go_name, owner, context) = (self.text(go_name), owner.clone(), name.clone());
                let facets = facets.map(Arc::from);
                fields.push(Field { name: name.into(), go_name, ty, omit_empty, omit_zero, owner, context, facets });
                Content::Field(fields.len() - 1)
            };
            if let Some(number) = number {
                members.push(Member { number, go_name: self.text(go_name), content });
            }
        }
        if open && !members.is_empty() {
            return error(format!("{name} is open, which protobuf messages cannot be"));
        }
        if open {
            fields.sort_by(|one, other| one.name.cmp(&other.name));
        }
        let names = Names::of(fields.iter().map(|field| &*field.name));
        members.sort_unstable_by_key(|member| member.number);
        Ok(Struct { names, members: members.into(), fields: fields.into(), open })
    }

    fn link_union(&mut self, refusal: &str, declared: Vec<Declared<'d>>) -> Union {
        let mut variants = Vec::with_capacity(declared.len());
        for Declared { go_name, number, ty, .. } in declared {
            variants.extend(number.map(|number| Variant { number, go_name: self.text(go_name), ty }));
        }
        let refusal = (!refusal.is_empty()).then(|| self.text(refusal));
        Union { variants: variants.into(), refusal }
    }
}

fn text(texts: &mut HashSet<Arc<str>>, of: &str) -> Arc<str> {
    if let Some(known) = texts.get(of) {
        return known.clone();
    }
    let text: Arc<str> = of.into();
    texts.insert(text.clone());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_go() {
        let types: Types = "kind v1 A map[core/v1.ResourceName]*b/v1.B\nstruct b/v1.B".parse().expect("types");
        assert_eq!(types.lookup("v1", "A").expect("a kind").go_name(), "map[v1.ResourceName]*v1.B");
    }

    #[test]
    fn what_does_not_link_is_refused() {
        for (data, message) in [
            ("struct", "schema: not a line: struct"),
            ("  A 1 a string", "schema: not a line:   A 1 a string"),
            ("struct a.A\n  A 1 a a.B", "schema: a.B is not defined, or embeds itself"),
            ("struct a.A\n  A 1 . a.A", "schema: a.A is not defined, or embeds itself"),
            ("struct a.A\n  A 1 . string", "schema: a.A embeds A, which is not a struct"),
            ("struct a.A\nstruct a.A", "schema: a.A is defined twice"),
            ("message a.A string", "schema: a.A cannot be a string"),
            ("struct a.A open\n  A 1 a string", "schema: a.A is open, which protobuf messages cannot be"),
            ("struct a.A\n    colour red", "schema: not a line:     colour red"),
        ] {
            assert_eq!(data.parse::<Types>().expect_err(data).to_string(), message);
        }
    }
}
