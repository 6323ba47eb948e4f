//! The labels of token secrets by which their uses are tracked, and the config map that says since when.

/// The config map in the namespace `kube-system` with the date since when the API server tracks uses
/// (`legacytokentracking.ConfigMapName`).
pub const TRACKING_CONFIG_MAP: &str = "kube-apiserver-legacy-service-account-token-tracking";
/// The key of that date (`legacytokentracking.ConfigMapDataKey`).
pub const TRACKED_SINCE_KEY: &str = "since";
/// Label of a token secret: the date of its last use (`serviceaccount.LastUsedLabelKey`).
pub const LAST_USED_LABEL: &str = "kubernetes.io/legacy-token-last-used";
/// Label of a token secret: the date since which it is refused (`serviceaccount.InvalidSinceLabelKey`).
pub const INVALID_SINCE_LABEL: &str = "kubernetes.io/legacy-token-invalid-since";
