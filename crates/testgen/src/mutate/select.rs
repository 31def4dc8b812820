//! The selection of mutants: by operator, by place, a sample, pairs.

use std::fmt;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use ioxide_model::sts::{Model, Sts, SwitchId};

use super::{Edit, Mutant, MutationOperator, behind, initial, mutants_of};

/// The selection of mutants to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MutantSelection {
    /// The mutation operators.
    pub operators: Vec<MutationOperator>,
    /// The places: labels of switches, names of their source locations or of variables; all places if empty.
    pub places: Vec<String>,
    /// The sample to take of the mutants; `None` for all.
    pub sample: Option<Sample>,
    /// The sample of pairs of changes to make instead of single changes; `None` for single changes.
    pub second_order: Option<Sample>,
}

/// A sample: a number of elements and a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// The greatest number of elements.
    pub count: usize,
    /// The seed of the random choice.
    pub seed: u64,
}

impl Default for MutantSelection {
    /// The default operators, everywhere.
    fn default() -> Self {
        Self {
            operators: MutationOperator::DEFAULT.to_vec(),
            places: Vec::new(),
            sample: None,
            second_order: None,
        }
    }
}

/// The greatest number of mutants made: one switch of a model with twenty thousand locations has forty thousand.
pub const MAX_MUTANTS: usize = 300_000;

/// The selection has more than [`MAX_MUTANTS`], and no sample was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyMutants;

impl fmt::Display for TooManyMutants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there are more than {MAX_MUTANTS} mutants")
    }
}

impl std::error::Error for TooManyMutants {}

/// Returns the system in which [`select`] makes its changes: without the channel, if `model` is seen through one.
#[must_use]
pub fn mutated_system(model: &Model) -> &Sts {
    let seen = model.sts.composition.as_ref().and_then(|composition| composition.seen_through.as_ref());
    seen.map_or(&model.sts, |seen| &seen.model.sts)
}

/// Returns the selected mutants, in order. Where there are too many, a sample is taken from the mutants of switches
/// that are drawn first. If the model is seen through a channel, mutants are changes of the model without it.
///
/// # Errors
/// If there are too many and no sample is asked for.
pub fn select(model: &mut Model, selection: &MutantSelection) -> Result<Vec<Mutant>, TooManyMutants> {
    if let Some(seen) = model.sts.composition.as_ref().and_then(|it| it.seen_through.clone()) {
        let mut inner = seen.model.clone();
        let mutants = select(&mut inner, selection)?;
        return Ok(behind::see_mutants(model, &seen, &inner, mutants));
    }
    let places: Vec<SwitchId> =
        model.sts.switches.ids().filter(|&id| is_wanted(model, selection, id)).collect();
    let mut all = match (make_mutants(model, selection, &places), selection.second_order.or(selection.sample))
    {
        (SwitchMutants::All(all), _) => all,
        (SwitchMutants::Some(_), None) => return Err(TooManyMutants),
        (SwitchMutants::Some(_), Some(sample)) => some_places(model, selection, places, sample),
    };
    if selection.operators.contains(&MutationOperator::Initial) {
        let named = |name: &str| selection.places.is_empty() || selection.places.iter().any(|it| it == name);
        all.extend(initial::other_starts(model, named));
    }
    if let Some(sample) = selection.second_order {
        all = pairs(&all, sample);
    }
    Ok(match selection.sample {
        Some(sample) => sample_mutants(all, sample),
        None => all,
    })
}

/// The mutants of switches, with the information whether they are complete.
enum SwitchMutants {
    /// The mutants of all switches.
    All(Vec<Mutant>),
    /// The mutants of some switches only, more than the limit.
    Some(Vec<Mutant>),
}

/// Returns the mutants of `places`; of the first places only, if the limit is exceeded.
fn make_mutants(model: &mut Model, selection: &MutantSelection, places: &[SwitchId]) -> SwitchMutants {
    let mut found = Vec::new();
    for &id in places {
        found.extend(mutants_of(model, &selection.operators, id));
        if found.len() > MAX_MUTANTS {
            return SwitchMutants::Some(found);
        }
    }
    SwitchMutants::All(found)
}

