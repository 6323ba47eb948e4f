//! Reviews and refusals. Answers as a real server's, but for the authorizer.

use super::*;
use crate::auth::authorization_options::AuthorizationOptions;
use crate::auth::authorizer::{Attributes, Authorizer, AuthorizerOf, Decision, Rules, Target, forbidden};
use crate::auth::chain::{Authorizers, Chain, Decider, Link};
use crate::auth::modes::{AllowAuthenticated, AlwaysDeny, AuthorizationMode};
use crate::auth::reviews::{access, own, token};
use crate::deadline::Deadline;
use crate::error::ApiResult;
use crate::store::Store;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

static NOTHING: LazyLock<Store> = LazyLock::new(|| Store::new(1));

/// The authorizer, in a cluster without objects.
fn by(authorizer: &dyn Authorizer) -> AuthorizerOf<'_> {
    AuthorizerOf { authorizer, store: &NOTHING }
}

fn alice() -> User {
    let groups = vec!["devs".into(), "system:authenticated".into()];
    User { name: "alice".into(), uid: "alice-uid".into(), groups, ..User::default() }
}

#[test]
fn a_token_review_tells_who() {
    let review = |token: &str| {
        let body =
            json!({"metadata": {"labels": {"a": "b"}}, "spec": {"token": token}, "status": {"authenticated": true}});
        let mut review = token::review(&authenticator(), &Others::default(), body, now(), &Cluster::new()).unwrap();
        assert_eq!(review["kind"], "TokenReview");
        assert_eq!(review["apiVersion"], "authentication.k8s.io/v1");
        assert_eq!(review["metadata"], json!({"labels": {"a": "b"}}));
        assert_eq!(review["spec"], json!({"token": token}));
        review["status"].take()
    };
    let anonymous = json!({
        "authenticated": true,
        "user": {"username": "system:anonymous", "groups": ["system:unauthenticated"]},
        "audiences": [ISSUER],
    });
    for (token, status) in [
        (
            "user-token".to_string(),
            json!({
                "authenticated": true,
                "user": {"username": "alice", "uid": "alice-uid", "groups": ["devs", "system:authenticated"]},
                "audiences": [ISSUER],
            }),
        ),
        ("nope".into(), json!({"user": {}, "error": "invalid bearer token"})),
        (
            sign(&with(bound_claims(), json!({"nbf": after(61).as_second()}))),
            json!({"user": {}, "error": "[invalid bearer token, service account token is not valid yet]"}),
        ),
        (" user-token".into(), anonymous.clone()),
        (" ".into(), anonymous),
    ] {
        assert_eq!(review(&token), status, "{token:?}");
    }
}

#[test]
fn a_token_review_needs_a_token() {
    let error =
        token::review(&authenticator(), &Others::default(), json!({"spec": {}}), now(), &Cluster::new()).unwrap_err();
    assert_eq!(
        (error.code(), error.to_string().as_str()),
        (400, "token is required for TokenReview in authentication")
    );
}

#[test]
fn what_the_client_put_into_the_status_of_a_token_review_stays() {
    let status = json!({"authenticated": true, "error": "a", "audiences": ["x"], "user": {"username": "z"}});
    let body = json!({"spec": {"token": "z"}, "status": status});
    let review = token::review(&authenticator(), &Others::default(), body, now(), &Cluster::new()).unwrap();
    let expected = json!({"error": "invalid bearer token", "audiences": ["x"], "user": {"username": "z"}});
    assert_eq!(review["status"], expected);
}

#[test]
fn who_am_i() {
    assert_eq!(
        own::subject(&alice(), now()),
        json!({
            "kind": "SelfSubjectReview",
            "apiVersion": "authentication.k8s.io/v1",
            "metadata": {"creationTimestamp": "2026-11-21T04:00:00Z"},
            "status": {"userInfo": {"username": "alice", "uid": "alice-uid", "groups": ["devs", "system:authenticated"]}},
        })
    );
}

#[test]
fn what_may_i_do() {
    let review =
        own::rules(by(&AllowAuthenticated), &alice(), &json!({"spec": {"namespace": "default"}}), Deadline::never())
            .unwrap();
    assert_eq!(
        review,
        json!({
            "kind": "SelfSubjectRulesReview",
            "apiVersion": "authorization.k8s.io/v1",
            "metadata": {},
            "spec": {},
            "status": {
                "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
                "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
                "incomplete": false,
            },
        })
    );
    let error = own::rules(by(&AllowAuthenticated), &alice(), &json!({}), Deadline::never()).unwrap_err();
    assert_eq!((error.code(), error.to_string().as_str()), (400, "no namespace on request"));
}

/// An authorizer that allows the requests in a list, with a reason.
struct Only(&'static [&'static str]);

