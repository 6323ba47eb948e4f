//! Clusters beside the first one, and the seeds that they begin from.
//!
//! ```text
//!   EnsureSeed ── a cluster to fill ── SeedReady ──▶ a seed ──▶ CreateCluster, CreateCluster, ...   each in microseconds
//! ```
//! They are reached through the ports of the first cluster, each by a path, and have its users, keys, flags and clock.

use super::known::{End, FIRST, Filled};
use super::lives::{self, Holds, Life};
use super::state::Control;
use crate::auth::User;
use crate::auth::modes::SYSTEM_PRIVILEGED_GROUP;
use crate::commit::content::Content;
use crate::controllers::Settings;
use crate::http::{name_of_cluster, path_of_cluster};
use crate::ids::Ids;
use crate::server::replica::Way;
use crate::server::replicas::{MOST as MOST_REPLICAS, Replicas};
use crate::server::{FakeApiServer, RunningReplica, Seed};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use control::near::hint;
use control::{Answer, Cause, ClusterAnswer, ClusterUser, Endpoint, From, NewCluster, Refusal, SeedAnswer};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// The most clusters at a time, and the most seeds.
const MOST: usize = 20_000;
const MOST_SEEDS: usize = 1_000;
/// The beginning of the names of clusters that seeds are filled in.
const FILLING: &str = "seed";
/// The time without a request after which a cluster that is being filled is given up, in seconds.
const FILLED_WITHIN: u32 = 300;
/// The longest name.
const LONGEST_NAME: usize = 63;

impl End for FakeApiServer {
    fn end(&self) {
        self.shutdown.cancel();
    }
}

impl FakeApiServer {
    pub(super) async fn create_cluster(&self, new: NewCluster) -> Result<ClusterAnswer, Refusal> {
        let name = new.name.clone().unwrap_or_else(|| self.control.clusters.next("cluster"));
        self.check_new(&name)?;
        if let Some(replicas) = new.replicas.filter(|replicas| !(1..=MOST_REPLICAS).contains(replicas)) {
            let why = format_args!("a cluster has 1 to {MOST_REPLICAS} replicas");
            return Err(Refusal::invalid("clusters", &name, vec![Cause::invalid("replicas", replicas, why)]));
        }
        lives::check(&new, self.cluster.log.is_on())?;
        if new.endpoint == Endpoint::Sni && !self.first().has_tls() {
            let why = "this server has no port with TLS, by whose names clusters could be reached";
            return Err(Refusal::conflict("clusters", &name, why));
        }
        let users = own_users(&name, &new, &self.cluster.ids)?;
        let (seed, content) = match new.from.clone().unwrap_or_default() {
            From { seed: Some(seed), cluster: None, snapshot: None } => (self.seed_of(&seed)?, None),
            From { seed: Some(seed), .. } => {
                let why = "a seed stands alone: it is no snapshot, and of no cluster";
                return Err(Refusal::invalid("clusters", &name, vec![Cause::invalid("from.seed", seed, why)]));
            }
            From { seed: None, cluster, snapshot } => match cluster.filter(|cluster| cluster != FIRST) {
                None => self.begun(snapshot).await?,
                Some(cluster) => self.other(&cluster)?.begun(snapshot).await?,
            },
        };
        self.add_cluster(&name, &seed, &NewCluster { users, ..new }, content).await
    }

    /// The beginning of a cluster: the present objects, and those of a snapshot, if one is named.
    async fn begun(&self, snapshot: Option<String>) -> Result<(Seed, Option<Content>), Refusal> {
        let content = snapshot.map(|name| self.control.snapshot(&name)).transpose()?;
        Ok((self.freeze().await, content))
    }

    /// Refuses what only the first cluster is told: clusters and seeds are all beside it.
    pub(super) fn check_first(&self) -> Result<(), Refusal> {
        match self.control.is_first {
            true => Ok(()),
            false => Err(Refusal::conflict(
                "clusters",
                "",
                "clusters and seeds are made beside the first cluster, not beside this one",
            )),
        }
    }

