//! Facets: tags and markers of types and fields in the Go sources.

use tree::Value;

/// The facets of a type or of a field. Those of a field's type are not repeated at the field.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Facets {
    /// The strategic merge patch of the list or struct; `None` replaces a list and merges a struct.
    pub patch: Option<PatchStrategy>,
    /// The type of the list in server-side apply; `None`: by `patch`, or else [`ListType::Atomic`].
    pub list: Option<ListType>,
    /// Whether server-side apply treats the map or struct as one value (`atomic`) or field by field (`granular`); `None`: as
    /// the type, or else field by field.
    pub atomic: Option<bool>,
    /// The value of an absent field.
    pub default: Option<Value>,
    /// Whether the field is required; `None`: unless it has `omitempty`.
    pub required: Option<bool>,
    /// All values of an enumeration, in alphabetical order.
    pub values: Vec<Box<str>>,
    /// Whether the rules of some kind tell an absent list or map from an empty one (nil from empty, in Go), so that decoding keeps it.
    pub nil_differs: bool,
}

/// `patchStrategy` and `patchMergeKey`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PatchStrategy {
    /// Whether a list is merged (by `key`, or as a set of scalars), not replaced.
    pub merge: bool,
    /// Whether the patch's `$retainKeys` decides which keys stay.
    pub retain_keys: bool,
    /// The merge key of the items of a list.
    pub key: Option<Box<str>>,
}

/// `listType` and `listMapKey`.
#[derive(Debug, Clone, PartialEq)]
pub enum ListType {
    /// The list is one value, replaced as a whole.
    Atomic,
    /// Scalars, each of which occurs once.
    Set,
    /// Objects that are identified by these fields.
    Map(Vec<Box<str>>),
}

/// The facets of a declaration without tags and markers.
pub(super) static NO_FACETS: Facets = Facets {
    patch: None,
    list: None,
    atomic: None,
    default: None,
    required: None,
    values: Vec::new(),
    nil_differs: false,
};

impl Facets {
    /// Adds a facet from a line of the data; false if the line is not a facet.
    pub(super) fn add(&mut self, line: &str) -> bool {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "patch" => {
                let (strategies, key) = rest.split_once(' ').map_or((rest, None), |(all, key)| (all, Some(key.into())));
                let has = |wanted| strategies.split(',').any(|strategy| strategy == wanted);
                self.patch = Some(PatchStrategy { merge: has("merge"), retain_keys: has("retainKeys"), key });
            }
            "atomic" => self.atomic = Some(true),
            "granular" => self.atomic = Some(false),
            "list" => {
                self.list = match rest {
                    "atomic" => Some(ListType::Atomic),
                    "set" => Some(ListType::Set),
                    _ => Some(ListType::Map(rest.split(' ').map(Box::from).collect())),
                }
            }
            "default" => match serde_json::from_str(rest) {
                Ok(value) => self.default = Some(value),
                Err(_) => return false,
            },
            "optional" => self.required = Some(false),
            "required" => self.required = Some(true),
            "nilDiffers" => self.nil_differs = true,
            "enum" => match serde_json::from_str(rest) {
                Ok(values) => self.values = values,
                Err(_) => return false,
            },
            _ => return false,
        }
        true
    }
}
