//! The secrets that must not be shown: whole, in part or in another spelling, wherever they come back.
//!
//! A system that is asked with a token may say it again: whole, shortened in a log, in base64 or percent-encoded in a
//! path. So every spelling of a secret is cut into windows of eight bytes, and whatever is covered by such windows
//! in a text is replaced by `***`. A secret of four to seven bytes is replaced where it stands whole. What is
//! shorter is no secret: replacing it would hide every text.
//!
//! *Promises.* A part of at least eight bytes of a secret, of its base64 (also as a part of a longer text, also for
//! URLs), of its hexadecimal digits or of its percent-encoding does not pass [`Secrets::hide`]. Nothing is
//! promised for other encodings, for hashes, for parts that are shorter. Secrets that come up in runs are bounded in
//! length and number, those of the user are not.

mod arguments;
pub mod discreet;
mod spelling;

use std::collections::BTreeSet;

/// The number of bytes of a secret that may not be shown together.
const WINDOW: usize = 8;
/// The length in bytes below which a text is no secret.
const SHORTEST: usize = 4;
/// The number of windows beyond which no more secrets of a run are added.
const MAX_TOLD: usize = 500_000;
/// The number of bytes of a secret of a run that are hidden.
const LONGEST_TOLD: usize = 64 << 10;
/// The text in place of a secret.
pub const HIDDEN: &str = "***";

/// Texts that must not be shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Secrets {
    windows: BTreeSet<[u8; WINDOW]>,
    short: BTreeSet<Vec<u8>>,
    /// Messages and those of their fields whose values are secrets.
    fields: BTreeSet<(String, String)>,
}