    /// The cluster of that name, or a new one.
    pub(super) async fn ensure_cluster(&self, new: NewCluster) -> Result<ClusterAnswer, Refusal> {
        let name = new.name.clone().unwrap_or_default();
        let known = |server: &FakeApiServer| server.control.clusters.get(&name).map(|known| known.as_cluster(&name));
        match known(self) {
            Some(answer) => Ok(answer),
            // Another one may be faster.
            None => self.create_cluster(new).await.or_else(|refusal| known(self).ok_or(refusal)),
        }
    }

    fn check_new(&self, name: &str) -> Result<(), Refusal> {
        let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let is_name = (1..=LONGEST_NAME).contains(&name.len())
            && name.chars().all(|c| is_letter(c) || c == '-')
            && name.starts_with(is_letter)
            && name.ends_with(is_letter);
        if !is_name {
            let why =
                "a name has 1 to 63 lower-case letters, digits and '-', and begins and ends with a letter or digit";
            return Err(Refusal::invalid("clusters", name, vec![Cause::invalid("name", name, why)]));
        }
        let all = self.control.clusters.all();
        if name == FIRST || all.contains_key(name) {
            return Err(Refusal::conflict("clusters", name, format_args!("clusters {name:?} already exists")));
        }
        match all.len() < MOST {
            true => Ok(()),
            false => {
                Err(Refusal::conflict("clusters", name, format_args!("there are at most {MOST} clusters at a time")))
            }
        }
    }

    /// Lets a cluster begin with a seed, or with another content in the place of that.
    async fn add_cluster(
        &self,
        name: &str,
        seed: &Seed,
        new: &NewCluster,
        content: Option<Content>,
    ) -> Result<ClusterAnswer, Refusal> {
        let clusters = &self.control.clusters;
        let shutdown = self.shutdown.child_token();
        let (replica, clock) = seed.replica(name, shutdown.clone());
        let admin_token = format!("admin-{}", Ids::random().uid());
        let administrator = ClusterUser { groups: vec![SYSTEM_PRIVILEGED_GROUP.into()], ..named("admin") };
        let users = new.users.iter().filter_map(|user| Some((user.token.clone()?, authenticated(user))));
        let users = users.chain([(admin_token.clone(), authenticated(&administrator))]);
        replica.cluster.users.get_or_init(|| users.collect());
        let first = self.first();
        let running = match new.endpoint {
            Endpoint::Path => RunningReplica::behind(&first, Way::Path(path_of_cluster(name)), replica.clone(), clock),
            Endpoint::Sni => RunningReplica::behind(&first, Way::Name(name_of_cluster(name)), replica.clone(), clock),
            Endpoint::Port => RunningReplica::beside(&first, replica, clock)
                .map_err(|error| Refusal::conflict("clusters", name, format_args!("it gets no port: {error}")))?,
        };
        let (replica, holds) = (running.inner().clone(), Holds::of(new));
        let mut control = Control::of(&replica.cluster, &self.control.clock);
        control.holds = holds;
        control.is_first = false;
        control.users.clone_from(&new.users);
        if let Some(content) = &content {
            control.first = content.clone();
        }
        let mut server = FakeApiServer {
            control,
            cluster: replica.cluster.clone(),
            replicas: Replicas::default(),
            ca_pem: self.ca_pem.clone(),
            admin_token,
            shutdown,
            controllers: None,
        };
        server.replicas.push(running);
        if let Some(controllers) = &self.controllers {
            // It has begun with what a cluster comes with. Those that are clients over a connection have one to the first cluster only.
            let settings = Settings { furnished: false, ..controllers.settings.clone() };
            server.start_controllers(&settings, None);
        }
        let server = Arc::new(server);
        if let Some(content) = &content {
            server.rewind(content).await;
        }
        for _ in 1..new.replicas.unwrap_or(1) {
            server.add_replica(0).await?;
        }
        // Another one may have taken the name meanwhile.
        self.check_new(name)?;
        clusters.all().insert(name.to_owned(), server.clone());
        match new.endpoint {
            Endpoint::Path => clusters.beside.add(name, replica),
            Endpoint::Sni => clusters.beside.add_name(name, replica),
            Endpoint::Port => {}
        }
        let (cluster, end) = (server.cluster.clone(), server.shutdown.clone());
        let life = Life { name: name.to_owned(), cluster, clusters: Arc::downgrade(clusters), end };
        life.begin(new, &server.control.holds)?;
        Ok(server.as_cluster(name))
    }

