//! Short names of failures: the same in the terminal, in every report, in `regressions.jsonl` and for `replay --name`.

/// The number of characters of the readable part. Chosen by feel: with the digits it fits into a column.
const MAX_WORDS: usize = 32;

/// Returns the id of the failures with this signature, such as `ok-in-reserved-3f2a`: the first words of the signature,
/// and four digits of the hash of all of it. The same signature has the same id on every machine.
#[must_use]
pub fn failure_id(signature: &str) -> String {
    // What was seen and where; the conditions behind it are in the hash alone.
    let told = signature.split(" against ").next().unwrap_or_default().to_lowercase();
    let mut words = String::new();
    for word in told.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty()) {
        let length = words.chars().count() + usize::from(!words.is_empty());
        if length + word.chars().count() > MAX_WORDS {
            // One long name is cut; of several words the first ones stay.
            if words.is_empty() {
                words.extend(word.chars().take(MAX_WORDS));
            }
            break;
        }
        if !words.is_empty() {
            words.push('-');
        }
        words.push_str(word);
    }
    if words.is_empty() {
        words.push_str("failure");
    }
    format!("{words}-{:04x}", hash_text(signature) & 0xffff)
}

/// Returns the FNV-1a hash of a text, in 64 bits.
fn hash_text(text: &str) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325_u64;
    text.bytes().fold(start, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_short_stable_and_readable() {
        // Ids are in files that users keep: these must not change.
        let cases = [
            ("!OK in reserved against ok `left == free`", "ok-in-reserved-"),
            ("silence in WAIT, SEND", "silence-in-wait-send-"),
            ("crash (exit status 3) after ?coin in paid_up", "crash-exit-status-3-after-coin-"),
            ("exception KeyError after ?get in idle", "exception-keyerror-after-get-in-"),
            ("", "failure-"),
        ];
        for (signature, words) in cases {
            let id = failure_id(signature);
            assert!(id.starts_with(words) && id.len() == words.len() + 4, "{signature}: {id}");
        }
        assert_eq!(failure_id("!OFRAME in NOK_WA"), "oframe-in-nok_wa-8c8a");
    }

    #[test]
    fn other_conditions_are_another_failure() {
        assert_ne!(failure_id("!X in S against a `n > 1`"), failure_id("!X in S against a `n > 2`"));
        assert!(failure_id(&"x".repeat(500)).len() < 40);
    }
}
