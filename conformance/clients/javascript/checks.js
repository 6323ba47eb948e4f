// Checks of the official JavaScript client: a line a check, on the server of KUBECONFIG.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { stories } from './stories.js';

// The packages are installed beside the build results, whose folder is the argument.
const require = createRequire(path.join(process.argv[2], 'package.json'));
const k8s = await import(pathToFileURL(require.resolve('@kubernetes/client-node')));

const config = new k8s.KubeConfig();
config.loadFromFile(process.env.KUBECONFIG);
const core = config.makeApiClient(k8s.CoreV1Api);
const apps = config.makeApiClient(k8s.AppsV1Api);
const custom = config.makeApiClient(k8s.CustomObjectsApi);
const objects = k8s.KubernetesObjectApi.makeApiClient(config);

const refused = (code, promise) => assert.rejects(promise, (error) => error.code === code);
const as = (strategy) => k8s.setHeaderOptions('Content-Type', strategy);
const configMap = (namespace, name, more = {}) => ({
    apiVersion: 'v1', kind: 'ConfigMap', ...more, metadata: { ...more.metadata, name, namespace },
});
const create = (namespace, name, more) => core.createNamespacedConfigMap({ namespace, body: configMap(namespace, name, more) });
const deployment = (namespace, name) => apps.createNamespacedDeployment({
    namespace,
    body: {
        metadata: { name },
        spec: {
            selector: { matchLabels: { app: name } },
            template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'a', image: 'a' }] } },
        },
    },
});

// A promise with the functions that settle it, and an end to the wait.
const within = (milliseconds, start) => new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error('waited in vain')), milliseconds);
    start((value) => { clearTimeout(timer); resolve(value); }, (error) => { clearTimeout(timer); reject(error); });
});

