//! The documents that the real server publishes, in pieces with placeholders for names: those of any custom resource in `template.txt`,
//! which `cargo xtask schema` writes, those of built-in ones in `recorded.txt`.
//!
//! Follows `pkg/controller/openapi/builder` of k8s.io/apiextensions-apiserver and `pkg/endpoints/openapi` of k8s.io/apiserver (v0.37.1).

use crate::registry::Served;
use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

/// The two versions of OpenAPI.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Form {
    V2,
    V3,
}

/// The pieces of documents, as JSON with placeholders.
#[derive(Default)]
pub(super) struct Template {
    /// Texts that occur in others, by their placeholders.
    texts: HashMap<&'static str, &'static str>,
    /// The operations, by path.
    pub(super) paths: BTreeMap<&'static str, &'static str>,
    /// The schemas, by name, but for that of the kind.
    pub(super) models: BTreeMap<&'static str, &'static str>,
    /// The parameters, by the names under which operations refer to them.
    pub(super) parameters: BTreeMap<&'static str, &'static str>,
    /// The schemas of the fields that all objects have.
    pub(super) standard: BTreeMap<&'static str, &'static str>,
    /// The same of embedded objects.
    pub(super) embedded: BTreeMap<&'static str, &'static str>,
}

impl Template {
    /// The pieces of documents of that form.
    pub(super) fn of(form: Form) -> &'static Template {
        static V2: LazyLock<Template> = LazyLock::new(|| Template::read("v2"));
        static V3: LazyLock<Template> = LazyLock::new(|| Template::read("v3"));
        match form {
            Form::V2 => &V2,
            Form::V3 => &V3,
        }
    }

    fn read(form: &str) -> Template {
        let mut template = Template::default();
        include_str!("template.txt").lines().for_each(|line| template.add(form, line));
        template
    }

    /// Adds the piece that a line has, if it is of that form.
    pub(super) fn add(&mut self, form: &str, line: &'static str) {
        let mut columns = line.split('\t');
        let [of, what, name, json] = [(); 4].map(|()| columns.next().expect("a line has four columns"));
        if of == form {
            let template = self;
            match what {
                "text" => drop(template.texts.insert(name, json)),
                "path" | "paths" => drop(template.paths.insert(name, json)),
                "model" => drop(template.models.insert(name, json)),
                "parameter" => drop(template.parameters.insert(name, json)),
                "standard" => drop(template.standard.insert(name, json)),
                "embedded" => drop(template.embedded.insert(name, json)),
                other => panic!("{other} is no piece of a document"),
            }
        }
    }

    /// A piece with the names in place of the placeholders.
    pub(super) fn fill(&self, piece: &str, names: &Names<'_>) -> String {
        let mut filled = String::with_capacity(piece.len() * 2);
        self.fill_into(&mut filled, piece, names);
        filled
    }

    fn fill_into(&self, filled: &mut String, piece: &str, names: &Names<'_>) {
        let mut rest = piece;
        while let Some((plain, placeholder, behind)) = split(rest) {
            filled.push_str(plain);
            match placeholder {
                "namespace" if !names.namespaced => {}
                _ => match self.texts.get(placeholder) {
                    Some(text) => self.fill_into(filled, text, names),
                    None => filled.push_str(names.at(placeholder)),
                },
            }
            rest = behind;
        }
        filled.push_str(rest);
    }
}

/// The text before the first placeholder, the placeholder's name, and the text after it.
fn split(piece: &str) -> Option<(&str, &str, &str)> {
    let (plain, rest) = piece.split_once('⟨')?;
    let (placeholder, behind) = rest.split_once('⟩')?;
    Some((plain, placeholder, behind))
}

/// The names of a version of a resource.
pub(super) struct Names<'r> {
    namespaced: bool,
    group: &'r str,
    version: &'r str,
    plural: &'r str,
    kind: &'r str,
    list_kind: &'r str,
    /// The prefix of its schemas' names: the group, last part first, and the version.
    model: String,
    /// An article between blanks.
    article: &'static str,
    tag: String,
    /// Group and version in identifiers of operations.
    group_id: String,
    /// The kind there, behind a lower-case letter.
    kind_id: String,
    /// The kind there, behind the group.
    capital_kind_id: String,
}