impl Authorizer for Only {
    fn authorize(&self, _: &Store, attributes: &Attributes<'_>) -> ApiResult<Decision> {
        let Attributes { user, verb, target, .. } = attributes;
        let asked = match target {
            Target::Path(path) => format!("{} {verb} {path}", user.name),
            Target::Resource { group, version, resource, subresource, namespace, name } => {
                format!("{} {verb} {group}/{version} {namespace}/{resource}/{name}/{subresource}", user.name)
            }
        };
        match self.0.contains(&asked.as_str()) {
            true => Ok(Decision::Allow("listed".into())),
            false => Ok(Decision::NoOpinion(asked)),
        }
    }

    fn rules(&self, _: &Store, _user: &User, _namespace: &str, _deadline: &Deadline) -> ApiResult<Rules> {
        Ok(Rules::default())
    }
}

#[test]
fn access_reviews_ask_the_authorizer() {
    let only = Only(&["bob get apps/* test/deployments/web/scale", "alice get /healthz"]);
    let resource = json!({
        "verb": "get", "group": "apps", "resource": "deployments", "subresource": "scale", "name": "web",
        "namespace": "test",
    });
    let review =
        access::subject(by(&only), json!({"spec": {"user": "bob", "resourceAttributes": resource}}), Deadline::never())
            .unwrap();
    assert_eq!(
        review,
        json!({
            "kind": "SubjectAccessReview",
            "apiVersion": "authorization.k8s.io/v1",
            "spec": {"user": "bob", "resourceAttributes": resource},
            "status": {"allowed": true, "reason": "listed"},
        })
    );
    let body = json!({"spec": {"nonResourceAttributes": {"verb": "get", "path": "/healthz"}}});
    let review = access::own(by(&only), &alice(), body, Deadline::never()).unwrap();
    assert_eq!(review["status"], json!({"allowed": true, "reason": "listed"}));
    let body = json!({"spec": {"groups": ["x"], "resourceAttributes": {"version": "v1", "namespace": "default"}}});
    let review = access::local(by(&only), "default", body, Deadline::never()).unwrap();
    assert_eq!(review["status"], json!({"allowed": false, "reason": "  /v1 default///"}));
    assert_eq!(review["metadata"], json!({"namespace": "default"}));
}

fn message(outcome: ApiResult<Value>) -> String {
    let error = outcome.unwrap_err();
    assert_eq!(error.code(), 422, "{error}");
    error.to_string().strip_prefix(".authorization.k8s.io \"\" is invalid: ").unwrap().to_string()
}

#[test]
fn access_reviews_must_make_sense() {
    let one = "spec: Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified";
    let user = "spec.user: Invalid value: \"\": at least one of user or group must be specified";
    let subject = |body: Value| message(access::subject(by(&AllowAuthenticated), body, Deadline::never()));
    let local = |body: Value| message(access::local(by(&AllowAuthenticated), "default", body, Deadline::never()));
    let attributes = json!({"verb": "get", "resource": "pods", "namespace": "d"});
    let path = json!({"path": "/x", "verb": "get"});
    assert_eq!(subject(json!({"spec": {"user": "a"}})), one);
    assert_eq!(subject(json!({"spec": {"resourceAttributes": attributes}})), user);
    assert_eq!(message(access::own(by(&AllowAuthenticated), &alice(), json!({}), Deadline::never())), one);
    assert_eq!(
        subject(json!({"metadata": {"name": "x"}, "spec": {}})),
        format!("[{one}, {user}, metadata: Invalid value: {{\"name\":\"x\"}}: must be empty]")
    );
    assert_eq!(
        subject(json!({"spec": {"user": "a", "resourceAttributes": attributes, "nonResourceAttributes": path}})),
        one.replace("null", "{\"Path\":\"/x\",\"Verb\":\"get\"}")
    );
    assert_eq!(
        local(json!({"spec": {"user": "a", "resourceAttributes": attributes}})),
        "spec.resourceAttributes.namespace: Invalid value: \"d\": must match metadata.namespace"
    );
    assert_eq!(
        local(json!({"spec": {"user": "a", "nonResourceAttributes": path}})),
        "spec.nonResourceAttributes: Invalid value: {\"Path\":\"/x\",\"Verb\":\"get\"}: disallowed on this kind of request"
    );
    let body = json!({"metadata": {"namespace": "other"}, "spec": {"user": "a", "resourceAttributes": attributes}});
    let error = access::local(by(&AllowAuthenticated), "default", body, Deadline::never()).unwrap_err();
    assert_eq!(error.code(), 400);
}

#[test]
fn metadata_that_typed_clients_send_is_empty() {
    let metadata = json!({"creationTimestamp": null, "name": "", "labels": {}, "managedFields": [{"manager": "x"}]});
    let body = json!({"metadata": metadata, "spec": {"user": "a", "nonResourceAttributes": {"path": "/"}}});
    assert!(access::subject(by(&AllowAuthenticated), body, Deadline::never()).is_ok());
}

