//! A certificate of completeness: a condition on the words of a suite that can be read off and suffices.
//!
//! *The H-condition* \[DEY05]: there is an access word for every state, the empty one among them, such that every
//! access word goes on with all words of up to `extra + 1` symbols, and every two of these words that lead to
//! different states, both access words, or one an access word, or one a beginning of the other behind the same
//! access word, are distinguished by a word behind both.
//!
//! *k-A-completeness* \[VFM24]: if the access words `A` hold their own beginnings and *every* two of these words are
//! distinguished that lead to different states, the suite finds more: every wrong system, however many states it has,
//! all of whose states are reached by a word of `A` and at most `extra` more symbols, or in which two words of `A`
//! lead to equivalent states.
//!
//! *Promises.* A certificate is a proof. That none was found proves nothing: methods that rely on words known to
//! converge have smaller suites than the condition asks for; for them there is another
//! [certificate](super::converge).

use ioxide_model::index::Idx;

use crate::counting::tree::WordTree;
use crate::mealy::{InputId, Mealy, SuiteModel};
use crate::word::Word;

/// Access words tried for one state. This limit and the two below were chosen by feel: they bound the time, and a
/// certificate that is missed because of them is not a wrong answer.
const MAX_CANDIDATES: usize = 24;
/// Choices of access words looked at. Chosen by feel: it bounds the time.
const MAX_CHOICES: usize = 20_000;
/// Words behind access words looked at. Chosen by feel: it bounds the time.
const MAX_WORDS: usize = 200_000;

/// A proof that a suite is complete: the access words for which a condition holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// An access word for every state, in the order of the states.
    pub access: Vec<Word>,
    /// The condition that holds for them.
    pub rule: CertificateRule,
}

/// A condition that suffices for completeness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CertificateRule {
    /// The H-condition.
    Distinguished,
    /// The H-condition, and the suite is also k-A-complete: complete for systems of any size all of whose states are
    /// reached by an access word and at most `extra` more symbols.
    KAComplete,
    /// Every access word followed by an input converges with the access word of its target.
    Convergence,
}

impl Certificate {
    /// Returns whether the suite is also complete for larger systems near the access words.
    #[must_use]
    pub fn is_k_a_complete(&self) -> bool {
        self.rule == CertificateRule::KAComplete
    }
}

/// A certificate that `suite` is complete for `spec` and `extra` more states, if one is found.
#[must_use]
pub fn certify(spec: &SuiteModel, suite: &[Word], extra: usize) -> Option<Certificate> {
    let machine = spec.to_mealy();
    let mut tree = WordTree::new(&machine);
    for word in suite {
        word.iter().fold(0, |node, &input| tree.add(node, input));
    }
    let per_access = spec.n_inputs().checked_pow(u32::try_from(extra + 1).ok()?)?;
    if per_access.checked_mul(spec.n_states())? > MAX_WORDS {
        return None;
    }
    let mut proof = SuiteProof { machine: &machine, tree: &tree, extra, choices: 0 };
    let candidates = proof.access_candidates();
    let mut chosen = Vec::new();
    if !proof.choose_access_words(&candidates, &mut chosen) {
        return None;
    }
    debug_assert_eq!(chosen.len(), spec.n_states(), "one access word for every state");
    let access: Vec<Word> = chosen.iter().map(|basis| basis.access.clone()).collect();
    let is_k_a_complete = proof.is_prefix_closed(&access) && proof.separates_all_behind(&chosen);
    let rule = if is_k_a_complete { CertificateRule::KAComplete } else { CertificateRule::Distinguished };
    Some(Certificate { access, rule })
}

/// An access word, and the words behind it.
#[derive(Clone, Debug)]
struct CertifiedBasis {
    access: Word,
    node: usize,
    /// Nodes behind the access word, at most `extra + 1` symbols away.
    behind: Vec<usize>,
}

struct SuiteProof<'t> {
    machine: &'t Mealy,
    tree: &'t WordTree<'t>,
    extra: usize,
    choices: usize,
}

