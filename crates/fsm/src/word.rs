//! Input words and input/output words.
//!
//! A word is a finite sequence of inputs applied from reset; a trace is a word
//! with the output observed at each step. Shortlex is the order of results.

use std::cmp::Ordering;

use crate::mealy::{InputId, MachineNames, OutputId};

/// A finite sequence of inputs.
pub type Word = Vec<InputId>;

/// A finite sequence of inputs, each with its output.
pub type IoWord = Vec<(InputId, OutputId)>;

/// Shorter words first, words of one length by their symbols.
#[must_use]
pub fn compare_shortlex<T: Ord>(a: &[T], b: &[T]) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

/// All words over `n_inputs` inputs of length at most `max`, in shortlex order, lazily.
pub fn words_up_to(n_inputs: usize, max: usize) -> impl Iterator<Item = Word> {
    (0..=max).flat_map(move |len| words_of_length(n_inputs, len))
}

/// All words over `n_inputs` inputs of length `len`, in order, lazily.
pub fn words_of_length(n_inputs: usize, len: usize) -> impl Iterator<Item = Word> {
    let mut next = (n_inputs > 0 || len == 0).then(|| vec![0; len]);
    std::iter::from_fn(move || {
        let word = next.take()?;
        next = next_word(&word, n_inputs);
        Some(word.into_iter().map(InputId::from).collect())
    })
}

/// The words of `words` that are no proper prefix of another, in order, each once.
#[must_use]
pub fn without_prefixes(mut words: Vec<Word>) -> Vec<Word> {
    words.sort();
    words.dedup();
    let covered: Vec<bool> =
        (0..words.len()).map(|i| words.get(i + 1).is_some_and(|next| next.starts_with(&words[i]))).collect();
    words.into_iter().zip(covered).filter_map(|(word, covered)| (!covered).then_some(word)).collect()
}

/// `word` in the names of the machine, `ε` if it is empty.
#[must_use]
pub fn show_word(names: &MachineNames, word: &[InputId]) -> String {
    if word.is_empty() {
        return "ε".to_owned();
    }
    word.iter().map(|&input| names.inputs[input].as_str()).collect::<Vec<_>>().join(" ")
}

/// `trace` in the names of the machine, as `a/0 b/1`, `ε` if it is empty.
#[must_use]
pub fn show_io(names: &MachineNames, trace: &[(InputId, OutputId)]) -> String {
    if trace.is_empty() {
        return "ε".to_owned();
    }
    let step = |&(x, y): &(InputId, OutputId)| format!("{}/{}", names.inputs[x], names.outputs[y]);
    trace.iter().map(step).collect::<Vec<_>>().join(" ")
}

fn next_word(word: &[u32], n_inputs: usize) -> Option<Vec<u32>> {
    let mut next = word.to_vec();
    for digit in next.iter_mut().rev() {
        *digit += 1;
        if (*digit as usize) < n_inputs {
            return Some(next);
        }
        *digit = 0;
    }
    None
}