#[test]
fn selectors_are_checked_and_what_is_unknown_is_reported() {
    let review = |kind: &str, selector: Value| {
        let body = json!({"spec": {"user": "a", "resourceAttributes": {kind: selector}}});
        access::subject(by(&AllowAuthenticated), body, Deadline::never())
    };
    let (known, unknown) = (
        json!({"key": "x", "operator": "In", "values": ["x"]}),
        json!({"key": "x", "operator": "Zork", "values": ["x"]}),
    );
    for kind in ["fieldSelector", "labelSelector"] {
        let path = format!("spec.resourceAttributes.{kind}");
        assert_eq!(
            message(review(kind, json!({}))),
            format!(
                "{path}.requirements: Required value: when {path} is specified, requirements or rawSelector is required"
            )
        );
        assert_eq!(
            message(review(kind, json!({"rawSelector": "a=b", "requirements": [known]}))),
            format!("{path}.rawSelector: Invalid value: \"a=b\": may not specified at the same time as requirements")
        );
        for (requirements, how) in [
            (json!([known]), None),
            (json!([unknown]), Some("ignored")),
            (json!([unknown, known]), Some("partially ignored")),
        ] {
            let review = review(kind, json!({"requirements": requirements})).unwrap();
            let text = how.map(|how| format!("{path} {how} due to parse error"));
            assert_eq!(review["status"]["evaluationError"].as_str(), text.as_deref());
        }
    }
    let bad = json!([{"operator": "In"}, {"key": "x", "operator": "Exists", "values": ["x"]}, unknown]);
    let path = "spec.resourceAttributes.fieldSelector.requirements";
    assert_eq!(
        message(review("fieldSelector", json!({"requirements": bad}))),
        format!(
            "[{path}[0].key: Required value: must be specified, {path}[0].values: Required value: must be specified when \
             `operator` is 'In' or 'NotIn', {path}[1].values: Forbidden: may not be specified when `operator` is 'Exists' \
             or 'DoesNotExist']"
        )
    );
}

#[test]
fn nobody_may_only_look_whether_the_server_is_well() {
    let (nobody, alice) = (User::anonymous(), alice());
    let pods =
        Target::Resource { group: "", version: "v1", resource: "pods", subresource: "", namespace: "", name: "" };
    for (verb, target, expected) in [
        ("get", Target::Path("/healthz"), true),
        ("get", Target::Path("/livez"), true),
        ("get", Target::Path("/readyz"), true),
        ("get", Target::Path("/version"), true),
        ("get", Target::Path("/version/"), true),
        ("get", Target::Path("/livez/ping"), false),
        ("get", Target::Path("/healthz/"), false),
        ("post", Target::Path("/healthz"), false),
        ("get", Target::Path("/api"), false),
        ("get", Target::Path("/openid/v1/jwks"), false),
        ("list", pods, false),
    ] {
        let allowed = |user| {
            let decision = AllowAuthenticated.authorize(&NOTHING, &Attributes::new(user, verb, target));
            matches!(decision, Ok(Decision::Allow(_)))
        };
        assert_eq!(allowed(&nobody), expected, "{verb} {target:?}");
        assert!(allowed(&alice));
    }
}

#[test]
fn refusals_say_what_was_refused() {
    let user = User::anonymous();
    let resource = |group, resource, subresource, namespace, name| Target::Resource {
        group,
        version: "v1",
        resource,
        subresource,
        namespace,
        name,
    };
    for (verb, target, expected) in [
        (
            "list",
            resource("", "pods", "", "default", ""),
            json!({
                "message": "pods is forbidden: User \"system:anonymous\" cannot list resource \"pods\" in API group \"\" in the namespace \"default\"",
                "details": {"kind": "pods"},
            }),
        ),
        (
            "get",
            resource("apps", "deployments", "scale", "default", "x"),
            json!({
                "message": "deployments.apps \"x\" is forbidden: User \"system:anonymous\" cannot get resource \"deployments/scale\" in API group \"apps\" in the namespace \"default\"",
                "details": {"name": "x", "group": "apps", "kind": "deployments"},
            }),
        ),
        (
            "list",
            resource("", "nodes", "", "", ""),
            json!({
                "message": "nodes is forbidden: User \"system:anonymous\" cannot list resource \"nodes\" in API group \"\" at the cluster scope",
                "details": {"kind": "nodes"},
            }),
        ),
        (
            "get",
            Target::Path("/a<b>&c"),
            json!({
                "message": "forbidden: User \"system:anonymous\" cannot get path \"/a&lt;b&gt;&amp;c\"",
                "details": {},
            }),
        ),
    ] {
        let error = forbidden(&Attributes::new(&user, verb, target), "");
        let status: Value = serde_json::to_value(error.status()).unwrap().into();
        assert_eq!((&status["message"], &status["details"]), (&expected["message"], &expected["details"]));
        assert_eq!((&status["reason"], &status["code"]), (&json!("Forbidden"), &json!(403)));
    }
    let target = Target::Path("/x");
    let error = forbidden(&Attributes::new(&user, "get", target), "<because>");
    assert_eq!(error.to_string(), "forbidden: User \"system:anonymous\" cannot get path \"/x\": <because>");
}

