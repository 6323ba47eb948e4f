// Stories, told by the official JavaScript client: what a server can do to a client, as a test tells it over the control port. They are those of
// docs/stories/, and the same in every language. There is a control port on the fake only.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';

// Tells the control port something, or asks it.
async function fake(method, path, words) {
    const { FAKE_APISERVER_CONTROL_URL: url, FAKE_APISERVER_CONTROL_TOKEN: token } = process.env;
    const body = words === undefined ? undefined : JSON.stringify(words);
    const answer = await fetch(`${url}/_fake/v1${path}`, { method, body, headers: { authorization: `Bearer ${token}` } });
    const said = await answer.json();
    if (!answer.ok) throw new Error(said.message);
    return said;
}

const fault = async (match, more) => (await fake('POST', '/faults', { match, ...more })).id;
const cursor = async () => (await fake('GET', '/requests?limit=0')).cursor;
// The codes of the requests since then that match; 0 is no answer.
const codes = async (since, match) => (await fake('POST', '/requests/query', { since, match })).items.map(({ code }) => code);
// The code of a call that is refused; 0 if there was no answer.
const refused = (call) => call.then(() => assert.fail('expected a refusal'), (error) => (typeof error.code === 'number' ? error.code : 0));

export const stories = ({ k8s, config, core, create, within }) => {
// The first event of a watch from a revision on, or the error in its place.
const next = async (namespace, resourceVersion) => {
    let controller;
    const event = await within(20_000, async (resolve, reject) => {
        const url = `/api/v1/namespaces/${namespace}/configmaps`;
        controller = await new k8s.Watch(config).watch(url, { resourceVersion }, (type, object) => resolve({ type, object }), reject);
    });
    controller.abort();
    return event;
};

return {
    async 'story-ambiguous-write'(namespace) {
        const since = await cursor(), on = { verbs: ['create'], resources: ['configmaps'], namespaces: [namespace] };
        await fault(on, { times: 1, actions: [{ connection: { do: 'reset', when: 'afterCommit' } }] });
        // The answer is lost, so the object may have been created or not: a get tells.
        assert.equal(await refused(create(namespace, 'a', { data: { k: 'v' } })), 0);
        assert.equal(await refused(create(namespace, 'a', { data: { k: 'v' } })), 409);
        assert.deepEqual((await core.readNamespacedConfigMap({ namespace, name: 'a' })).data, { k: 'v' });
        assert.deepEqual(await codes(since, on), [0, 409]);
    },
    async 'story-stale-read'(namespace) {
        const first = await create(namespace, 'a', { data: { k: 'old' } });
        await core.replaceNamespacedConfigMap({ namespace, name: 'a', body: { ...first, data: { k: 'new' } } });
        const on = { verbs: ['list'], namespaces: [namespace], query: { resourceVersion: '0' } };
        const id = await fault(on, { actions: [{ stale: { behind: 1 } }] });
        // Another server, whose cache is behind, is asked after a failover.
        const list = async (more) => (await core.listNamespacedConfigMap({ namespace, ...more })).items[0];
        const stale = await list({ resourceVersion: '0' });
        assert.deepEqual(stale.data, { k: 'old' });
        // An update based on the stale read conflicts, as it names the stale resourceVersion.
        const body = { ...stale, data: { k: 'wrong' } };
        assert.equal(await refused(core.replaceNamespacedConfigMap({ namespace, name: 'a', body })), 409);
        assert.deepEqual((await list()).data, { k: 'new' });
        await fake('DELETE', `/faults/${id}`);
        assert.deepEqual((await list({ resourceVersion: '0' })).data, { k: 'new' });
    },
    async 'story-throttling'(namespace) {
        const since = await cursor(), on = { verbs: ['create'], resources: ['configmaps'], namespaces: [namespace] };
        await fault(on, { sequence: ['apf-rejected', 'apf-rejected'] });
        // This client leaves it to its user to try again.
        assert.equal(await refused(create(namespace, 'a')), 429);
        assert.equal(await refused(create(namespace, 'a')), 429);
        await create(namespace, 'a');
        assert.deepEqual(await codes(since, on), [429, 429, 201]);
    },
    async 'story-expired-history'(namespace) {
        const first = await create(namespace, 'a');
        await create(namespace, 'b');
        await fake('POST', '/history/compact', {});
        const error = await next(namespace, first.metadata.resourceVersion);
        assert.deepEqual([error.type, error.object.code, error.object.reason], ['ERROR', 410, 'Expired']);
        // The way back is a list, and a watch from there.
        const listed = await core.listNamespacedConfigMap({ namespace });
        assert.deepEqual(listed.items.map(({ metadata }) => metadata.name), ['a', 'b']);
        await create(namespace, 'c');
        assert.equal((await next(namespace, listed.metadata.resourceVersion)).object.metadata.name, 'c');
    },
    async 'story-lost-watch'(namespace) {
        const url = `/api/v1/namespaces/${namespace}/configmaps`;
        let seen;
        const end = within(20_000, (over, failed) => {
            seen = within(20_000, (resolve) => {
                new k8s.Watch(config).watch(url, {}, (type, object) => resolve({ type, object }), over).catch(failed);
            });
        });
        await create(namespace, 'a');
        const first = await seen;
        assert.equal(first.type, 'ADDED');
        assert.equal((await fake('POST', '/watches/end', { match: { verbs: ['watch'], namespaces: [namespace] } })).watches, 1);
        await create(namespace, 'b');
        await end;
        // The next watch goes on where the last one was, and nothing is missed.
        const event = await next(namespace, first.object.metadata.resourceVersion);
        assert.equal(event.object.metadata.name, 'b');
    },
    async 'story-leader-lost'(namespace) {
        const leases = config.makeApiClient(k8s.CoordinationV1Api), name = 'leader';
        let lease = await leases.createNamespacedLease({ namespace, body: { metadata: { name }, spec: { holderIdentity: 'one', leaseDurationSeconds: 3 } } });
        // The lease of the leader is renewed by hand: this client has no leader election.
        const renew = async () => {
            const spec = { ...lease.spec, leaseTransitions: (lease.spec.leaseTransitions || 0) + 1 };
            lease = await leases.replaceNamespacedLease({ namespace, name, body: { ...lease, spec } });
        };
        await renew();
        await fault({ verbs: ['update'], resources: ['leases'], namespaces: [namespace] }, { actions: [{ preset: 'etcd-timeout' }] });
        // Its renewals fail; before another one could lead, it has to stop.
        for (const deadline = Date.now() + 1000; Date.now() < deadline; ) {
            assert.equal(await refused(renew()), 500);
            await new Promise((resolve) => setTimeout(resolve, 100));
        }
        assert.equal((await leases.readNamespacedLease({ namespace, name })).spec.holderIdentity, 'one');
    },
    async 'story-webhook-timeout'(namespace) {
        // It takes connections, and never answers.
        const sockets = [], silent = net.createServer((socket) => sockets.push(socket.on('error', () => {})));
        await once(silent.listen(0, '127.0.0.1'), 'listening');
        const admission = config.makeApiClient(k8s.AdmissionregistrationV1Api), name = `${namespace}.example.com`;
        const webhook = {
            name, clientConfig: { url: `https://127.0.0.1:${silent.address().port}/` }, sideEffects: 'None', admissionReviewVersions: ['v1'],
            rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] }],
            namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } }, timeoutSeconds: 1, failurePolicy: 'Fail',
        };
        const body = await admission.createValidatingWebhookConfiguration({ body: { metadata: { name }, webhooks: [webhook] } });
        // Nobody can write what it looks at; with failurePolicy Ignore it costs a second only.
        assert.equal(await refused(create(namespace, 'a')), 500);
        body.webhooks[0].failurePolicy = 'Ignore';
        await admission.replaceValidatingWebhookConfiguration({ name, body });
        await create(namespace, 'a');
        await admission.deleteValidatingWebhookConfiguration({ name });
        sockets.forEach((socket) => socket.destroy());
        silent.close();
    },
    async 'story-clock-jump'(namespace) {
        await core.createNamespacedServiceAccount({ namespace, body: { metadata: { name: 'a' } } });
        const body = { spec: { audiences: [], expirationSeconds: 600 } };
        const { status } = await core.createNamespacedServiceAccountToken({ namespace, name: 'a', body });
        const other = new k8s.KubeConfig(), cluster = config.getCurrentCluster();
        other.loadFromClusterAndUser(cluster, { name: 'a', token: status.token });
        const look = () => other.makeApiClient(k8s.VersionApi).getCode();
        await look();
        // The server's clock jumps, as after a pause of its machine: a token that the client believes in for ten minutes has expired.
        await fake('POST', '/clock/advance', { seconds: 700 });
        assert.equal(await refused(look()), 401);
        await fake('POST', '/clock/advance', { seconds: -700 });
        await look();
    },
}; };