impl<'r> Names<'r> {
    pub(super) fn of(served: Served<'r>) -> Self {
        let Served { resource, version, .. } = served;
        let parts: Vec<&str> = version.group.rsplit('.').collect();
        Names {
            namespaced: resource.meta.namespaced,
            plural: &version.plural,
            list_kind: &version.list_kind,
            model: format!("{}.{}.", parts.join("."), version.name),
            ..Names::of_kind(&version.group, &version.name, &version.kind)
        }
    }

    /// The names of a built-in kind, but those that its recorded pieces say themselves.
    pub(super) fn of_built_in(group: &'r str, version: &'r str, kind: &'r str) -> Self {
        let package = match group {
            "" => "io.k8s.api.core",
            "apiextensions.k8s.io" => "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions",
            "apiregistration.k8s.io" => "io.k8s.kube-aggregator.pkg.apis.apiregistration",
            _ => "io.k8s.api",
        };
        let directory = match (package, group.split('.').next()) {
            ("io.k8s.api", Some(first)) => format!(".{first}"),
            _ => String::new(),
        };
        Names { model: format!("{package}{directory}.{version}."), ..Names::of_kind(group, version, kind) }
    }

    fn of_kind(group: &'r str, version: &'r str, kind: &'r str) -> Self {
        let id = match group {
            "" => "core",
            group => group.strip_suffix(".k8s.io").unwrap_or(group),
        };
        Names {
            namespaced: false,
            group,
            version,
            plural: "",
            kind,
            list_kind: "",
            model: String::new(),
            article: article(kind),
            tag: format!("{}_{}", operation_id(id, false), operation_id(version, false)),
            group_id: operation_id(id, true) + &operation_id(version, true),
            kind_id: operation_id(kind, false),
            capital_kind_id: operation_id(kind, true),
        }
    }

    /// The name of the kind's schema.
    pub(super) fn model(&self) -> String {
        format!("{}{}", self.model, self.kind)
    }

    /// The name of the schema of its lists.
    pub(super) fn list_model(&self) -> String {
        format!("{}{}", self.model, self.list_kind)
    }

    fn at(&self, placeholder: &str) -> &str {
        match placeholder {
            "group" => self.group,
            "version" => self.version,
            "plural" => self.plural,
            "kind" => self.kind,
            "list kind" => self.list_kind,
            "model" => &self.model,
            "a" => self.article,
            "tag" => &self.tag,
            "Group" => &self.group_id,
            "Kind" => &self.capital_kind_id,
            "id" if !self.namespaced => &self.capital_kind_id,
            "id" | "raw" => &self.kind_id,
            "Namespaced" if self.namespaced => "Namespaced",
            "in namespace" if self.namespaced => "/namespaces/{namespace}",
            "Namespaced" | "in namespace" => "",
            other => panic!("{other} is no placeholder"),
        }
    }
}

/// The article of a kind, between blanks (`GetArticleForNoun`): plurals have none.
fn article(kind: &str) -> &'static str {
    match kind.chars().next().map(|first| first.to_ascii_lowercase()) {
        _ if kind.ends_with('s') && !kind.ends_with("ss") => " ",
        Some('a' | 'e' | 'i' | 'o' | 'u') => " an ",
        _ => " a ",
    }
}

/// A text as a part of an identifier (`ToValidOperationID`).
fn operation_id(text: &str, capital: bool) -> String {
    let mut id = String::with_capacity(text.len());
    let mut capital = capital;
    for (at, character) in text.char_indices() {
        if character.is_alphabetic() || character == '_' || (at != 0 && character.is_numeric()) {
            match std::mem::take(&mut capital) {
                true => id.extend(character.to_uppercase()),
                false => id.push(character),
            }
        } else {
            capital = true;
        }
    }
    id
}
