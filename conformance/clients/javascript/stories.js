// Stories, told by the official JavaScript client: what a server can do to a client, as a test tells it over the control port. They are those of
// docs/stories/, and the same in every language. There is a control port on the fake only.
import assert from 'node:assert/strict';

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
const cursor = async () => Number((await fake('GET', '/requests?limit=0')).cursor);
// The codes of the requests since then that match; 0 is no answer.
const codes = async (since, match) => (await fake('POST', '/requests/query', { since, match })).items.map(({ code }) => code);
// The code of a call that is refused; 0 if there was no answer.
const refused = (call) => call.then(() => assert.fail('expected a refusal'), (error) => (typeof error.code === 'number' ? error.code : 0));

export const stories = ({ k8s, config, core, create, within }) => ({
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
        // The first event of a watch from a revision on, or the error in its place.
        const next = async (resourceVersion) => {
            let controller;
            const event = await within(20_000, async (resolve, reject) => {
                const url = `/api/v1/namespaces/${namespace}/configmaps`;
                controller = await new k8s.Watch(config).watch(url, { resourceVersion }, (type, object) => resolve({ type, object }), reject);
            });
            controller.abort();
            return event;
        };
        const error = await next(first.metadata.resourceVersion);
        assert.deepEqual([error.type, error.object.code, error.object.reason], ['ERROR', 410, 'Expired']);
        // The way back is a list, and a watch from there.
        const listed = await core.listNamespacedConfigMap({ namespace });
        assert.deepEqual(listed.items.map(({ metadata }) => metadata.name), ['a', 'b']);
        await create(namespace, 'c');
        assert.equal((await next(listed.metadata.resourceVersion)).object.metadata.name, 'c');
    },
});
