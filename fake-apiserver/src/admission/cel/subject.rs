//! A write as expressions see it.
//!
//! Follows `newActivation` and `CreateAdmissionRequest` of `pkg/admission/plugin/cel` of `k8s.io/apiserver` (v0.37.1).

use super::authorizer::Asker;
use super::compilation::Scope;
use super::values::value;
use crate::admission::matching::Matched;
use crate::admission::{Attributes, Kind};
use crate::commit::namespace;
use crate::registry::Version;
use crate::schema::TypeRef;
use kubernetes_cel::{Bindings, Request, authorizer, resource_check};
use std::sync::Arc;
use tree::{Value, json};

/// A write, with its objects in the form that a rule has matched.
pub(crate) struct Subject<'a> {
    pub(crate) write: &'a Attributes<'a>,
    /// The form of the objects.
    pub(crate) matched: Matched<'a>,
    /// The object; null if it is deleted.
    pub(crate) object: &'a Value,
    /// The object before the write.
    pub(crate) old: Option<&'a Value>,
}

impl Subject<'_> {
    /// The values of variables that match conditions can name. They see no namespace, and the resource that was requested.
    pub(crate) fn for_conditions(&self, scope: &Scope, params: Option<(&Value, Option<TypeRef<'_>>)>) -> Bindings {
        self.bindings(scope, self.write.version, params, None)
    }

    /// The values of variables that the expressions of a policy can name; `namespace` is the object of the write's namespace, if it has one.
    pub(crate) fn for_policy(
        &self,
        scope: &Scope,
        params: Option<(&Value, Option<TypeRef<'_>>)>,
        namespace: Option<&Value>,
    ) -> Bindings {
        self.bindings(scope, self.matched.version, params, namespace)
    }

    fn bindings(
        &self,
        scope: &Scope,
        resource: &Version,
        params: Option<(&Value, Option<TypeRef<'_>>)>,
        namespace: Option<&Value>,
    ) -> Bindings {
        let (reads, ty) = (&scope.reads, self.matched.go_type());
        let mut bindings = Bindings::new();
        let null = kubernetes_cel::Value::Null;
        let old = self.old.map_or(null.clone(), |old| value(old, ty, &reads.old_object));
        let params = params.map_or(null.clone(), |(params, ty)| value(params, ty, &reads.params));
        let namespace = namespace.map_or(null, |namespace| value(namespace, Some(namespace::ty()), &reads.namespace));
        bindings.set("object", value(self.object, ty, &reads.object));
        bindings.set("oldObject", old);
        bindings.set("params", params);
        bindings.set("namespaceObject", namespace);
        bindings.set(
            "request",
            match reads.request.is_nothing() {
                true => kubernetes_cel::Value::Map(kubernetes_cel::Map::new([])),
                false => kubernetes_cel::Value::of_data(&self.request(resource), &reads.request),
            },
        );
        if reads.authorizer {
            let asker: Arc<dyn kubernetes_cel::Authorizer> = Arc::new(Asker::of(self.write));
            let check = Request {
                group: self.write.version.group.to_string(),
                resource: Some(self.write.version.plural.to_string()),
                subresource: self.write.subresource.to_owned(),
                namespace: self.write.namespace.to_owned(),
                name: self.write.name.to_owned(),
                ..Request::default()
            };
            bindings.set("authorizer", authorizer(asker.clone()));
            bindings.set("authorizer.requestResource", resource_check(asker, check));
        }
        bindings
    }

    /// `request`: an `AdmissionRequest` without the objects.
    fn request(&self, resource: &Version) -> Value {
        let write = self.write;
        let kind = |of: Kind<'_>| json!({"group": of.group, "version": of.version, "kind": of.kind});
        let named = |version: &Version| json!({"group": &*version.group, "version": &*version.name, "resource": &*version.plural});
        let mut request = json!({
            "uid": "",
            "kind": kind(self.matched.kind),
            "resource": named(resource),
            "requestKind": kind(write.kind),
            "requestResource": named(write.version),
            "operation": write.operation.name(),
            "userInfo": write.user.info(),
            "object": null,
            "oldObject": null,
            "dryRun": write.options.dry_run(),
            "options": write.options.object(write.operation),
        });
        let texts = [
            ("subResource", write.subresource),
            ("requestSubResource", write.subresource),
            ("name", write.name),
            ("namespace", write.namespace),
        ];
        for (field, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
            request[field] = text.into();
        }
        request
    }
}
