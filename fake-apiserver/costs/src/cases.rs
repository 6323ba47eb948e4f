//! The requests that are measured.

/// The place of a request's number, in its path and content.
pub(crate) const NUMBER: &str = "@@@@@@";

/// The token of the user that sends them.
pub(crate) const TOKEN: &str = "costs";

/// A request, or many that differ by a number.
pub(crate) struct Template {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) media: &'static str,
    pub(crate) accept: &'static str,
    pub(crate) body: &'static str,
}

/// A kind of request.
pub struct Case {
    /// Its name in the table.
    pub name: &'static str,
    /// Requests that are sent before, once.
    pub(crate) before: &'static [Template],
    /// A request that is sent before, once for each of those that are measured.
    pub(crate) each: Option<Template>,
    pub(crate) request: Template,
    /// The number of watches that see what the request writes.
    pub(crate) watches: usize,
    /// Whether the content is sent as protobuf.
    pub(crate) protobuf: bool,
    /// Whether a webhook is asked.
    pub(crate) webhook: bool,
}

const JSON: &str = "application/json";
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

const MAPS: &str = "/api/v1/namespaces/default/configmaps";
const PODS: &str = "/api/v1/namespaces/default/pods";

const fn template(method: &'static str, path: &'static str, body: &'static str) -> Template {
    Template { method, path, media: JSON, accept: JSON, body }
}

const fn get(path: &'static str) -> Template {
    template("GET", path, "")
}

const fn post(path: &'static str, body: &'static str) -> Template {
    template("POST", path, body)
}

const fn patch(media: &'static str, path: &'static str, body: &'static str) -> Template {
    Template { method: "PATCH", path, media, accept: JSON, body }
}

const fn case(name: &'static str, before: &'static [Template], request: Template) -> Case {
    Case { name, before, each: None, request, watches: 0, protobuf: false, webhook: false }
}

const MAP: Template = post(MAPS, include_str!("objects/config_map.json"));
const POD: Template = post(PODS, include_str!("objects/pod.json"));
const DEPLOYMENT: Template =
    post("/apis/apps/v1/namespaces/default/deployments", include_str!("objects/deployment.json"));
const DEFINITION: Template =
    post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", include_str!("objects/definition.json"));