impl Secrets {
    /// Returns an empty set of secrets.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Returns whether nothing is secret.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.windows.is_empty() && self.short.is_empty() && self.fields.is_empty()
    }

    /// Hides `secret` from now on, in all its spellings, unless it is too short to be one.
    pub fn add(&mut self, secret: &str) {
        if secret.len() < SHORTEST {
            return;
        }
        for spelling in spelling::all(secret) {
            self.windows
                .extend(spelling.windows(WINDOW).filter_map(|part| <[u8; WINDOW]>::try_from(part).ok()));
            if (SHORTEST..WINDOW).contains(&spelling.len()) {
                self.short.insert(spelling);
            }
        }
    }

    /// Hides a text that came up in a run as a secret, or the beginning of a very long one, as long as there is room: a
    /// system must not fill the memory with them.
    pub fn add_told(&mut self, secret: &str) {
        if !self.is_full() {
            let mut ends = (0..=secret.len().min(LONGEST_TOLD)).rev();
            let end = ends.find(|&end| secret.is_char_boundary(end)).unwrap_or_default();
            self.add(&secret[..end]);
        }
    }

    /// Returns whether there is no room for further secrets of a run.
    fn is_full(&self) -> bool {
        self.windows.len() + self.short.len() >= MAX_TOLD
    }

    /// Hides the secrets in the value of a header: not the name of its scheme or its parameters, but what they
    /// are; the password in the base64 of `Basic` is one of them.
    pub fn add_header(&mut self, value: &str) {
        for part in spelling::of_header(value) {
            self.add(&part);
        }
    }

    /// Hides the values of a field of a message.
    pub fn add_field(&mut self, message: &str, field: &str) {
        self.fields.insert((message.to_owned(), field.to_owned()));
    }

    /// The fields whose values are secrets, each with its message.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.fields.iter().map(|(message, field)| (message.as_str(), field.as_str()))
    }

    /// Returns whether the values of this field are secrets.
    fn has_field(&self, message: &str, field: &str) -> bool {
        self.fields.contains(&(message.to_owned(), field.to_owned()))
    }

    /// Returns `text` without secrets, and without the values of messages that have marked fields.
    #[must_use]
    pub fn hide(&self, text: &str) -> String {
        let text = &*self.without_arguments(text);
        let covered = self.covered(text.as_bytes());
        let mut shown = String::with_capacity(text.len());
        let mut is_hidden = false;
        for (at, letter) in text.char_indices() {
            // A letter of several bytes is hidden if one of them is.
            let hidden = covered[at..at + letter.len_utf8()].contains(&true);
            match (hidden, is_hidden) {
                (true, false) => shown.push_str(HIDDEN),
                (true, true) => (),
                (false, _) => shown.push(letter),
            }
            is_hidden = hidden;
        }
        shown
    }

    /// Returns whether `text` contains a secret, or a part of one that is hidden.
    #[must_use]
    pub fn is_in(&self, text: &str) -> bool {
        self.covered(text.as_bytes()).contains(&true)
    }

    /// Returns for every byte whether it belongs to a secret.
    fn covered(&self, bytes: &[u8]) -> Vec<bool> {
        let mut covered = vec![false; bytes.len()];
        for (at, part) in bytes.windows(WINDOW).enumerate() {
            if self.windows.contains(part) {
                covered[at..at + WINDOW].fill(true);
            }
        }
        for length in SHORTEST..WINDOW {
            for (at, part) in bytes.windows(length).enumerate() {
                if self.short.contains(part) {
                    covered[at..at + length].fill(true);
                }
            }
        }
        covered
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_system_cannot_fill_the_memory_with_secrets() {
        let mut secrets = of("given by the user");
        for n in 0..200_000 {
            secrets.add_told(&format!("cookie number {n}, and so on and on"));
            if secrets.windows.len() >= MAX_TOLD {
                break;
            }
        }
        let full = secrets.windows.len();
        assert!((MAX_TOLD..MAX_TOLD + 10_000).contains(&full), "{full}");
        secrets.add_told("one more that is not kept");
        assert_eq!(secrets.windows.len(), full);
        assert!(secrets.is_in("given by the user") && secrets.is_in("cookie number 7, and so on"));
        secrets.add("another of the user");
        assert!(secrets.is_in("another of the user"), "those are always hidden");
    }

    #[test]
    fn one_long_secret_of_a_system_does_not_fill_the_memory_either() {
        let long: String = (0..2 * LONGEST_TOLD).map(|n| char::from(b'a' + (n * n / 7 % 26) as u8)).collect();
        let mut secrets = Secrets::none();
        secrets.add_told(&long);
        assert!(secrets.windows.len() < 20 * LONGEST_TOLD, "{}", secrets.windows.len());
        assert!(secrets.is_in(&long[..100]) && secrets.is_in(&long[LONGEST_TOLD - 100..LONGEST_TOLD]));
    }

    #[test]
    fn what_is_too_short_is_no_secret_in_any_spelling() {
        for secret in ["", "a", "ab", "abc", "é%"] {
            let mut secrets = of(secret);
            secrets.add_told(secret);
            secrets.add_header(secret);
            assert!(secrets.is_empty(), "{secret}: {secrets:?}");
        }
        assert_eq!(of("abcd").hide("abcd 61626364 YWJjZA=="), "*** *** ***A==");
    }

    fn of(secret: &str) -> Secrets {
        let mut secrets = Secrets::none();
        secrets.add(secret);
        secrets
    }

    const TOKEN: &str = "tok/4f9a?c2e71b+Zq";

    #[test]
    fn parts_and_other_spellings_are_hidden() {
        let secrets = of(TOKEN);
        let check = |text: &str, shown: &str| assert_eq!(secrets.hide(text), shown, "{text}");
        check("the token is tok/4f9a?c2e71b+Zq.", "the token is ***.");
        check("it begins tok/4f9a?c and ends 71b+Zq", "it begins *** and ends 71b+Zq");
        check("GET /x?t=tok%2F4f9a%3Fc2e71b%2BZq HTTP", "GET /x?t=*** HTTP");
        check("GET /x?t=tok%2f4f9a%3fc2e71b%2bZq HTTP", "GET /x?t=*** HTTP");
        check("746f6b2f346639613f633265373162", "***");
        check("746F6B2F346639613F633265373162", "***");
        check("plain text", "plain text");
        assert!(secrets.is_in("x tok/4f9a y") && !secrets.is_in("x tok/4f9 y"));
    }

    #[test]
    fn base64_is_found_wherever_it_begins() {
        let secrets = of(TOKEN);
        for before in ["", "u", "us", "user:", "user@x:"] {
            for after in ["", "!", "!!"] {
                let text = spelling::base64(format!("{before}{TOKEN}{after}").as_bytes());
                let shown = secrets.hide(&text);
                assert!(shown.contains(HIDDEN) && shown.len() < text.len(), "{text}: {shown}");
            }
        }
    }

    #[test]
    fn the_name_of_a_scheme_is_no_secret() {
        let header = |value: &str, text: &str| {
            let mut secrets = Secrets::none();
            secrets.add_header(value);
            secrets.hide(text)
        };
        assert_eq!(header("Bearer abcdefghij", "Bearer abcdefghij"), "Bearer ***");
        assert_eq!(header("s3cret", "the s3cret and s3cre"), "the *** and s3cre");
        // `Basic` is the base64 of the name and the password.
        assert_eq!(
            header("Basic dXNlcjpob3JzZWJhdHRlcnk=", "bad password horsebattery of user"),
            "bad password *** of user"
        );
        assert_eq!(header("session=0123456789; theme=dark", "session=0123456789"), "session=***");
        assert_eq!(header("a", "banana"), "banana");
    }

    proptest! {
        /// Second opinion: eight bytes of the secret that are still there would be found by plain search.
        #[test]
        fn no_eight_bytes_pass(secret in "[a-e]{8,20}", text in "[a-e]{0,60}") {
            let shown = of(&secret).hide(&text);
            for part in secret.as_bytes().windows(WINDOW) {
                prop_assert!(!shown.as_bytes().windows(WINDOW).any(|found| found == part), "{shown}");
            }
        }
    }
}
