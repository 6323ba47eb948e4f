#!/usr/bin/env bash
# Builds cert-manager's programs and Helm into a folder, with cert-manager's own chart: `install.sh FOLDER`.
set -euo pipefail
folder=$1
go build -trimpath -o "$folder/cert-manager" .
go list -m -f '{{.Version}} {{.Dir}}/deploy/charts/cert-manager' github.com/cert-manager/cert-manager > "$folder/chart"
cd ../helm
go build -trimpath -o "$folder/helm" helm.sh/helm/v4/cmd/helm
