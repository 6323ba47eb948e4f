//! Environments: the declarations for expressions, and compilation.

use crate::check::{self, Checked, Reference};
use crate::cost::estimate::{self, CostEstimate, Sizes};
use crate::deep;
use crate::eval::Program;
use crate::functions::Functions;
use crate::parse::Syntax;
use crate::plan;
use crate::schema::{Declared, Parts, is_reserved};
use crate::source::{CompileError, Findings, Source};
use crate::types::Type;
use crate::value::EvalError;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The functions that an expression may call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The functions that the previous version has, too: for new expressions.
    New,
    /// All functions: for stored expressions.
    Stored,
}

/// The environment of Kubernetes 1.37. It is expensive to make, and can be shared.
pub struct Environment {
    syntax: Syntax,
    functions: Arc<Functions>,
}

impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Environment").finish_non_exhaustive()
    }
}

impl Default for Environment {
    fn default() -> Self {
        Self::new()
    }
}

/// The variables of expressions.
#[derive(Debug, Clone, Default)]
pub struct Declarations {
    variables: BTreeMap<String, Type>,
    objects: BTreeMap<String, BTreeMap<String, Type>>,
    /// Whether there are types from schemas, which add names of scalar types.
    has_schema: bool,
    /// Whether there are the types and functions of patches.
    patches: bool,
    /// Whether there is the macro `cel.bind`.
    binds: bool,
}

impl Declarations {
    /// Declarations without variables.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a variable.
    #[must_use]
    pub fn variable(mut self, name: &str, t: Type) -> Self {
        self.variables.insert(name.to_owned(), t);
        self
    }

    /// Adds a type with fields, by its name.
    #[must_use]
    pub fn object<'f>(mut self, name: &str, fields: impl IntoIterator<Item = (&'f str, Type)>) -> Self {
        let fields = fields.into_iter().map(|(name, t)| (name.to_owned(), t)).collect();
        self.objects.insert(name.to_owned(), fields);
        self.has_schema = true;
        self
    }

    /// Adds a field to the type of that name.
    #[must_use]
    pub fn field(mut self, object: &str, name: &str, t: Type) -> Self {
        self.objects.entry(object.to_owned()).or_default().insert(name.to_owned(), t);
        self.has_schema = true;
        self
    }

    /// Adds the macro `cel.bind`.
    #[must_use]
    pub fn bindings(mut self) -> Self {
        self.binds = true;
        self
    }

    /// Adds the types and functions of patches, as mutating policies have them: `Object` and `JSONPatch`.
    #[must_use]
    pub fn patches(mut self) -> Self {
        self.patches = true;
        self
    }

    /// Adds the types of the objects within a declared type.
    #[must_use]
    pub fn types_of(mut self, declared: &Declared) -> Self {
        declared.objects(&mut self.objects);
        self.has_schema = true;
        self
    }
}

/// The names that expressions can use.
#[derive(Debug)]
pub(crate) struct Names<'a>(&'a Declarations);

impl Names<'_> {
    /// The type of a variable, or of a name of a type.
    pub(crate) fn find(&self, name: &str) -> Option<Type> {
        if let Some(t) = self.0.variables.get(name) {
            return Some(t.clone());
        }
        known_type(name).or_else(|| self.struct_type(name)).map(|t| Type::Type(Some(Arc::new(t))))
    }

    /// The type with a name.
    pub(crate) fn find_type(&self, name: &str) -> Option<Type> {
        known_type(name).or_else(|| self.struct_type(name))
    }

    pub(crate) fn has_struct(&self, name: &str) -> bool {
        self.struct_type(name).is_some()
    }

    fn struct_type(&self, name: &str) -> Option<Type> {
        if self.0.objects.contains_key(name) || self.is_patch(name) {
            return Some(Type::object(name));
        }
        if !self.0.has_schema {
            return None;
        }
        match name {
            "duration" => Some(Type::Duration),
            "timestamp" => Some(Type::Timestamp),
            "bool" | "bytes" | "double" | "int" | "null_type" | "string" | "uint" | "list" | "map" => known_type(name),
            _ => None,
        }
    }

    /// Whether functions of patches can be called.
    pub(crate) fn has_patches(&self) -> bool {
        self.0.patches
    }

    /// Whether a name is that of a type of patches: `Object` and those of its fields can have any fields (`DynamicTypeResolver`).
    fn is_patch(&self, name: &str) -> bool {
        self.0.patches && (matches!(name, JSON_PATCH | OBJECT) || name.starts_with("Object."))
    }

    /// The type of a field. Names of fields that are reserved words can be used without escapes.
    pub(crate) fn field(&self, name: &str, field: &str) -> Option<Type> {
        if self.is_patch(name) {
            return match (name, field) {
                (JSON_PATCH, "op" | "path" | "from") => Some(Type::String),
                // Upstream finds the field, and then has no type for it.
                (JSON_PATCH, field) if field != "value" => Some(Type::Opaque(Arc::from(""), Arc::from([]))),
                _ => Some(Type::Dyn),
            };
        }
        let fields = self.0.objects.get(name)?;
        let escaped = || is_reserved(field).then(|| fields.get(&format!("__{field}__"))).flatten();
        fields.get(field).or_else(escaped).cloned()
    }
}