impl SuiteProof<'_> {
    /// Returns for every state the candidate access words, shortest first: those that the tree extends by all words
    /// of up to `extra + 1` symbols, settled along each.
    fn access_candidates(&self) -> Vec<Vec<CertifiedBasis>> {
        let mut found: Vec<Vec<CertifiedBasis>> = vec![Vec::new(); self.machine.n_states()];
        // Breadth first, so that the shortest access words come first and the limit drops the longest.
        let mut level = vec![(0, Word::new())];
        while !level.is_empty() {
            let mut next = Vec::new();
            for (node, access) in level {
                let candidates = &mut found[self.tree.state(node).index()];
                if candidates.len() < MAX_CANDIDATES
                    && let Some(behind) = self.nodes_behind(node)
                {
                    candidates.push(CertifiedBasis { access: access.clone(), node, behind });
                }
                for &(input, kid) in self.tree.children(node) {
                    next.push((kid, [access.as_slice(), &[input]].concat()));
                }
            }
            level = next;
        }
        // The condition asks for the empty word: another one that leads back to the initial state says nothing of the
        // state in which a system starts.
        found[self.machine.initial().index()].retain(|basis| basis.access.is_empty());
        found
    }

    /// Returns the nodes at most `extra + 1` symbols behind `node`; `None` if a word is missing or two nodes along
    /// one are not settled.
    fn nodes_behind(&self, node: usize) -> Option<Vec<usize>> {
        let mut found = Vec::new();
        self.collect_nodes_behind(node, &mut Vec::new(), &mut found).then_some(found)
    }

    fn collect_nodes_behind(&self, node: usize, path: &mut Vec<usize>, found: &mut Vec<usize>) -> bool {
        if path.len() > self.extra {
            return true;
        }
        let all: Vec<InputId> = self.machine.inputs().collect();
        all.into_iter().all(|input| {
            let Some(kid) = self.tree.child(node, input) else { return false };
            // The third kind of pair of the H-condition: a word and its own beginning behind the same access word.
            if !path.iter().all(|&before| self.are_settled(before, kid)) {
                return false;
            }
            found.push(kid);
            path.push(kid);
            let goes_on = self.collect_nodes_behind(kid, path, found);
            path.pop();
            goes_on
        })
    }

    /// Returns whether the nodes lead to the same state or the tree holds a word behind both that separates them.
    fn are_settled(&self, a: usize, b: usize) -> bool {
        self.tree.state(a) == self.tree.state(b) || self.tree.separates(a, b)
    }

    /// Chooses an access word for every state from `chosen.len()` on such that all fit together; returns whether it
    /// could.
    fn choose_access_words(
        &mut self,
        candidates: &[Vec<CertifiedBasis>],
        chosen: &mut Vec<CertifiedBasis>,
    ) -> bool {
        // Backtracking, one state after the other: compatibility is pairwise, so a choice that fits all earlier ones
        // stays right whatever comes later.
        let Some(options) = candidates.get(chosen.len()) else { return true };
        for basis in options {
            self.choices += 1;
            if self.choices > MAX_CHOICES {
                return false;
            }
            if chosen.iter().all(|other| self.are_compatible(other, basis)) && self.is_settled_behind(basis) {
                chosen.push(basis.clone());
                if self.choose_access_words(candidates, chosen) {
                    return true;
                }
                chosen.pop();
            }
        }
        false
    }

    fn is_settled_behind(&self, basis: &CertifiedBasis) -> bool {
        // The second kind of pair, an access word and a longer word, for the same access word.
        basis.behind.iter().all(|&node| self.are_settled(basis.node, node))
    }

    fn are_compatible(&self, a: &CertifiedBasis, b: &CertifiedBasis) -> bool {
        // The first kind of pair, both access words, then the second for two different access words.
        self.are_settled(a.node, b.node)
            && b.behind.iter().all(|&node| self.are_settled(a.node, node))
            && a.behind.iter().all(|&node| self.are_settled(b.node, node))
    }

    /// Returns whether the access words are prefix-closed.
    fn is_prefix_closed(&self, access: &[Word]) -> bool {
        let holds = |word: &[InputId]| access.iter().any(|other| other == word);
        access.iter().all(|word| word.is_empty() || holds(&word[..word.len() - 1]))
    }

    /// Returns whether the tree separates every two words behind access words that lead to different states.
    fn separates_all_behind(&self, chosen: &[CertifiedBasis]) -> bool {
        // k-A-completeness asks for every two words behind access words, not only for those along one path.
        let all: Vec<usize> = chosen.iter().flat_map(|basis| basis.behind.iter().copied()).collect();
        all.iter().enumerate().all(|(i, &a)| all[..i].iter().all(|&b| self.are_settled(a, b)))
    }
}
