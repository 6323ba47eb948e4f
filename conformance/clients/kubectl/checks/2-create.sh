# The generators of `create` and `run`, and credentials.

check:create-configmap() {
    echo hello > hello.txt
    k create configmap c --from-literal=a=1 --from-file=hello.txt
    is "$(field cm/c .data.a)" 1
    is "$(field cm/c '.data.hello\.txt')" hello
    refused 'already exists' k create configmap c
}
check:create-secret-generic() {
    k create secret generic s --from-literal=a=1
    is "$(field secret/s .data.a)" MQ==
    is "$(field secret/s .type)" Opaque
}
check:create-secret-tls() {
    openssl req -x509 -newkey rsa:2048 -nodes -keyout tls.key -out tls.crt -subj /CN=a -days 1
    k create secret tls s --cert=tls.crt --key=tls.key
    is "$(field secret/s .type)" kubernetes.io/tls
}
check:create-secret-docker-registry() {
    k create secret docker-registry s --docker-username=u --docker-password=p --docker-server=example.com
    is "$(field secret/s .type)" kubernetes.io/dockerconfigjson
}
check:create-serviceaccount-and-token() {
    k create serviceaccount a
    local token
    token=$(k create token a --duration=1h --audience=x)
    is "$(tr . '\n' <<<"$token" | wc -l)" 3
    k create secret generic s
    k create token a --bound-object-kind=Secret --bound-object-name=s
}
check:token-authenticates() {
    k create serviceaccount a
    has "$(k --token="$(k create token a)" auth whoami)" "system:serviceaccount:$ns:a"
    refused Unauthorized k --token=wrong get pods
}
check:create-role-and-rolebinding() {
    k create role r --verb=get,list --resource=pods,deployments.apps
    k create rolebinding b --role=r --user=jane --serviceaccount="$ns:a"
    is "$(field role/r '.rules[*].resources[*]')" 'pods deployments'
    is "$(k auth can-i list pods --as=jane)" yes
    is "$(k auth can-i delete pods --as=jane || true)" no
    has "$(k auth can-i --list --as=jane)" 'deployments.apps'
}
check:create-clusterrole-and-clusterrolebinding() {
    k create clusterrole "$ns" --verb=get --resource=nodes
    k create clusterrolebinding "$ns" --clusterrole="$ns" --group="$ns"
    is "$(k auth can-i get nodes --as=x --as-group="$ns" 2>/dev/null)" yes
    k create clusterrole "$ns-all" --aggregation-rule=a=b
    k delete clusterrole "$ns" "$ns-all"
    k delete clusterrolebinding "$ns"
}
check:auth-reconcile() {
    k create clusterrole "$ns" --verb=get --resource=pods --dry-run=client -o yaml > role.yaml
    has "$(k auth reconcile -f role.yaml)" reconciled
    k create clusterrole "$ns" --verb=list --resource=pods --dry-run=client -o yaml > role.yaml
    has "$(k auth reconcile -f role.yaml)" reconciled
    is "$(field "clusterrole/$ns" '.rules[*].verbs[*]')" 'get list'
    k delete clusterrole "$ns"
}
check:auth-whoami() {
    has "$(k auth whoami -o yaml)" 'system:masters'
    has "$(k auth whoami --as=jane)" jane
}
check:create-deployment() {
    k create deployment d --image=nginx --replicas=2 --port=80
    is "$(field deployment/d '.spec.template.spec.containers[0].image')" nginx
    is "$(field deployment/d .spec.replicas)" 2
}
check:create-namespace() {
    k create namespace "$ns-x"
    is "$(k get namespace "$ns-x" -o 'jsonpath={.status.phase}')" Active
    k delete namespace "$ns-x" --wait=false
}
check:run-pod() {
    has "$(k run p --image=nginx --labels=a=b --env=X=y --port=80)" 'pod/p created'
    is "$(field pod/p '.spec.containers[0].env[0].value')" y
    k delete pod p --now
}
check:create-job() { k create job j --image=busybox -- date; is "$(field job/j '.spec.template.spec.containers[0].command[0]')" date; }
check:create-cronjob() { k create cronjob c --image=busybox --schedule='* * * * *' -- date; is "$(field cronjob/c .spec.schedule)" '* * * * *'; }
check:create-service() { k create service clusterip s --tcp=80:8080; is "$(field service/s '.spec.ports[0].targetPort')" 8080; }
check:create-ingress() { k create ingress i --rule='a.example.com/*=svc:80'; is "$(field ingress/i '.spec.rules[0].host')" a.example.com; }
check:create-quota() { k create quota q --hard=pods=2; is "$(field quota/q .spec.hard.pods)" 2; }
check:create-poddisruptionbudget() { k create pdb p --selector=a=b --min-available=1; is "$(field pdb/p .spec.minAvailable)" 1; }
check:create-priorityclass() { k create priorityclass "$ns" --value=7; is "$(field "priorityclass/$ns" .value)" 7; k delete priorityclass "$ns"; }
check:expose-and-autoscale() {
    k create deployment d --image=nginx
    k expose deployment d --port=80
    k autoscale deployment d --max=3 --cpu=50%
    is "$(field hpa/d .spec.maxReplicas)" 3
}