const checks = {
    async 'typed-crud'(namespace) {
        const created = await create(namespace, 'a', { data: { k: 'ü' } });
        const read = await core.readNamespacedConfigMap({ namespace, name: 'a' });
        assert.deepEqual([read.metadata.uid, read.data], [created.metadata.uid, { k: 'ü' }]);
        read.data.k = 'v';
        const replaced = await core.replaceNamespacedConfigMap({ namespace, name: 'a', body: read });
        assert.equal(replaced.data.k, 'v');
        await refused(409, core.replaceNamespacedConfigMap({ namespace, name: 'a', body: created }));
        assert.equal((await core.deleteNamespacedConfigMap({ namespace, name: 'a' })).status, 'Success');
        await refused(404, core.readNamespacedConfigMap({ namespace, name: 'a' }));
    },
    async 'errors-have-statuses'(namespace) {
        await create(namespace, 'a');
        await assert.rejects(create(namespace, 'a'), (error) => JSON.parse(error.body).reason === 'AlreadyExists');
        await refused(422, create(namespace, 'No_Name'));
    },
    async 'dates-are-dates'(namespace) {
        const created = await create(namespace, 'a');
        assert.ok(created.metadata.creationTimestamp instanceof Date);
    },
    async 'lists-and-selectors'(namespace) {
        for (const name of ['a', 'b', 'c']) await create(namespace, name, { metadata: { labels: { name } } });
        const found = await core.listNamespacedConfigMap({ namespace, labelSelector: 'name in (a,b)' });
        assert.deepEqual(found.items.map((item) => item.metadata.name), ['a', 'b']);
        const page = await core.listNamespacedConfigMap({ namespace, labelSelector: 'name', limit: 2 });
        const rest = await core.listNamespacedConfigMap({ namespace, labelSelector: 'name', limit: 2, _continue: page.metadata._continue });
        assert.deepEqual([page.items.length, rest.items.length], [2, 1]);
    },
    async 'patch-json'(namespace) {
        await create(namespace, 'a', { data: { k: 'v' } });
        const body = [{ op: 'replace', path: '/data/k', value: 'w' }];
        const patched = await core.patchNamespacedConfigMap({ namespace, name: 'a', body }, as(k8s.PatchStrategy.JsonPatch));
        assert.equal(patched.data.k, 'w');
    },
    async 'patch-merge'(namespace) {
        await create(namespace, 'a', { data: { k: 'v', l: 'x' } });
        const body = { data: { l: null } };
        const patched = await core.patchNamespacedConfigMap({ namespace, name: 'a', body }, as(k8s.PatchStrategy.MergePatch));
        assert.deepEqual(patched.data, { k: 'v' });
    },
    async 'patch-strategic'(namespace) {
        await deployment(namespace, 'd');
        const body = { spec: { template: { spec: { containers: [{ name: 'b', image: 'b' }] } } } };
        const patched = await apps.patchNamespacedDeployment({ namespace, name: 'd', body }, as(k8s.PatchStrategy.StrategicMergePatch));
        assert.equal(patched.spec.template.spec.containers.length, 2);
    },
    async 'server-side-apply'(namespace) {
        const apply = (fieldManager, value, force) => core.patchNamespacedConfigMap(
            { namespace, name: 'a', fieldManager, force, body: configMap(namespace, 'a', { data: { k: value } }) },
            as(k8s.PatchStrategy.ServerSideApply),
        );
        assert.equal((await apply('one', 'v')).metadata.managedFields[0].operation, 'Apply');
        await refused(409, apply('two', 'w'));
        assert.equal((await apply('two', 'w', true)).data.k, 'w');
    },
    async 'status-and-scale'(namespace) {
        await deployment(namespace, 'd');
        const merge = as(k8s.PatchStrategy.MergePatch);
        const status = await apps.patchNamespacedDeploymentStatus({ namespace, name: 'd', body: { status: { replicas: 2 } } }, merge);
        const scale = await apps.patchNamespacedDeploymentScale({ namespace, name: 'd', body: { spec: { replicas: 3 } } }, merge);
        assert.deepEqual([status.status.replicas, status.metadata.generation, scale.spec.replicas], [2, 1, 3]);
    },
    async 'watch'(namespace) {
        const from = (await core.listNamespacedConfigMap({ namespace })).metadata.resourceVersion;
        await create(namespace, 'a');
        await core.deleteNamespacedConfigMap({ namespace, name: 'a' });
        const seen = [];
        let controller;
        await within(20_000, async (resolve, reject) => {
            const query = { resourceVersion: from, fieldSelector: 'metadata.name=a' };
            controller = await new k8s.Watch(config).watch(`/api/v1/namespaces/${namespace}/configmaps`, query, (type) => {
                seen.push(type);
                if (type === 'DELETED') resolve();
            }, reject);
        });
        controller.abort();
        assert.deepEqual(seen, ['ADDED', 'DELETED']);
    },
    async 'informer'(namespace) {
        await create(namespace, 'a');
        const informer = k8s.makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, () => core.listNamespacedConfigMap({ namespace }));
        const event = (name, kind) => within(20_000, (resolve) => informer.on(kind, (object) => object.metadata.name === name && resolve()));
        const [first, second, changed, gone] = [event('a', 'add'), event('b', 'add'), event('b', 'update'), event('a', 'delete')];
        await informer.start();
        await first;
        await create(namespace, 'b');
        await second;
        await core.patchNamespacedConfigMap({ namespace, name: 'b', body: { data: { k: 'v' } } }, as(k8s.PatchStrategy.MergePatch));
        await changed;
        await core.deleteNamespacedConfigMap({ namespace, name: 'a' });
        await gone;
        assert.equal(informer.get('b', namespace).data.k, 'v');
        await informer.stop();
    },
    async 'object-api'(namespace) {
        const created = await objects.create(configMap(namespace, 'a', { data: { k: 'v' } }));
        const read = await objects.read(configMap(namespace, 'a'));
        assert.equal(read.metadata.uid, created.metadata.uid);
        const patched = await objects.patch(configMap(namespace, 'a', { data: { k: 'w' } }));
        const listed = await objects.list('v1', 'ConfigMap', namespace, undefined, undefined, undefined, 'metadata.name=a');
        assert.deepEqual([patched.data.k, listed.items.length], ['w', 1]);
        await objects.delete(configMap(namespace, 'a'));
        await refused(404, objects.read(configMap(namespace, 'a')));
    },
    async 'delete-collection'(namespace) {
        await create(namespace, 'a', { metadata: { labels: { x: 'y' } } });
        await create(namespace, 'b');
        await core.deleteCollectionNamespacedConfigMap({ namespace, labelSelector: 'x=y' });
        await refused(404, core.readNamespacedConfigMap({ namespace, name: 'a' }));
        await core.readNamespacedConfigMap({ namespace, name: 'b' });
    },
    async 'tokens-and-reviews'(namespace) {
        await core.createNamespacedServiceAccount({ namespace, body: { metadata: { name: 'a' } } });
        const request = await core.createNamespacedServiceAccountToken({ namespace, name: 'a', body: { spec: { audiences: [] } } });
        const reviews = config.makeApiClient(k8s.AuthenticationV1Api);
        const review = await reviews.createTokenReview({ body: { spec: { token: request.status.token } } });
        assert.equal(review.status.user.username, `system:serviceaccount:${namespace}:a`);
    },
    async 'access-review'() {
        const reviews = config.makeApiClient(k8s.AuthorizationV1Api);
        const body = { spec: { resourceAttributes: { verb: 'get', resource: 'pods' } } };
        assert.equal((await reviews.createSelfSubjectAccessReview({ body })).status.allowed, true);
    },
    async 'custom-resources'(namespace) {
        const definitions = config.makeApiClient(k8s.ApiextensionsV1Api);
        const schema = {
            type: 'object',
            properties: { spec: { type: 'object', properties: { watts: { type: 'integer', minimum: 0 }, bulbs: { type: 'integer', _default: 1 } } } },
        };
        const name = 'lamps.example.com';
        await definitions.createCustomResourceDefinition({
            body: {
                metadata: { name },
                spec: {
                    group: 'example.com', scope: 'Namespaced', names: { plural: 'lamps', kind: 'Lamp' },
                    versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
                },
            },
        });
        let controller;
        await within(20_000, async (resolve, reject) => {
            const url = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
            controller = await new k8s.Watch(config).watch(url, { fieldSelector: `metadata.name=${name}` }, (_type, object) => {
                if (object.status.conditions?.some(({ type, status }) => type === 'Established' && status === 'True')) resolve();
            }, reject);
        });
        controller.abort();
        const place = { group: 'example.com', version: 'v1', namespace, plural: 'lamps' };
        const lamp = (watts) => ({ apiVersion: 'example.com/v1', kind: 'Lamp', metadata: { name: 'hall' }, spec: { watts } });
        const created = await custom.createNamespacedCustomObject({ ...place, body: lamp(40) });
        assert.deepEqual(created.spec, { watts: 40, bulbs: 1 });
        const merge = as(k8s.PatchStrategy.MergePatch);
        await refused(422, custom.patchNamespacedCustomObject({ ...place, name: 'hall', body: { spec: { watts: -1 } } }, merge));
        assert.equal((await custom.listNamespacedCustomObject(place)).items.length, 1);
        await custom.deleteNamespacedCustomObject({ ...place, name: 'hall' });
        await definitions.deleteCustomResourceDefinition({ name });
    },
    async 'version-and-groups'() {
        const { gitVersion } = await config.makeApiClient(k8s.VersionApi).getCode();
        const { groups } = await config.makeApiClient(k8s.ApisApi).getAPIVersions();
        assert.deepEqual([gitVersion, groups.some(({ name }) => name === 'apps')], ['v1.37.1', true]);
    },
    async 'services'(namespace) {
        const created = await core.createNamespacedService({ namespace, body: { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } } });
        assert.equal(created.spec.type, 'ClusterIP');
    },
};

const { packages } = JSON.parse(readFileSync(path.join(path.dirname(fileURLToPath(import.meta.url)), 'package-lock.json')));
console.log('client @kubernetes/client-node', packages['node_modules/@kubernetes/client-node'].version);
// Only the fake can be told what to do.
const told = process.env.FAKE_APISERVER_CONTROL_URL ? stories({ k8s, config, core, create, within }) : {};
for (const [number, [name, check]] of Object.entries({ ...checks, ...told }).entries()) {
    const namespace = `c-${number}`;
    try {
        await core.createNamespace({ body: { metadata: { name: namespace } } });
        await check(namespace);
        console.log('ok', name);
    } catch (error) {
        console.log(`FAIL ${name}: ${String(error).replace(/\s+/g, ' ').slice(0, 400)}`);
    }
}
process.exit(0);
