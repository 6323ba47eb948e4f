//! Who a loop is.

/// A loop as others see it.
#[derive(Debug)]
pub struct Profile {
    /// Its name in kube-controller-manager's `--controllers`, such as `deployment-controller`.
    pub name: &'static str,
    /// Its name before Kubernetes 1.27, which is still accepted.
    pub alias: &'static str,
    /// The user that its requests are of, such as `system:serviceaccount:kube-system:deployment-controller`.
    pub user: &'static str,
    /// The program in its requests' `User-Agent`, which is its field manager: `kube-controller-manager`, `kube-scheduler` or `kubelet`.
    pub program: &'static str,
    /// The component in its events, such as `deployment-controller`.
    pub component: &'static str,
}