    pub(super) fn delete_cluster(&self, name: &str) -> Result<Answer, Refusal> {
        self.other(name)?;
        self.control.clusters.remove(name);
        Ok(Answer::Done {})
    }

    pub(super) fn list_clusters(&self) -> Value {
        let all = self.control.clusters.all();
        let others = all.iter().map(|(name, cluster)| cluster.as_cluster(name));
        json!({"items": std::iter::once(self.as_cluster(FIRST)).chain(others).collect::<Vec<_>>()})
    }

    pub(super) fn one_cluster(&self, name: &str) -> Result<Value, Refusal> {
        let found = if name == FIRST { self.as_cluster(FIRST) } else { self.other(name)?.as_cluster(name) };
        serde_json::to_value(found).map_err(Refusal::internal)
    }

    /// A cluster beside the first one.
    pub(super) fn other(&self, name: &str) -> Result<Arc<FakeApiServer>, Refusal> {
        if name == FIRST {
            return Err(Refusal::conflict("clusters", name, "it is the first cluster, which ends with the server"));
        }
        let clusters = &self.control.clusters;
        let missing = || {
            let all = clusters.all();
            let names = std::iter::once(FIRST).chain(all.keys().map(String::as_str));
            Refusal::not_found("clusters", name, &hint(name, names))
        };
        clusters.get(name).ok_or_else(missing)
    }

    fn as_cluster(&self, name: &str) -> ClusterAnswer {
        let replicas = self.replicas();
        let urls = replicas.iter().filter(|_| replicas.len() > 1).map(|replica| replica.public_url());
        ClusterAnswer {
            name: name.to_owned(),
            server: replicas[0].public_url(),
            tls_server_name: replicas[0].server_name().map(str::to_owned),
            replicas: urls.collect(),
            ca_data: self.ca_pem.as_ref().map(|pem| STANDARD.encode(pem)),
            token: self.admin_token.clone(),
            kubeconfig: self.kubeconfig(),
            revision: self.cluster.store.revision().to_string(),
            users: self.control.users.clone(),
        }
    }

    fn seed_of(&self, name: &str) -> Result<Seed, Refusal> {
        let seeds = self.control.clusters.seeds();
        match seeds.get(name) {
            Some(Filled::Ready(seed)) => Ok(seed.clone()),
            Some(Filled::Not(cluster)) => Err(Refusal::conflict(
                "seeds",
                name,
                format_args!("it is not ready: cluster {cluster:?} is being filled"),
            )),
            None => Err(Refusal::not_found("seeds", name, &hint(name, seeds.keys().map(String::as_str)))),
        }
    }

    pub(super) async fn ensure_seed(&self, name: &str, timeout_seconds: u32) -> Result<SeedAnswer, Refusal> {
        let clusters = &self.control.clusters;
        let mut changes = clusters.changes.subscribe();
        let limit = tokio::time::sleep(Duration::from_secs(timeout_seconds.into()));
        tokio::pin!(limit);
        loop {
            changes.borrow_and_update();
            if let Some(answer) = self.seed_or_task(name).await? {
                return Ok(answer);
            }
            tokio::select! {
                _ = changes.changed() => {}
                () = &mut limit => {
                    return Err(Refusal::conflict("seeds", name, "another one fills it, and has not said that it is ready"));
                }
            }
        }
    }

    /// The seed, if it is ready, or a cluster to fill for it; `None` if another one fills it.
    async fn seed_or_task(&self, name: &str) -> Result<Option<SeedAnswer>, Refusal> {
        let clusters = &self.control.clusters;
        let _seeding = clusters.seeding.lock().await;
        {
            let seeds = clusters.seeds();
            match seeds.get(name) {
                Some(Filled::Ready(_)) => {
                    return Ok(Some(SeedAnswer { seed: name.to_owned(), ready: true, fill: None }));
                }
                // It is left alone if that cluster was deleted.
                Some(Filled::Not(cluster)) if clusters.get(cluster).is_some() => return Ok(None),
                None if seeds.len() >= MOST_SEEDS => {
                    let why = format!("there are at most {MOST_SEEDS} seeds at a time");
                    return Err(Refusal::conflict("seeds", name, why));
                }
                _ => {}
            }
        }
        let cluster = clusters.next(FILLING);
        self.check_new(&cluster)?;
        // Its maker may be killed. Without a record of requests that is not seen.
        let idle_seconds = self.cluster.log.is_on().then_some(FILLED_WITHIN);
        let new = NewCluster { idle_seconds, ..NewCluster::default() };
        self.add_cluster(&cluster, &self.freeze().await, &new, None).await?;
        let filled = self.other(&cluster)?;
        filled.put_back(&self.control.first).await;
        clusters.seeds().insert(name.to_owned(), Filled::Not(cluster.clone()));
        let fill = Some(Box::new(filled.as_cluster(&cluster)));
        Ok(Some(SeedAnswer { seed: name.to_owned(), ready: false, fill }))
    }

