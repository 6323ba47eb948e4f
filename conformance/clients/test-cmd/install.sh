#!/usr/bin/env bash
# Puts Kubernetes' tests of kubectl, which are scripts, into a folder, with the programs that they test: `install.sh FOLDER PROGRAMS`.
#
# The versions are the real control plane's. The scripts and their manifests are copied, since they write beside themselves.
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$1 programs=$2
cd "$source/../../control-plane"
module=$(go mod download -json k8s.io/kubernetes | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')
rm -rf "$folder/kubernetes"
for part in hack test/cmd test/fixtures test/e2e/testing-manifests third_party/forked/shell2junit; do
    mkdir -p "$folder/kubernetes/$part"
    cp -r "$module/$part/." "$folder/kubernetes/$part"
done
chmod -R u+w "$folder/kubernetes"
# In modules no file is executable.
find "$folder/kubernetes/test/fixtures/pkg/kubectl/plugins" -name 'kubectl-*' -type f -exec chmod +x {} +
# The one manifest that they read from the web is also a file of theirs.
sed -i 's|https://raw.githubusercontent.com/kubernetes/kubernetes/master/||' "$folder/kubernetes/test/cmd/generic-resources.sh"
bin=$folder/kubernetes/_output/bin
mkdir -p "$bin"
ln -sf "$programs/kubectl" "$bin/kubectl"
go build -trimpath -o "$folder/kubectl-convert" k8s.io/kubernetes/cmd/kubectl-convert
ln -sf "$folder/kubectl-convert" "$bin/kubectl-convert"
