//! A write as expressions see it.
//!
//! Follows `newActivation` and `CreateAdmissionRequest` of `pkg/admission/plugin/cel` of `k8s.io/apiserver` (v0.37.1).

use super::authorizer::Asker;
use super::compilation::Scope;
use super::values::value;
use crate::admission::{Attributes, Operation};
use crate::registry::Version;
use crate::schema::{self, TypeRef};
use kubernetes_cel::{Bindings, Request, authorizer, resource_check};
use std::sync::Arc;
use tree::{Value, json};

/// A write, with its objects in the form that a rule has matched.
pub(crate) struct Subject<'a> {
    pub(crate) write: &'a Attributes<'a>,
    pub(crate) form: Form<'a>,
    /// The object; null if it is deleted.
    pub(crate) object: &'a Value,
    /// The object before the write.
    pub(crate) old: Option<&'a Value>,
}

/// A version of a resource, or the kind of one of its subresources, in which objects are shown.
#[derive(Clone, Copy)]
pub(crate) struct Form<'a> {
    /// The version of the resource.
    pub(crate) version: &'a Version,
    /// Group, version and kind of the objects.
    pub(crate) kind: [&'a str; 3],
    /// The Go type of the objects; `None` for custom resources.
    pub(super) ty: Option<TypeRef<'a>>,
}

impl<'a> Form<'a> {
    /// The form of the objects that are written by a version of a resource or, unless it is "", one of its subresources.
    pub(crate) fn of(version: &'a Version, subresource: &str) -> Self {
        let own = version.subresource(subresource).filter(|own| !own.kind.is_empty());
        match own {
            Some(own) => {
                let api_version = match &*own.group {
                    "" => own.version.to_string(),
                    group => format!("{group}/{}", own.version),
                };
                let ty = schema::lookup(&api_version, &own.kind);
                Form { version, kind: [&own.group, &own.version, &own.kind], ty }
            }
            None => {
                let ty = (!version.is_custom()).then(|| version.ty());
                Form { version, kind: [&version.group, &version.name, &version.kind], ty }
            }
        }
    }
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
        self.bindings(scope, self.form.version, params, namespace)
    }

    fn bindings(
        &self,
        scope: &Scope,
        resource: &Version,
        params: Option<(&Value, Option<TypeRef<'_>>)>,
        namespace: Option<&Value>,
    ) -> Bindings {
        let (reads, ty) = (&scope.reads, self.form.ty);
        let mut bindings = Bindings::new();
        let null = kubernetes_cel::Value::Null;
        let old = self.old.map_or(null.clone(), |old| value(old, ty, &reads.old_object));
        let params = params.map_or(null.clone(), |(params, ty)| value(params, ty, &reads.params));
        let namespace_type = schema::lookup("v1", "Namespace");
        let namespace = namespace.map_or(null, |namespace| value(namespace, namespace_type, &reads.namespace));
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
        let kind = |[group, version, kind]: [&str; 3]| json!({"group": group, "version": version, "kind": kind});
        let named = |version: &Version| json!({"group": &*version.group, "version": &*version.name, "resource": &*version.plural});
        let mut request = json!({
            "uid": "",
            "kind": kind(self.form.kind),
            "resource": named(resource),
            "requestKind": kind(Form::of(write.version, write.subresource).kind),
            "requestResource": named(write.version),
            "operation": write.operation.name(),
            "userInfo": write.user.info(),
            "object": null,
            "oldObject": null,
            "dryRun": write.options.dry_run(),
            "options": options(write),
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

/// The options of the request, with their kind.
fn options(write: &Attributes<'_>) -> Value {
    let mut options = write.options.object();
    options["kind"] = match write.operation {
        Operation::Create => "CreateOptions",
        Operation::Update => "UpdateOptions",
        Operation::Delete => "DeleteOptions",
    }
    .into();
    options["apiVersion"] = "meta.k8s.io/v1".into();
    options
}
