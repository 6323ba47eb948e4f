#!/usr/bin/env bash
# Builds Kubernetes' tests into a folder: `install.sh FOLDER api`, those of its API server; `install.sh FOLDER controllers`, those of controllers, which
# they bring along.
#
# The versions are the real control plane's. Go replaces single files of a module only where the module is a folder of its own, so it gets links to
# where Go has downloaded them. `skipped.txt` lists the tests that cannot run where a server is a program.
set -euo pipefail
source=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$1 set=$2
kubernetes=k8s.io/kubernetes
definitions=k8s.io/apiextensions-apiserver
cd "$folder"
cp "$source"/../../control-plane/go.{mod,sum} "$source/main.go" "$source/skipped.txt" .
for module in $kubernetes $definitions; do
    ln -sfn "$(go mod download -json $module | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')" "$(basename $module)"
    go mod edit -replace=$module=./"$(basename $module)"
done
tests=$folder/apiextensions-apiserver/test/integration
# Their etcd runs elsewhere; here it is started as for the others.
for package in integration conversion; do
    printf 'package %s\n\nimport (\n\t"testing"\n\n\t"%s/test/integration/framework"\n)\n\nfunc TestMain(m *testing.M) { framework.EtcdMain(m.Run) }\n' \
        $package $kubernetes > "main_$package.go"
done
cat > overlay.json <<END
{"Replace": {
    "$folder/kubernetes/cmd/kube-apiserver/app/testing/testserver.go": "$source/testing/testserver.go",
    "$folder/kubernetes/test/integration/framework/etcd.go": "$source/framework/etcd.go",
    "$folder/kubernetes/test/integration/framework/test_server.go": "$source/framework/test_server.go",
    "$tests/fixtures/server.go": "$source/fixtures/server.go",
    "$tests/main_test.go": "$folder/main_integration.go",
    "$tests/conversion/main_test.go": "$folder/main_conversion.go"
}}
END
go build -trimpath -o checks main.go
go build -trimpath -o test2json cmd/test2json
build() { go test -c -vet=off -trimpath -overlay=overlay.json -o "$1.test" "$2"; }
case $set in
    api) packages="apiserver/apply dryrun apiserver/admissionwebhook apiserver/cel controlplane/audit" ;;
    controllers)
        packages="certificates cronjob daemonset deployment disruption endpoints endpointslice evictions garbagecollector job namespace podgc"
        packages="$packages quota replicaset replicationcontroller statefulset ttlcontroller"
        ;;
esac
for package in $packages; do
    build "$(basename "$package")" "$kubernetes/test/integration/$package"
done
if [ "$set" = api ]; then
    # A test expects the name of its program among the managers of fields.
    build integration "$definitions/test/integration"
    build conversion "$definitions/test/integration/conversion"
fi
