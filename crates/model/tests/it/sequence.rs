//! Sequences compared with vectors.

use std::cmp::Ordering;
use std::hash::{DefaultHasher, Hash, Hasher};

use ioxide_model::sequence::Sequence;
use proptest::prelude::*;

fn hash_of(item: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    item.hash(&mut hasher);
    hasher.finish()
}

#[derive(Clone, Debug)]
enum Change {
    Insert(usize, u8),
    Remove(usize),
    Replace(usize, u8),
    Rotate(usize),
}

fn change() -> impl Strategy<Value = Change> {
    let at = 0..150usize;
    prop_oneof![
        (at.clone(), any::<u8>()).prop_map(|(at, item)| Change::Insert(at, item)),
        at.clone().prop_map(Change::Remove),
        (at.clone(), any::<u8>()).prop_map(|(at, item)| Change::Replace(at, item)),
        at.prop_map(Change::Rotate),
    ]
}

fn changed(tree: &Sequence<u8>, plain: &mut Vec<u8>, change: &Change) -> Sequence<u8> {
    match *change {
        Change::Insert(at, item) => {
            let at = at.min(plain.len());
            plain.insert(at, item);
            tree.with_inserted(at, item)
        }
        Change::Remove(at) => {
            if at < plain.len() {
                plain.remove(at);
            }
            tree.with_removed(at)
        }
        Change::Replace(at, item) => {
            if let Some(old) = plain.get_mut(at) {
                *old = item;
            }
            tree.with_replaced(at, item)
        }
        Change::Rotate(at) => {
            let at = at.min(plain.len());
            plain.rotate_left(at);
            tree.skip_first(at).followed_by(&tree.take_first(at))
        }
    }
}

proptest! {
    #[test]
    fn a_sequence_is_what_a_vector_is(
        mut plain in prop_oneof![Just(Vec::new()), prop::collection::vec(any::<u8>(), 0..150)],
        changes in prop::collection::vec(change(), 0..80),
    ) {
        let mut tree: Sequence<u8> = plain.iter().copied().collect();
        for change in &changes {
            tree = changed(&tree, &mut plain, change);
            prop_assert!(tree.is_balanced());
        }
        prop_assert_eq!(tree.iter().copied().collect::<Vec<_>>(), plain.clone());
        prop_assert_eq!(tree.get(3), plain.get(3));
        prop_assert_eq!(tree.get(40), plain.get(40));
        // Another way to the same items: another form, the same sequence and hash.
        let again: Sequence<u8> = plain.iter().copied().collect();
        prop_assert_eq!(&tree, &again);
        prop_assert_eq!(tree.cmp(&again), Ordering::Equal);
        prop_assert_eq!(hash_of(&tree), hash_of(&again));
    }

    /// Sequences that were made from one another share memory, and a change to one is not seen in another.
    #[test]
    fn earlier_versions_stay_as_they_were(
        changes in prop::collection::vec((any::<prop::sample::Index>(), change()), 0..120),
    ) {
        let mut versions: Vec<(Sequence<u8>, Vec<u8>)> = vec![(Sequence::new(), Vec::new())];
        for (from, change) in &changes {
            let (tree, mut plain) = from.get(&versions).clone();
            let tree = changed(&tree, &mut plain, change);
            versions.push((tree, plain));
        }
        for (tree, plain) in &versions {
            prop_assert_eq!(&tree.iter().copied().collect::<Vec<_>>(), plain);
        }
    }

    #[test]
    fn other_items_are_another_sequence(mut a in prop::collection::vec(0u8..4, 1..60), at in 0..60usize) {
        let before: Sequence<u8> = a.iter().copied().collect();
        let at = at % a.len();
        a[at] = a[at].wrapping_add(1);
        let after: Sequence<u8> = a.into_iter().collect();
        prop_assert_ne!(before, after);
    }
}

/// A queue, a stack and a tree that grows in the middle stay low.
#[test]
fn long_sequences_are_low() {
    let grown = |at: fn(usize) -> usize| {
        (0..20_000).fold(Sequence::new(), |tree: Sequence<u8>, n| tree.with_inserted(at(n), 0))
    };
    for tree in [grown(|n| n), grown(|_| 0), grown(|n| n / 2)] {
        assert!(tree.is_balanced());
        assert!(tree.height() <= 17, "{}", tree.height());
        let shrunk = (0..19_000).fold(tree, |tree, _| tree.skip_first(1));
        assert!(shrunk.is_balanced() && shrunk.len() == 1_000 && shrunk.height() <= 11);
    }
}

#[test]
fn threads_that_go_on_from_one_block_do_not_disturb_each_other() {
    let base: Sequence<u8> = (0..3).collect::<Sequence<u8>>().with_inserted(3, 3);
    std::thread::scope(|scope| {
        for id in 10..14 {
            let base = &base;
            scope.spawn(move || {
                for _ in 0..1_000 {
                    let mine = base.with_inserted(4, id).with_inserted(5, id);
                    assert_eq!(mine.iter().copied().collect::<Vec<_>>(), [0, 1, 2, 3, id, id]);
                }
            });
        }
    });
}

#[test]
fn a_sorted_sequence_is_searched() {
    let even: Sequence<u8> = (0..50).map(|n| n * 2).collect();
    assert_eq!(even.search(|item| item.cmp(&48)), Ok(24));
    assert_eq!(even.search(|item| item.cmp(&49)), Err(25));
    assert_eq!(even.search(|item| item.cmp(&200)), Err(50));
}
