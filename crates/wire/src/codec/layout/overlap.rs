//! Bytes that two layouts could both be.

use super::{LayoutItem, MessageLayout, NumberRole};

/// The bits of a byte that are constant, and their values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct KnownBits {
    mask: u8,
    bits: u8,
}

impl MessageLayout {
    /// Returns whether bytes could be a message of both layouts, as far as constants and sizes tell, and this layout is
    /// no special case of `later`.
    ///
    /// A special case before the general one is how precedence is meant.
    #[must_use]
    pub fn is_ambiguous_before(&self, later: &Self) -> bool {
        // Two messages are told apart by a bit that is constant in both and differs, or by sizes that never meet.
        let (ours, theirs) = (self.known_bits(), later.known_bits());
        let differ = |(a, b): (&KnownBits, &KnownBits)| (a.bits ^ b.bits) & a.mask & b.mask != 0;
        if ours.iter().zip(&theirs).any(differ)
            || self.sizes().1 < later.sizes().0
            || later.sizes().1 < self.sizes().0
        {
            return false;
        }
        let known = |all: &[KnownBits]| all.iter().map(|known| known.mask.count_ones()).sum::<u32>();
        let at = |all: &[KnownBits], n: usize| all.get(n).copied().unwrap_or_default().mask;
        // The earlier layout is a special case if every bit that is constant in the later one is constant in it too,
        // with the same value (no two differ, as was checked above), and it has more of them.
        let is_special =
            (0..theirs.len()).all(|n| at(&theirs, n) & !at(&ours, n) == 0) && known(&ours) > known(&theirs);
        !is_special
    }

    /// The least and the greatest size.
    fn sizes(&self) -> (usize, usize) {
        let least = self.items.iter().filter_map(LayoutItem::fixed_size).sum();
        let is_fixed = self.items.iter().all(|item| item.fixed_size().is_some());
        (least, if is_fixed { least } else { usize::MAX })
    }

    /// Returns the constant bits of the first bytes, up to an item whose size varies.
    fn known_bits(&self) -> Vec<KnownBits> {
        let mut known = Vec::new();
        for item in &self.items {
            // Behind an item of varying size, the position of a byte is not known any more.
            let Some(size) = item.fixed_size() else { break };
            known.extend(item.known_bits(size));
        }
        known
    }
}

impl LayoutItem {
    fn known_bits(&self, size: usize) -> Vec<KnownBits> {
        let all = |bytes: &[u8]| bytes.iter().map(|&bits| KnownBits { mask: 0xff, bits }).collect();
        match self {
            Self::Const(bytes) => all(bytes),
            Self::Number(number, NumberRole::Const(value)) => {
                number.bytes(*value).map_or_else(|_| Vec::new(), |b| all(&b))
            }
            Self::Bits(number, parts) => {
                let (mut mask, mut bits) = (0i128, 0i128);
                for (count, what) in parts {
                    let ones = (1 << count) - 1;
                    let (known, value) =
                        if let NumberRole::Const(value) = what { (ones, *value) } else { (0, 0) };
                    (mask, bits) = (mask << count | known, bits << count | value);
                }
                let bytes = |value| number.bytes(value).unwrap_or_default();
                bytes(mask)
                    .into_iter()
                    .zip(bytes(bits))
                    .map(|(mask, bits)| KnownBits { mask, bits })
                    .collect()
            }
            _ => vec![KnownBits::default(); size],
        }
    }
}
