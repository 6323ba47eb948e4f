//! A trial: a case played on both servers, and how far their answers agree.

use super::answer::Answer;
use super::case::{Action, Case, Story, Verb};
use super::names::{AFTER, BEFORE, Names};
use super::side::{Side, query};
use anyhow::Result;
use conformance_judge::exchange::Difference;
use serde_json::Value;

/// The two servers: the real one, and the one that has to answer as it does.
pub(super) struct Sides {
    pub(super) real: Side,
    pub(super) fake: Side,
}

/// The answers of both servers to all that was sent, in order.
#[derive(Debug, Default)]
pub(super) struct Trial {
    pub(super) exchanges: Vec<Exchange>,
}

/// A request that both servers were sent, and their answers.
#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) sent: Sent,
    pub(super) real: Answer,
    pub(super) fake: Answer,
}

/// A request of a case.
#[derive(Debug, Clone)]
pub(super) enum Sent {
    /// The definition.
    Define,
    /// Its change.
    Redefine,
    /// An action on the object of that number.
    Act(usize, Action),
}

impl Exchange {
    /// The differences between the two answers.
    pub(super) fn differences(&self) -> Vec<Difference> {
        self.fake.differences(&self.real)
    }

    fn differs(&self) -> bool {
        !self.fake.agrees(&self.real)
    }

    /// Whether the request succeeded on both servers.
    fn succeeded(&self) -> bool {
        self.real.status < 300 && self.fake.status < 300
    }
}

/// An object, as both servers showed it last.
#[derive(Debug, Clone, Default)]
struct Seen {
    real: Option<Value>,
    fake: Option<Value>,
    /// Whether the servers disagreed about it: then all that follows would differ, too.
    disputed: bool,
}

impl Trial {
    /// Plays a case, in which a resource of these names is defined, and deletes its objects and the definition.
    pub(super) async fn play(sides: &Sides, names: &Names, case: &Case) -> Result<Trial> {
        let mut trial = Trial::default();
        let definition = names.define(case);
        let query = query(case.validation);
        let (real, fake) =
            futures::try_join!(sides.real.define(&definition, &query), sides.fake.define(&definition, &query))?;
        trial.exchanges.push(Exchange { sent: Sent::Define, real, fake });
        if trial.exchanges[0].succeeded() {
            trial.tell(sides, names, case).await?;
        }
        futures::try_join!(sides.real.undefine(names), sides.fake.undefine(names))?;
        Ok(trial)
    }

    /// The first request whose answers differ.
    pub(super) fn difference(&self) -> Option<&Exchange> {
        self.exchanges.iter().find(|exchange| exchange.differs())
    }

    async fn tell(&mut self, sides: &Sides, names: &Names, case: &Case) -> Result<()> {
        sides.served(names, BEFORE).await?;
        let mut seen = vec![Seen::default(); case.stories.len()];
        for (number, story) in case.stories.iter().enumerate() {
            self.act(sides, names, number, &story.before, &mut seen[number]).await?;
        }
        let Some(schema) = &case.then else { return Ok(()) };
        let patch = names.redefine(case, schema);
        let (real, fake) = futures::try_join!(sides.real.redefine(names, &patch), sides.fake.redefine(names, &patch))?;
        let exchange = Exchange { sent: Sent::Redefine, real, fake };
        let goes_on = exchange.succeeded();
        self.exchanges.push(exchange);
        if goes_on {
            sides.served(names, AFTER).await?;
            for (number, Story { after, .. }) in case.stories.iter().enumerate() {
                self.act(sides, names, number, after, &mut seen[number]).await?;
            }
        }
        Ok(())
    }

    async fn act(
        &mut self,
        sides: &Sides,
        names: &Names,
        number: usize,
        actions: &[Action],
        seen: &mut Seen,
    ) -> Result<()> {
        let name = format!("o{number}");
        for action in actions {
            let exists = seen.real.is_some() && seen.fake.is_some();
            if seen.disputed || exists == (action.verb == Verb::Create) {
                continue;
            }
            let (real, fake) = futures::try_join!(
                sides.real.act(names, &name, action, &mut seen.real),
                sides.fake.act(names, &name, action, &mut seen.fake)
            )?;
            let exchange = Exchange { sent: Sent::Act(number, action.clone()), real, fake };
            seen.disputed = exchange.differs();
            self.exchanges.push(exchange);
        }
        Ok(())
    }
}

impl Sides {
    async fn served(&self, names: &Names, column: &str) -> Result<()> {
        futures::try_join!(self.real.served(names, column), self.fake.served(names, column))?;
        Ok(())
    }
}
