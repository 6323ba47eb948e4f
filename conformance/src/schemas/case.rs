//! Cases: a definition and the writes that are made with it, as data.

use serde_json::Value;

/// A definition of a resource, and the requests for some of its objects.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Case {
    /// The schema of the definition's only version.
    pub schema: Value,
    /// Whether the status is a subresource.
    pub status: bool,
    /// The `fieldValidation` of the definition.
    pub validation: Option<&'static str>,
    /// Whether the schema was made invalid on purpose.
    pub broken: bool,
    /// The schema that replaces the other one after the first half of the stories.
    pub then: Option<Value>,
    /// The requests for each object.
    pub stories: Vec<Story>,
}

/// The requests for one object.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Story {
    /// The requests under the first schema.
    pub before: Vec<Action>,
    /// The requests after the definition has changed.
    pub after: Vec<Action>,
}

/// A request about an object.
#[derive(Debug, Clone, PartialEq)]
pub struct Action {
    /// The verb.
    pub verb: Verb,
    /// The body but for API version, kind and name; null if there is none.
    pub body: Value,
    /// The `fieldValidation`.
    pub validation: Option<&'static str>,
}

/// The verb of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// Left out if the object exists.
    Create,
    /// A read.
    Get,
    /// An update of the object that was seen last.
    Update,
    /// The same of the subresource.
    UpdateStatus,
    /// A merge patch.
    Patch,
}
