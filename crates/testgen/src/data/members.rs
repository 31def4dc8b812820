//! Members that a guard demands: `when books.has(id)` can be taken only with a key of the map.
//!
//! Such a key is read off the state, with all its fields at once if it is a record (`TaskKey(project, id)`): a draw of
//! each field alone hardly ever is a key, and the solver need not be asked for what the state says. Of several keys the
//! ones used last are likelier, so that what was written is read again.

use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use ioxide_model::collection::CollectionValue;
use ioxide_model::term::{Term, TermNode, TermOp, TermPool, VarId};
use ioxide_model::valuation::Valuation;
use ioxide_model::value::Value;

use super::ValueRequest;
use super::keys::{UsedKeys, sample};

/// The percentage of draws with a member that was used lately, if there is one. Chosen by feel: half of the messages
/// after a write are about what was written.
const RECENT_PERCENT: u32 = 45;
/// The percentage of draws with a member that the walk keeps to. Chosen by feel.
const HELD_PERCENT: u32 = 85;

/// The values of some fields with which a conjunct of a guard holds.
type MemberFields = Vec<(VarId, Value)>;

/// A conjunct of a guard that holds only for members of collections.
#[derive(Clone, Debug)]
pub(super) struct DemandedMember {
    choices: Vec<MemberFields>,
}

/// The members that a guard demands in a state.
#[derive(Clone, Debug)]
pub(super) enum MemberDemands {
    /// These, one of each.
    Some(Vec<DemandedMember>),
    /// A member of a collection that is empty.
    Impossible,
}

impl MemberDemands {
    /// Reads the guard of `request` for the fields `open`.
    pub(super) fn collect(pool: &TermPool, open: &[VarId], request: &ValueRequest<'_>) -> Self {
        let mut found = Vec::new();
        for conjunct in pool.conjuncts(request.guard) {
            let Some(lookups) = lookups_of(pool, conjunct) else { continue };
            let is_open = |&(_, key): &(Term, Term)| pool.free_vars(key).iter().any(|var| open.contains(var));
            if !lookups.iter().all(is_open) {
                continue;
            }
            let sources: Option<Vec<(Value, Term)>> = lookups
                .iter()
                .map(|&(source, key)| Some((pool.eval(source, request.state).ok()?, key)))
                .collect();
            let Some(sources) = sources else { continue };
            let is_empty = |value: &Value| value.as_collection().is_some_and(CollectionValue::is_empty);
            if sources.iter().all(|(source, _)| is_empty(source)) {
                return Self::Impossible;
            }
            let mut choices = Vec::new();
            for (source, key) in &sources {
                let members = source.as_collection().map(sample).unwrap_or_default();
                choices.extend(members.iter().filter_map(|member| {
                    let mut values = Vec::new();
                    is_key(pool, open, request.state, *key, member, &mut values).then_some(values)
                }));
            }
            if !choices.is_empty() {
                found.push(DemandedMember { choices });
            }
        }
        Self::Some(found)
    }
}

impl DemandedMember {
    /// Draws the values of the fields that make the key of a member.
    pub(super) fn draw(&self, rng: &mut ChaCha8Rng, used: Option<&UsedKeys>) -> &[(VarId, Value)] {
        let drawn = rng.random_range(0..100u32);
        let preferred = used.and_then(|used| {
            let is_held = |choice: &&MemberFields| choice.iter().any(|(_, value)| used.is_held(value));
            let held: Vec<&MemberFields> = self.choices.iter().filter(is_held).collect();
            if !held.is_empty() && drawn < HELD_PERCENT {
                return held.choose(rng).copied();
            }
            // All fields of the key must have been used, and the one used longest ago decides.
            let age =
                |choice: &MemberFields| choice.iter().map(|(_, value)| used.recency(value)).min().flatten();
            let recent = self.choices.iter().filter(|choice| age(choice).is_some()).max_by_key(|it| age(it));
            recent.filter(|_| drawn < RECENT_PERCENT)
        });
        preferred.or_else(|| self.choices.choose(rng)).map_or(&[], Vec::as_slice)
    }
}

/// Returns the collections and keys of `conjunct`, if it holds only if one of the keys is there.
fn lookups_of(pool: &TermPool, conjunct: Term) -> Option<Vec<(Term, Term)>> {
    match pool.node(conjunct) {
        TermNode::Or(parts) => {
            let each: Option<Vec<_>> = parts.iter().map(|&part| lookups_of(pool, part)).collect();
            each.map(|each| each.concat())
        }
        TermNode::Apply(TermOp::Has, args) => match args[..] {
            [source, key] => Some(vec![(source, key)]),
            _ => None,
        },
        _ => None,
    }
}

/// Returns whether `key` may be `member`, and adds the values of the fields with which it is.
fn is_key(
    pool: &TermPool,
    open: &[VarId],
    state: &Valuation,
    key: Term,
    member: &Value,
    values: &mut MemberFields,
) -> bool {
    match pool.node(key) {
        TermNode::Var(var) if open.contains(var) => {
            let is_other = values.iter().any(|(field, value)| field == var && value != member);
            values.push((*var, member.clone()));
            !is_other && pool.has_sort(member, pool.var_info(*var).sort)
        }
        TermNode::Construct(data, ctor, parts) => match member {
            Value::Data(made) => {
                made.data == *data
                    && made.ctor == *ctor
                    && parts
                        .iter()
                        .zip(made.args.iter())
                        .all(|(&part, value)| is_key(pool, open, state, part, value, values))
            }
            _ => false,
        },
        // Another term over the fields: the whole guard is evaluated in the end.
        _ => pool.eval(key, state).map_or(true, |value| value == *member),
    }
}