const LAMP: Template = post("/apis/example.com/v1/namespaces/default/lamps", include_str!("objects/lamp.json"));
const QUOTA: Template = post("/api/v1/namespaces/default/resourcequotas", r#"{"metadata": {"name": "quota"}}"#);
const QUOTA_STATUS: Template = template(
    "PUT",
    "/api/v1/namespaces/default/resourcequotas/quota/status",
    r#"{"metadata": {"name": "quota"}, "status": {"hard": {"configmaps": "1G"}, "used": {"configmaps": "0"}}}"#,
);
const POLICY: Template =
    post("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies", include_str!("objects/policy.json"));
const BINDING: Template = post(
    "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
    r#"{"metadata": {"name": "policy"}, "spec": {"policyName": "policy", "validationActions": ["Deny"]}}"#,
);

/// All of them.
pub const CASES: &[Case] = &[
    case("get a config map", &[MAP], get("/api/v1/namespaces/default/configmaps/map-000000")),
    case("get a pod", &[POD], get("/api/v1/namespaces/default/pods/pod-000000")),
    case(
        "get a pod in protobuf",
        &[POD],
        Template { accept: PROTOBUF, ..get("/api/v1/namespaces/default/pods/pod-000000") },
    ),
    Case { each: Some(MAP), ..case("list 100 config maps", &[], get(MAPS)) },
    Case { each: Some(POD), ..case("list 100 pods", &[], get(PODS)) },
    case("create a config map", &[], MAP),
    case("create a pod", &[], POD),
    Case {
        protobuf: true,
        ..case("create a pod in protobuf", &[], Template { media: PROTOBUF, accept: PROTOBUF, ..POD })
    },
    case("create a deployment", &[], DEPLOYMENT),
    case("create a custom resource", &[DEFINITION], LAMP),
    case(
        "update a config map",
        &[MAP],
        template("PUT", "/api/v1/namespaces/default/configmaps/map-000000", include_str!("objects/changed_map.json")),
    ),
    case(
        "patch a config map by a merge",
        &[MAP],
        patch(MERGE, "/api/v1/namespaces/default/configmaps/map-000000", r#"{"data": {"text": "@@@@@@"}}"#),
    ),
    case(
        "patch a pod strategically",
        &[POD],
        patch(STRATEGIC, "/api/v1/namespaces/default/pods/pod-000000", r#"{"metadata": {"labels": {"at": "@@@@@@"}}}"#),
    ),
    case(
        "patch a deployment strategically",
        &[DEPLOYMENT],
        patch(
            STRATEGIC,
            "/apis/apps/v1/namespaces/default/deployments/web-000000",
            r#"{"spec": {"template": {"spec": {"containers": [{"name": "app", "image": "app:@@@@@@"}]}}}}"#,
        ),
    ),
    case(
        "patch a custom resource by a merge",
        &[DEFINITION, LAMP],
        patch(MERGE, "/apis/example.com/v1/namespaces/default/lamps/lamp-000000", r#"{"spec": {"color": "@@@@@@"}}"#),
    ),
    case(
        "apply what changes nothing",
        &[],
        patch(
            APPLY,
            "/api/v1/namespaces/default/configmaps/map?fieldManager=one",
            include_str!("objects/same_map.json"),
        ),
    ),
    case(
        "apply what changes a deployment",
        &[DEPLOYMENT],
        patch(
            APPLY,
            "/apis/apps/v1/namespaces/default/deployments/web-000000?fieldManager=one&force=true",
            include_str!("objects/applied_deployment.json"),
        ),
    ),
    Case {
        each: Some(MAP),
        ..case("delete a config map", &[], template("DELETE", "/api/v1/namespaces/default/configmaps/map-@@@@@@", ""))
    },
    Case { watches: 10, ..case("create a config map that ten watches see", &[], MAP) },
    case("create a config map past a quota", &[QUOTA, QUOTA_STATUS], MAP),
    case("create a config map past a policy", &[POLICY, BINDING], MAP),
    Case { webhook: true, ..case("create a config map past a webhook", &[], MAP) },
];

/// The configuration of the webhook, whose content is known once there is one.
pub(crate) const WEBHOOK: Template = post("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", "");

/// The watch of what is written.
pub(crate) const WATCH: Template = get("/api/v1/namespaces/default/configmaps?watch=true");

impl Template {
    /// The text of the request of that number.
    pub(crate) fn request(&self, number: u64) -> Vec<u8> {
        let number = format!("{number:06}");
        self.with_body(&number, self.body.replace(NUMBER, &number).into_bytes())
    }

    /// The same with another content, in which the number's place is that of number 0.
    pub(crate) fn with_content(&self, number: u64, zeroth: &[u8]) -> Vec<u8> {
        let number = format!("{number:06}");
        let mut content = zeroth.to_vec();
        for at in 0..content.len().saturating_sub(10) {
            if content[at..].starts_with(b"pod-000000") {
                content[at + 4..at + 10].copy_from_slice(number.as_bytes());
            }
        }
        self.with_body(&number, content)
    }

    /// The same with any content.
    pub(crate) fn with_body(&self, number: &str, body: Vec<u8>) -> Vec<u8> {
        let Template { method, path, media, accept, .. } = self;
        let (path, length) = (path.replace(NUMBER, number), body.len());
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: costs\r\nauthorization: Bearer {TOKEN}\r\naccept: {accept}\r\ncontent-type: {media}\r\ncontent-length: {length}\r\n\r\n"
        );
        [head.into_bytes(), body].concat()
    }
}