const JSON_PATCH: &str = "JSONPatch";
const OBJECT: &str = "Object";

/// The type with a predefined name.
pub(crate) fn known_type(name: &str) -> Option<Type> {
    Some(match name {
        "bool" => Type::Bool,
        "bytes" => Type::Bytes,
        "double" => Type::Double,
        "int" => Type::Int,
        "uint" => Type::Uint,
        "string" => Type::String,
        "null_type" => Type::Null,
        "google.protobuf.Duration" => Type::Duration,
        "google.protobuf.Timestamp" => Type::Timestamp,
        "list" => Type::list(Type::Dyn),
        "map" => Type::map(Type::Dyn, Type::Dyn),
        "type" => Type::Type(None),
        "optional_type" => Type::optional(Type::Dyn),
        "net.IP" | "net.CIDR" => Type::Opaque(Arc::from(name), Arc::from([])),
        _ => return None,
    })
}

impl Environment {
    /// A new environment.
    #[must_use]
    pub fn new() -> Self {
        Self { syntax: Syntax::new(), functions: Arc::new(Functions::new()) }
    }

    /// Compiles an expression.
    ///
    /// # Errors
    /// If its syntax or its types are invalid.
    pub fn compile(
        &self,
        expression: &str,
        declarations: &Declarations,
        stage: Stage,
    ) -> Result<Expression, CompileError> {
        let source = Source::new(expression);
        deep::with_room(nests(expression), || self.compile_source(&source, declarations, stage))
    }

    fn compile_source(
        &self,
        source: &Source,
        declarations: &Declarations,
        stage: Stage,
    ) -> Result<Expression, CompileError> {
        let mut findings = Findings::default();
        let ast = self.syntax.parse(source, declarations.binds, &mut findings);
        let Some(ast) = ast.filter(|_| findings.is_empty()) else {
            return Err(findings.into_error(source).unwrap_or_else(|| CompileError::unknown(source)));
        };
        let names = Names(declarations);
        let checked = check::check(ast, &self.functions, &names, stage == Stage::Stored, &mut findings);
        if findings.is_empty() {
            check::validate(&checked, &mut findings);
        }
        match findings.into_error(source) {
            Some(error) => Err(error),
            None => {
                let goes_deep = checked.ast.root.depth() > SHALLOW;
                Ok(Expression { checked, functions: self.functions.clone(), goes_deep })
            }
        }
    }
}

/// The depth that any stack has room for.
const SHALLOW: usize = 24;

/// Whether a text may nest deeply, by the number of its brackets and operators.
fn nests(text: &str) -> bool {
    text.bytes().filter(|b| b"([{?.+-*/%<>=!".contains(b)).count() > SHALLOW
}

/// A compiled expression.
#[derive(Debug)]
pub struct Expression {
    checked: Checked,
    functions: Arc<Functions>,
    goes_deep: bool,
}

impl Expression {
    /// The type of its value.
    #[must_use]
    pub fn result_type(&self) -> &Type {
        self.checked.type_of(self.checked.ast.root.id)
    }

    /// Whether it refers to a variable.
    #[must_use]
    pub fn refers_to(&self, variable: &str) -> bool {
        self.checked
            .references
            .values()
            .any(|reference| matches!(reference, Reference::Name(name) if name.trim_start_matches('.') == variable))
    }

    /// The parts of a variable that it reads.
    #[must_use]
    pub fn parts_of(&self, variable: &str) -> Parts {
        deep::with_room(self.goes_deep, || Parts::read(&self.checked.ast.root, variable))
    }

    /// The estimated cost of its evaluation, for the given sizes of variables.
    #[must_use]
    pub fn cost_estimate(&self, sizes: &(dyn Sizes + Sync)) -> CostEstimate {
        deep::with_room(self.goes_deep, || estimate::estimate(&self.checked, sizes))
    }

    /// The program of the expression.
    ///
    /// # Errors
    /// If a constant part of it has no value.
    pub fn program(&self) -> Result<Program, EvalError> {
        let step = deep::with_room(self.goes_deep, || plan::plan(&self.checked, &self.functions))?;
        Ok(Program::new(step, self.functions.clone(), self.goes_deep))
    }
}
