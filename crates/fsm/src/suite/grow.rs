//! Growing a folded test tree until it is complete.
//!
//! *Without* convergence this is the H-method: `P · Σ^≤(extra+1)` in which
//! every two words of (A) the cover, (B) the cover and a longer word, (C) a
//! longer word and its own prefix beyond the cover are apart if they lead to
//! different states [DEY05].
//!
//! *With* convergence each transition `(s, x)` into `t` is proved in turn.
//! Let `u` be a word of the class of `s` followed by `x`. If for every word
//! `γ` of `extra` symbols the cover, the words `u·γ'` and the words `t·γ'`, for
//! the prefixes `γ'` of `γ`, are apart wherever they lead to different states,
//! then `u` converges with the access word of `t` in every machine of the
//! fault domain that passes [SPY12, Theorem 1]. Were they to lead to different
//! states of such a machine, a shortest word that separates those would split
//! one more class of states at each of its last `extra + 1` steps, beginning
//! with the `n` classes the cover is in, and there would be more states than
//! the domain allows. When all transitions are proved the machine is the
//! specification.
//!
//! [DEY05]: R. Dorofeeva, K. El-Fakih, N. Yevtushenko, "An Improved
//! Conformance Testing Method", FORTE 2005.
//! [SPY12]: A. Simão, A. Petrenko, N. Yevtushenko, "On reducing test length
//! for FSMs with extra states", Software Testing, Verification and
//! Reliability 22(6), 2012.

use super::fold::{Continue, Fold, NodeId, Paths};
use super::identify::{Identify, Library, Rule};
use crate::cover::{StateCover, state_cover};
use crate::mealy::{InputId, Spec, StateId};

/// The smallest of the suites that `rules` lead to, or of those a smaller
/// number of extra states suggests.
///
/// With `converge` tests go on as it says; without it no convergence is used.
pub(super) fn smallest(spec: &Spec, extra: usize, rules: &[Rule], converge: Option<Continue>) -> Paths {
    let rules: Vec<Rule> = rules.iter().copied().filter(|&rule| pays(spec, rule)).collect();
    let cover = state_cover(spec);
    let mut library = Library::new(spec, &cover, extra);
    if rules != [Rule::Fixed] {
        library = library.with_more_words();
    }
    let grow = |extra, rule| grow(spec, &cover, &library, &Plan { extra, rule, converge });
    if let [only] = rules[..] {
        return grow(extra, only);
    }
    let trial = extra_for_trial(spec, extra);
    let tried = rules.into_iter().map(|rule| (rule, grow(trial, rule)));
    let Some((rule, paths)) = tried.min_by_key(|(_, paths)| paths.cost()) else { return Paths::default() };
    if trial == extra { paths } else { grow(extra, rule) }
}

/// Whether a rule is worth its time: on large machines choosing word by word
/// was seen to take long and to save little.
fn pays(spec: &Spec, rule: Rule) -> bool {
    let most = match rule {
        Rule::Fixed => usize::MAX,
        Rule::FixedCover => 150,
        Rule::OnTheFly => 30,
    };
    spec.n_states() <= most
}

/// The greatest number of extra states, at most `extra`, for which trying
/// several rules is cheap.
fn extra_for_trial(spec: &Spec, extra: usize) -> usize {
    const CHEAP: usize = 100_000;
    let words = |e: &usize| {
        let power = u32::try_from(e + 1).unwrap_or(u32::MAX);
        spec.n_inputs().saturating_pow(power).saturating_mul(spec.n_states())
    };
    (0..=extra).rev().find(|e| words(e) <= CHEAP).unwrap_or(0)
}

/// What kind of suite to grow.
struct Plan {
    extra: usize,
    rule: Rule,
    converge: Option<Continue>,
}