/// Returns the mutants of switches drawn at random, up to the limit, in order.
fn some_places(
    model: &mut Model,
    selection: &MutantSelection,
    mut places: Vec<SwitchId>,
    sample: Sample,
) -> Vec<Mutant> {
    // Whole switches are drawn, since the number of mutants of a switch is not known before they are made. The sample
    // is therefore not uniform over mutants.
    places.shuffle(&mut ChaCha8Rng::seed_from_u64(sample.seed));
    let (SwitchMutants::All(mut found) | SwitchMutants::Some(mut found)) =
        make_mutants(model, selection, &places);
    found.sort_by_key(|mutant| mutant.edits.first().map(Edit::place));
    found
}

fn is_wanted(model: &Model, selection: &MutantSelection, id: SwitchId) -> bool {
    let switch = &model.sts.switches[id];
    let named =
        |place: &String| *switch.label == **place || *model.sts.locations[switch.source].name == **place;
    selection.places.is_empty() || selection.places.iter().any(named)
}

/// Takes a random sample that keeps the order.
fn sample_mutants(mut all: Vec<Mutant>, sample: Sample) -> Vec<Mutant> {
    let mut numbers: Vec<usize> = (0..all.len()).collect();
    numbers.shuffle(&mut ChaCha8Rng::seed_from_u64(sample.seed));
    numbers.truncate(sample.count);
    let mut keep = vec![false; all.len()];
    numbers.into_iter().for_each(|number| keep[number] = true);
    let mut kept = keep.into_iter();
    all.retain(|_| kept.next().unwrap_or(false));
    all
}

/// Draws pairs of changes at different places, each pair once.
fn pairs(all: &[Mutant], sample: Sample) -> Vec<Mutant> {
    let mut rng = ChaCha8Rng::seed_from_u64(sample.seed);
    let mut chosen = std::collections::BTreeSet::new();
    // A draw may repeat a pair or hit one place twice. Twenty draws for each pair that is wanted end the loop where
    // there are fewer pairs than that; chosen by feel.
    for _ in 0..sample.count.saturating_mul(20) {
        if all.len() < 2 || chosen.len() >= sample.count {
            break;
        }
        let (a, b) = (rng.random_range(0..all.len()), rng.random_range(0..all.len()));
        let (a, b) = (a.min(b), a.max(b));
        if all[a].edits[0].place() != all[b].edits[0].place() {
            chosen.insert((a, b));
        }
    }
    let both = |(a, b): (usize, usize)| Mutant {
        id: format!("{}+{}", all[a].id, all[b].id),
        edits: [&all[a].edits[..], &all[b].edits[..]].concat(),
    };
    chosen.into_iter().map(both).collect()
}

/// Returns the mutant that `id` names, which may be several changes with `+` between them.
#[must_use]
pub fn find_mutant(model: &mut Model, id: &str) -> Option<Mutant> {
    let edits = id.split('+').map(|id| find_edit(model, id)).collect::<Option<Vec<Edit>>>()?;
    Some(Mutant { id: id.to_owned(), edits })
}

/// Returns the change that `id` names, whatever other operators there are.
fn find_edit(model: &mut Model, id: &str) -> Option<Edit> {
    let place = |operator: MutationOperator| {
        let (rest, number) = id.rsplit_once('-')?;
        // Names of operators and labels may contain `-` themselves, so every operator is tried as the suffix.
        number.parse::<usize>().ok()?;
        Some((operator, rest.strip_suffix(&format!("-{}", operator.name()))?))
    };
    MutationOperator::ALL.into_iter().filter_map(place).find_map(|(operator, place)| {
        let (operators, places) = (vec![operator], vec![place.to_owned()]);
        let all = select(model, &MutantSelection { operators, places, ..MutantSelection::default() }).ok()?;
        all.into_iter().find(|mutant| mutant.id == id)?.edits.into_iter().next()
    })
}
