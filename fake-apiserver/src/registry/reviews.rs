//! The reviews: questions that are answered on creation and stored nowhere.

use super::kind::Kind;

const fn review(group: &'static str, resource: &'static str, singular: &'static str, kind: &'static str) -> Kind {
    Kind { group, resource, singular, kind, namespaced: false, verbs: &["create"], is_review: true, ..Kind::ORDINARY }
}

const AUTHENTICATION: &str = "authentication.k8s.io";
const AUTHORIZATION: &str = "authorization.k8s.io";

pub(super) const TOKEN_REVIEW: Kind = review(AUTHENTICATION, "tokenreviews", "tokenreview", "TokenReview");
pub(super) const SELF_SUBJECT_REVIEW: Kind =
    review(AUTHENTICATION, "selfsubjectreviews", "selfsubjectreview", "SelfSubjectReview");
pub(super) const SUBJECT_ACCESS_REVIEW: Kind =
    review(AUTHORIZATION, "subjectaccessreviews", "subjectaccessreview", "SubjectAccessReview");
pub(super) const LOCAL_SUBJECT_ACCESS_REVIEW: Kind = Kind {
    namespaced: true,
    ..review(AUTHORIZATION, "localsubjectaccessreviews", "localsubjectaccessreview", "LocalSubjectAccessReview")
};
pub(super) const SELF_SUBJECT_ACCESS_REVIEW: Kind =
    review(AUTHORIZATION, "selfsubjectaccessreviews", "selfsubjectaccessreview", "SelfSubjectAccessReview");
pub(super) const SELF_SUBJECT_RULES_REVIEW: Kind =
    review(AUTHORIZATION, "selfsubjectrulesreviews", "selfsubjectrulesreview", "SelfSubjectRulesReview");