/// The paths of a complete suite.
fn grow<'s>(spec: &'s Spec, cover: &StateCover, library: &Library<'s>, plan: &Plan) -> Paths {
    let fold = Fold::new(spec, cover, plan.converge.unwrap_or(Continue::InPlace));
    let identify = Identify::new(library, plan.rule);
    let mut grower = Grower { spec, plan, fold, identify, path: Vec::new() };
    for &state in cover.order() {
        let root = grower.fold.root(state);
        grower.identify.identify(&mut grower.fold, root);
    }
    grower.fold.roots_apart = true;
    let mut pending = Pending::new(spec, cover);
    while let Some((state, input)) = pending.next(&grower.fold) {
        grower.transition(state, input);
    }
    grower.fold.into_paths()
}

struct Grower<'s, 'p, 'l> {
    spec: &'s Spec,
    plan: &'p Plan,
    fold: Fold<'s>,
    identify: Identify<'l, 's>,
    /// The nodes along the current word beyond the cover.
    path: Vec<NodeId>,
}

impl Grower<'_, '_, '_> {
    fn transition(&mut self, state: StateId, input: InputId) {
        let node = self.fold.add(self.fold.root(state), &[input]);
        self.below(node, self.plan.extra);
        let twin = self.plan.converge.map(|_| self.fold.root(self.spec.next(state, input)));
        self.apart_along(node, twin, self.plan.extra);
        if self.plan.converge.is_some() {
            self.fold.prove(state, input);
        }
    }

    /// Every word of `left` symbols at `node`, identified at each prefix, longest first.
    fn below(&mut self, node: NodeId, left: usize) {
        if left > 0 {
            for input in self.spec.inputs() {
                let kid = self.fold.add(node, &[input]);
                self.below(kid, left - 1);
            }
        }
        self.identify.identify(&mut self.fold, node);
    }

    /// Makes the nodes along every word of `left` symbols at `node`, and at
    /// its `twin` if there is one, apart where their states differ.
    fn apart_along(&mut self, node: NodeId, twin: Option<NodeId>, left: usize) {
        if self.plan.extra == 0 {
            return;
        }
        self.apart_from_path(node);
        if let Some(twin) = twin {
            self.identify.identify(&mut self.fold, twin);
            self.apart_from_path(twin);
        }
        if left == 0 {
            return;
        }
        let depth = self.path.len();
        self.path.push(node);
        self.path.extend(twin);
        for input in self.spec.inputs() {
            let next = self.fold.add(node, &[input]);
            let next_twin = twin.map(|twin| self.fold.add(twin, &[input]));
            self.apart_along(next, next_twin, left - 1);
        }
        self.path.truncate(depth);
    }

    fn apart_from_path(&mut self, node: NodeId) {
        for i in 0..self.path.len() {
            let other = self.path[i];
            if self.fold.state(node) == self.fold.state(other)
                || self.fold.is_root(node)
                || self.fold.is_root(other)
            {
                continue;
            }
            if !self.fold.apart(node, other) {
                self.identify.separate(&mut self.fold, node, other);
            }
        }
    }
}

/// Transitions still to be looked at, those first for which a test ends in place.
struct Pending {
    states: Vec<(StateId, Vec<InputId>)>,
    at: usize,
}

impl Pending {
    fn new(spec: &Spec, cover: &StateCover) -> Self {
        let open = |state| spec.inputs().rev().filter(|&x| !cover.has_edge(spec, state, x)).collect();
        Self { states: cover.order().iter().map(|&state| (state, open(state))).collect(), at: 0 }
    }

    fn next(&mut self, fold: &Fold<'_>) -> Option<(StateId, InputId)> {
        self.states.retain(|(_, inputs)| !inputs.is_empty());
        let n = self.states.len();
        let ready = (0..n).map(|i| (self.at + i) % n).find(|&i| fold.has_end(self.states[i].0));
        self.at = ready.unwrap_or(0);
        let (state, inputs) = self.states.get_mut(self.at)?;
        Some((*state, inputs.pop()?))
    }
}