#[test]
fn modes_are_asked_in_order() {
    let union = |modes: &[AuthorizationMode]| {
        let link = |mode: &AuthorizationMode| {
            let own: Arc<dyn Authorizer> = match mode {
                AuthorizationMode::AlwaysDeny => Arc::new(AlwaysDeny),
                _ => Arc::new(AllowAuthenticated),
            };
            Link::new(*mode, mode.authorizer_name(), Decider::Own(own))
        };
        Authorizers::new(Chain::new(modes.iter().map(link).collect()))
    };
    let (deny, both) = (
        union(&[AuthorizationMode::AlwaysDeny]),
        union(&[AuthorizationMode::AlwaysDeny, AuthorizationMode::AlwaysAllow]),
    );
    let decide = |authorizer: &Authorizers, user: &User| {
        authorizer.authorize(&NOTHING, &Attributes::new(user, "get", Target::Path("/metrics"))).unwrap()
    };
    let refusal = Decision::NoOpinion("alwaysdeny: Everything is forbidden.".into());
    assert_eq!(decide(&deny, &alice()), refusal);
    assert_eq!(decide(&both, &alice()), Decision::Allow(String::new()));
    assert_eq!(decide(&both, &User::anonymous()), refusal);
    let master = User { groups: vec!["system:masters".into()], ..alice() };
    assert_eq!(decide(&deny, &master), Decision::Allow(String::new()));
    let rules = |authorizer: &dyn Authorizer| by(authorizer).rules(&alice(), "default", Deadline::never()).unwrap();
    assert_eq!(rules(&deny), Rules::default());
    assert_eq!(rules(&both), rules(&AllowAuthenticated));
}

#[test]
fn options_that_the_real_server_refuses() {
    let options = |change: fn(&mut AuthorizationOptions)| {
        let mut options = AuthorizationOptions::default();
        change(&mut options);
        options.authorizers().map(|(authorizers, _)| authorizers.len())
    };
    let refused = |why: &str| Err(why.to_owned());
    let twice = [AuthorizationMode::AlwaysAllow, AuthorizationMode::AlwaysDeny, AuthorizationMode::AlwaysAllow];
    let message =
        "authorization-mode [\"AlwaysAllow\" \"AlwaysDeny\" \"AlwaysAllow\"] has mode specified more than once";
    let with = |modes: &[AuthorizationMode]| AuthorizationOptions { modes: modes.to_vec(), ..Default::default() };
    assert_eq!(with(&twice).authorizers().map(drop), refused(message).map(drop));
    assert_eq!(with(&twice[..2]).authorizers().map(|(all, _)| all.len()), Ok(2));
    assert_eq!(options(|_| {}), Ok(1), "AlwaysAllow");
    for (change, why) in [
        (
            (|options| options.modes = vec![AuthorizationMode::Abac, AuthorizationMode::Webhook])
                as fn(&mut AuthorizationOptions),
            "[authorization-mode ABAC's authorization policy file not passed, authorization-mode Webhook's authorization config file not passed]",
        ),
        (
            |options| options.policy_file = Some("p".into()),
            "cannot specify --authorization-policy-file without mode ABAC",
        ),
        (
            |options| options.webhook.config_file = Some("w".into()),
            "cannot specify --authorization-webhook-config-file without mode Webhook",
        ),
        (
            |options| {
                options.modes = vec![AuthorizationMode::Webhook];
                options.webhook.config_file = Some("w".into());
                options.webhook.version = Some("v2".into());
            },
            "invalid authorization config: unsupported webhook authorizer version \"v2\", supported versions are \"v1\", \"v1beta1\"",
        ),
        (
            |options| {
                options.config_file = Some("c".into());
                options.webhook.authorized_ttl = Some(Duration::ZERO);
            },
            "--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined",
        ),
        (|options| options.config_file = Some("/none/c".into()), "open /none/c: no such file or directory"),
    ] {
        assert_eq!(options(change), refused(why));
    }
    let unknown = "alwaysallow".parse::<AuthorizationMode>().unwrap_err();
    assert_eq!(unknown.to_string(), "authorization-mode \"alwaysallow\" is not a valid mode");
}