    pub(super) async fn seed_ready(&self, name: &str) -> Result<SeedAnswer, Refusal> {
        let clusters = &self.control.clusters;
        let cluster = match clusters.seeds().get(name) {
            Some(Filled::Not(cluster)) => cluster.clone(),
            Some(Filled::Ready(_)) => return Err(Refusal::conflict("seeds", name, "it is ready already")),
            None => return Err(Refusal::not_found("seeds", name, "; PUT makes one")),
        };
        let seed = self.other(&cluster)?.freeze().await;
        clusters.seeds().insert(name.to_owned(), Filled::Ready(seed));
        clusters.changes.send_modify(|changes| *changes += 1);
        self.delete_cluster(&cluster)?;
        Ok(SeedAnswer { seed: name.to_owned(), ready: true, fill: None })
    }

    pub(super) fn forget_seed(&self, name: &str) -> Result<Answer, Refusal> {
        let clusters = &self.control.clusters;
        let known = clusters.seeds().remove(name);
        clusters.changes.send_modify(|changes| *changes += 1);
        match known {
            Some(Filled::Ready(_)) => Ok(Answer::Done {}),
            Some(Filled::Not(cluster)) if clusters.get(&cluster).is_some() => self.delete_cluster(&cluster),
            Some(Filled::Not(_)) => Ok(Answer::Done {}),
            None => Err(Refusal::not_found("seeds", name, "")),
        }
    }

    pub(super) fn list_seeds(&self) -> Value {
        let seeds = self.control.clusters.seeds();
        let items = seeds.iter().map(|(name, seed)| match seed {
            Filled::Ready(_) => json!({"seed": name, "ready": true}),
            Filled::Not(cluster) => json!({"seed": name, "ready": false, "cluster": cluster}),
        });
        json!({"items": items.collect::<Vec<_>>()})
    }
}

impl FakeApiServer {
    pub(super) fn hold_cluster(&self) -> Result<Answer, Refusal> {
        match self.control.holds.hold() {
            true => Ok(Answer::Done {}),
            false => {
                Err(Refusal::conflict("clusters", "", "it was not made to be held: holdSeconds says for how long"))
            }
        }
    }
}

/// The users of a new cluster, each with a token.
///
/// # Errors
/// 422, if one has no name, or a token that cannot be one.
fn own_users(cluster: &str, new: &NewCluster, ids: &Ids) -> Result<Vec<ClusterUser>, Refusal> {
    let with_token = |(index, user): (usize, &ClusterUser)| {
        let invalid = |field: &str, value: &str, why: &str| {
            let cause = Cause::invalid(format_args!("users[{index}].{field}"), value, why);
            Refusal::invalid("clusters", cluster, vec![cause])
        };
        if user.name.is_empty() {
            return Err(invalid("name", "", "a user has one"));
        }
        let token = user.token.clone().unwrap_or_else(|| format!("{cluster}-{}", ids.uid()));
        match !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic()) {
            true => Ok(ClusterUser { token: Some(token), ..user.clone() }),
            false => Err(invalid("token", &token, "it has letters, digits and signs, and no spaces")),
        }
    };
    new.users.iter().enumerate().map(with_token).collect()
}

fn named(name: &str) -> ClusterUser {
    ClusterUser { name: name.to_owned(), ..ClusterUser::default() }
}

fn authenticated(user: &ClusterUser) -> Arc<User> {
    let ClusterUser { name, groups, .. } = user.clone();
    Arc::new(User { uid: name.clone(), name, groups, ..User::default() }.authenticated())
}
