//! Versions of custom resources: pruning, defaults and validation of objects by their schemas and the rules in these.
//!
//! Follows `pkg/registry/customresource/{strategy,status_strategy}.go` of `k8s.io/apiextensions-apiserver` (v0.37.1).

use super::context::Context;
use super::resource::{Resource, Version};
use super::{items, text};
use crate::coverage::{Coverage, DEFINITION, Owner, place};
use crate::custom::compiled::Compiled;
use crate::custom::rules::{Before, Check, Observer};
use crate::custom::schema::{Compared, Old, Structural};
use crate::deadline::Deadline;
use crate::error::{ApiError, ApiResult, FieldError, Path};
use crate::schema::settle_numbers;
use std::collections::HashMap;
use tree::Value;

impl Resource {
    /// Whether the schemas of a custom resource have still to be compiled.
    pub(crate) fn is_uncompiled(&self) -> bool {
        self.versions.iter().filter_map(|version| version.schema.as_ref()).any(|place| place.get().is_none())
    }

    /// Compiles the schemas of a custom resource, unless that was done before.
    ///
    /// # Errors
    /// 500, if one is malformed; 504, if the time is up.
    pub(crate) fn compile(&self, deadline: &Deadline) -> ApiResult<()> {
        let json = self.versions.iter().find_map(|version| version.definition.as_ref());
        let Some(json) = json.filter(|_| self.is_uncompiled()) else { return Ok(()) };
        let mut definition: Value = tree::parse_object(json).map_err(ApiError::internal)?;
        settle_numbers(&mut definition);
        let places: HashMap<&str, _> =
            self.versions.iter().map(|served| (&*served.name, served.schema.as_ref())).collect();
        for version in items(&definition, "/spec/versions") {
            let Some(Some(place)) = places.get(text(version, "/name")) else { continue };
            place.compile(&version["schema"]["openAPIV3Schema"], deadline)?.map_err(|error| {
                tracing::error!(group = &*self.group, resource = &*self.plural, error, "A schema cannot be compiled");
                ApiError::internal("error resolving resource")
            })?;
        }
        Ok(())
    }
}

impl Version {
    fn compiled(&self) -> Option<&Compiled> {
        self.schema.as_ref()?.get()
    }

    /// The schema of a custom resource, once it is compiled.
    pub(crate) fn structural(&self) -> Option<&Structural> {
        self.compiled().map(|compiled| &compiled.schema)
    }

    /// Whether a definition has brought it about, so that it is of a custom resource.
    pub(crate) fn is_defined(&self) -> bool {
        self.schema.is_some()
    }

    /// Whether its objects are of a type with known fields. Others, those of definitions, are maps with a schema: upstream they are
    /// `Unstructured`, and what Go's encoder and the generated code do to fields does not happen to them.
    pub(crate) fn is_typed(&self) -> bool {
        !self.is_defined()
    }

    /// Whether a written object stays in this version until it is stored: it is completed, admitted and validated in it. Others are converted to
    /// the storage version as soon as they are decoded.
    pub(crate) fn is_converted_last(&self) -> bool {
        self.is_defined()
    }

    /// Whether the router knows its paths and methods, and refuses others. Upstream one handler serves all paths of all definitions
    /// (`crdHandler`), and says itself what it does not find.
    pub(crate) fn has_routes(&self) -> bool {
        !self.is_defined()
    }

    /// Prunes the fields that the schema of a custom resource does not know from an object that a client sent, and fills in its defaults.
    /// Returns findings about the pruned fields. If the time is up, the object stays incomplete.
    ///
    /// # Errors
    /// If the metadata of an embedded object cannot be read.
    pub(crate) fn apply_schema(&self, object: &mut Value, deadline: &Deadline) -> Result<Vec<String>, FieldError> {
        let coerce = |schema: &Structural, object: &mut Value| {
            schema.prune_nulls(object, deadline);
            schema.coerce_embedded(object, deadline)
        };
        self.completed(object, coerce, deadline)
    }

    /// The same for the result of an apply, which keeps nulls.
    ///
    /// # Errors
    /// If the metadata of an embedded object cannot be read.
    pub(crate) fn apply_schema_to_applied(
        &self,
        object: &mut Value,
        deadline: &Deadline,
    ) -> Result<Vec<String>, FieldError> {
        self.completed(object, |schema, object| schema.coerce_applied(object, deadline), deadline)
    }

    fn completed(
        &self,
        object: &mut Value,
        coerce: impl FnOnce(&Structural, &mut Value) -> Result<Vec<String>, FieldError>,
        deadline: &Deadline,
    ) -> Result<Vec<String>, FieldError> {
        let Some(Compiled { schema, .. }) = self.compiled() else { return Ok(Vec::new()) };
        let mut unknown = schema.prune(object, deadline);
        unknown.extend(coerce(schema, object)?);
        schema.set_defaults(object, deadline);
        Ok(unknown.into_iter().map(|path| format!("unknown field {path:?}")).collect())
    }

    /// Findings about a custom resource, but for its metadata; `None` for others.
    pub(super) fn validate_custom(
        &self,
        context: &Context<'_>,
        object: &Value,
        old: Option<&Value>,
    ) -> Option<Vec<FieldError>> {
        let Compiled { schema, .. } = self.compiled()?;
        let (deadline, is_status) = (context.deadline, context.subresource == "status");
        let mut findings = match old {
            Some(old) if is_status => schema.validate_status(object, old, deadline),
            _ => schema.validate(object, old, deadline),
        };
        findings.extend(self.scale.iter().flat_map(|scale| scale.validate(object, is_status)));
        if !is_status {
            findings.extend(schema.validate_embedded(object, deadline));
        }
        if old.is_none_or(|old| schema.validate_lists(old, deadline).is_empty()) {
            findings.extend(schema.validate_lists(object, deadline));
        }
        Some(findings)
    }

    /// Checks the rules about a custom resource, unless it is `blocked` by other findings. Returns warnings.
    pub(super) fn check_rules(
        &self,
        context: &Context<'_>,
        object: &Value,
        old: Option<&Value>,
        blocked: bool,
        findings: &mut Vec<FieldError>,
    ) -> Vec<String> {
        let Some(Compiled { schema, rules: Some(rules) }) = self.compiled() else { return Vec::new() };
        if blocked {
            let detail = "some validation rules were not checked because the object was invalid; correct the existing errors to \
                          complete validation";
            findings.push(FieldError::invalid("<nil>", &Value::Null, detail));
            return Vec::new();
        }
        let compared = Compared::until(context.deadline);
        let node = schema.root();
        let forgiving = |old| Before::forgiving(Old::new(old, &compared), node, object);
        let observed = context.coverage.map(|coverage| Observed { version: self, coverage });
        let observer = observed.as_ref().map(|observed| observed as &dyn Observer);
        let mut check = Check::new(context.deadline).observed(observer);
        rules.check(node, Path::ROOT, object, old.map_or(Before::NOTHING, forgiving), &mut check);
        findings.append(&mut check.errors);
        check.warnings
    }
}

/// The rules of a version, whose decisions are counted.
#[derive(Debug)]
struct Observed<'o> {
    version: &'o Version,
    coverage: &'o Coverage,
}

impl Observer for Observed<'_> {
    fn decided(&self, at: Path<'_>, rule: &str, value: Option<bool>) {
        let definition = self.version.qualified().to_string();
        let place = place(&self.version.name, &at.of_schema());
        self.coverage.decided(Owner::of_cluster(DEFINITION, &definition), &place, rule, value);
    }
}
