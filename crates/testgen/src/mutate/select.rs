//! Which mutants to make: by operator, by place, a sample, pairs.

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use ioxide_model::sts::Model;

use super::{Mutant, Operator, mutants};

/// What to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The kinds of changes.
    pub operators: Vec<Operator>,
    /// Switches by label or locations by name; empty for all.
    pub places: Vec<String>,
    /// So many of them only.
    pub sample: Option<Sample>,
    /// This many pairs of changes instead of single ones.
    pub second_order: Option<Sample>,
}

/// So many, drawn with this seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// How many.
    pub count: usize,
    /// What the choice depends on.
    pub seed: u64,
}

impl Default for Selection {
    /// The default operators, everywhere.
    fn default() -> Self {
        Self { operators: Operator::DEFAULT.to_vec(), places: Vec::new(), sample: None, second_order: None }
    }
}

/// The selected mutants, in order.
pub fn select(model: &mut Model, selection: &Selection) -> Vec<Mutant> {
    let mut all = mutants(model, &selection.operators);
    all.retain(|mutant| is_wanted(model, selection, mutant));
    if let Some(sample) = selection.second_order {
        all = pairs(&all, sample);
    }
    match selection.sample {
        Some(sample) => sampled(all, sample),
        None => all,
    }
}

fn is_wanted(model: &Model, selection: &Selection, mutant: &Mutant) -> bool {
    let named = |place: &String| {
        mutant.edits.iter().any(|edit| {
            let switch = &model.sts.switches[edit.switch];
            *switch.label == **place || *model.sts.locations[switch.source].name == **place
        })
    };
    selection.places.is_empty() || selection.places.iter().any(named)
}

/// A random choice that keeps the order.
fn sampled(mut all: Vec<Mutant>, sample: Sample) -> Vec<Mutant> {
    let mut numbers: Vec<usize> = (0..all.len()).collect();
    numbers.shuffle(&mut ChaCha8Rng::seed_from_u64(sample.seed));
    numbers.truncate(sample.count);
    let mut keep = vec![false; all.len()];
    numbers.into_iter().for_each(|number| keep[number] = true);
    let mut kept = keep.into_iter();
    all.retain(|_| kept.next().unwrap_or(false));
    all
}

/// Pairs of changes of different switches, each pair once.
fn pairs(all: &[Mutant], sample: Sample) -> Vec<Mutant> {
    let mut rng = ChaCha8Rng::seed_from_u64(sample.seed);
    let mut chosen = std::collections::BTreeSet::new();
    for _ in 0..sample.count.saturating_mul(20) {
        if all.len() < 2 || chosen.len() >= sample.count {
            break;
        }
        let (a, b) = (rng.random_range(0..all.len()), rng.random_range(0..all.len()));
        let (a, b) = (a.min(b), a.max(b));
        if all[a].edits[0].switch != all[b].edits[0].switch {
            chosen.insert((a, b));
        }
    }
    let both = |(a, b): (usize, usize)| Mutant {
        id: format!("{}+{}", all[a].id, all[b].id),
        edits: [&all[a].edits[..], &all[b].edits[..]].concat(),
    };
    chosen.into_iter().map(both).collect()
}
