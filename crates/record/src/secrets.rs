//! The secrets that must not be shown: whole, in part or in another spelling, wherever they come back.
//!
//! A system that is asked with a token may say it again: whole, shortened in a log, in base64, or escaped in a path, in
//! JSON or in HTML. So every spelling of a secret is cut into windows of eight bytes, and whatever is covered by such
//! windows in a text is replaced by `***`; the text is looked at as it is and without its escapes (`plain`). A secret
//! of four to seven bytes is replaced where it stands whole. What is shorter is no secret: replacing it would hide
//! every text.
//!
//! *Promises.* A part of at least eight bytes of a secret, of its base64 (also as a part of a longer text, also for
//! URLs) or of its hexadecimal digits does not pass [`Secrets::hide`], also if it is percent-encoded, as in forms, with
//! escapes of JSON or entities of HTML, or wrapped into lines. Of a secret that a system says in two messages,
//! three bytes at most are seen once
//! [`Secrets::learn_halves`] was told of both. Nothing is promised for other encodings, for hashes, for parts that
//! are shorter. Secrets that come up in runs are bounded in length and number, those of the user are not.

mod arguments;
mod plain;
pub mod redacting;
mod spelling;

use std::collections::BTreeSet;

use self::plain::PlainText;

pub use self::spelling::percent_encode;

/// The number of bytes of a secret that may not be shown together. Chosen by feel: so few characters of a longer
/// secret do not give it away.
pub const HIDDEN_WINDOW_BYTES: usize = 8;
/// The length in bytes below which a text is no secret. Chosen by feel: shorter texts occur everywhere, and hiding
/// them would make records unreadable.
const MIN_SECRET_BYTES: usize = 4;
/// The number of windows beyond which no more secrets of a run are added. Chosen by feel: it bounds the memory of a
/// run that is told secrets without end.
const MAX_TOLD: usize = 500_000;
/// The number of bytes of a secret of a run that are hidden. Chosen by feel: tokens and keys are shorter.
const LONGEST_TOLD: usize = 64 << 10;
/// The text in place of a secret.
pub const HIDDEN: &str = "***";
/// The mark where a text was cut for its length.
const CUT: &str = "…";

/// Returns what a text with escapes means: percent-encoding, escapes of JSON, entities of HTML.
#[must_use]
pub fn unescape(text: &str) -> String {
    let plain = PlainText::parse(text.as_bytes());
    plain.map_or_else(|| text.to_owned(), |plain| String::from_utf8_lossy(&plain.bytes).into_owned())
}

/// Texts that must not be shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Secrets {
    windows: BTreeSet<[u8; HIDDEN_WINDOW_BYTES]>,
    short: BTreeSet<Vec<u8>>,
    /// The beginnings and the ends of secrets, of four to seven bytes: a secret that is cut has them where it is cut.
    heads: BTreeSet<Vec<u8>>,
    tails: BTreeSet<Vec<u8>>,
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
        if secret.len() < MIN_SECRET_BYTES {
            return;
        }
        for spelling in spelling::all_spellings(secret) {
            if let Some(plain) = PlainText::parse(&spelling) {
                self.add_spelling(&plain.bytes);
            }
            self.add_spelling(&spelling);
        }
        let bytes = secret.as_bytes();
        if bytes.len() >= HIDDEN_WINDOW_BYTES {
            for n in MIN_SECRET_BYTES..HIDDEN_WINDOW_BYTES {
                self.heads.insert(bytes[..n].to_vec());
                self.tails.insert(bytes[bytes.len() - n..].to_vec());
            }
        }
    }

    fn add_spelling(&mut self, spelling: &[u8]) {
        self.windows.extend(
            spelling
                .windows(HIDDEN_WINDOW_BYTES)
                .filter_map(|part| <[u8; HIDDEN_WINDOW_BYTES]>::try_from(part).ok()),
        );
        if (MIN_SECRET_BYTES..HIDDEN_WINDOW_BYTES).contains(&spelling.len()) {
            self.short.insert(spelling.to_vec());
        }
    }

    /// Hides all that `other` hides, too.
    pub fn extend(&mut self, other: &Self) {
        self.windows.extend(&other.windows);
        self.short.extend(other.short.iter().cloned());
        self.heads.extend(other.heads.iter().cloned());
        self.tails.extend(other.tails.iter().cloned());
        self.fields.extend(other.fields.iter().cloned());
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

    /// Hides the value of a header, all of it but the name of a scheme such as `Bearer`; the password in the base64 of
    /// `Basic` too.
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
        let covered = self.mark_secret_bytes(text.as_bytes());
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

    /// Hides, from now on, the beginning of a secret at the end of a message and the end of one at its beginning: the
    /// rest may be in the message before or after it.
    pub fn learn_halves(&mut self, said: &str) {
        let (first, last) = self.edges(said.as_bytes());
        let halves = [said.get(..first), said.get(said.len() - last..)];
        halves.into_iter().flatten().for_each(|half| self.add_told(half));
    }

    /// Returns the number of bytes at the beginning that are the end of a secret, and at the end that are the
    /// beginning of one.
    fn edges(&self, bytes: &[u8]) -> (usize, usize) {
        let lengths = || (MIN_SECRET_BYTES..HIDDEN_WINDOW_BYTES).rev().filter(|&n| n <= bytes.len());
        let first = lengths().find(|&n| self.tails.contains(&bytes[..n]));
        let last = lengths().find(|&n| self.heads.contains(&bytes[bytes.len() - n..]));
        (first.unwrap_or(0), last.unwrap_or(0))
    }

    /// Returns whether `text` contains a secret, or a part of one that is hidden.
    #[must_use]
    pub fn is_in(&self, text: &str) -> bool {
        self.mark_secret_bytes(text.as_bytes()).contains(&true)
    }

    /// Returns for every byte whether it belongs to a secret.
    fn mark_secret_bytes(&self, bytes: &[u8]) -> Vec<bool> {
        let mut covered = vec![false; bytes.len()];
        self.each_match(bytes, |start, end| covered[start..end].fill(true));
        if let Some(plain) = PlainText::parse(bytes) {
            self.each_match(&plain.bytes, |start, end| {
                covered[plain.places[start].0..plain.places[end - 1].1].fill(true);
            });
        }
        // A text that was cut for its length may end in the middle of a secret.
        for at in (0..bytes.len()).filter(|&at| bytes[at..].starts_with(CUT.as_bytes())) {
            let (_, last) = self.edges(&bytes[..at]);
            covered[at - last..at].fill(true);
        }
        covered
    }

    /// Calls `found` with the beginning and the end of every window, and of every short secret, in `bytes`.
    fn each_match(&self, bytes: &[u8], mut found: impl FnMut(usize, usize)) {
        for (at, part) in bytes.windows(HIDDEN_WINDOW_BYTES).enumerate() {
            if self.windows.contains(part) {
                found(at, at + HIDDEN_WINDOW_BYTES);
            }
        }
        for length in MIN_SECRET_BYTES..HIDDEN_WINDOW_BYTES {
            for (at, part) in bytes.windows(length).enumerate() {
                if self.short.contains(part) {
                    found(at, at + length);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD as BASE64;

    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_system_cannot_fill_the_memory_with_secrets() {
        let mut secrets = of("given by the user");
        for n in 0..200_000_u32 {
            // No two of them have much in common.
            let digits = u128::from(n).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
            secrets.add_told(&format!("cookie number {n}, {digits:x}"));
            if secrets.windows.len() >= MAX_TOLD {
                break;
            }
        }
        let full = secrets.windows.len();
        assert!((MAX_TOLD..MAX_TOLD + 10_000).contains(&full), "{full}");
        secrets.add_told("one more that is not kept");
        assert_eq!(secrets.windows.len(), full);
        assert!(secrets.is_in("given by the user") && secrets.is_in("cookie number 7, "));
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
        check("it was cut: tok/4f…", "it was cut: ***…");
        check(r#"{"t":"tok\/4f9a?c2e71b\u002bZq"}"#, r#"{"t":"***"}"#);
        check("<a href=\"?t=tok&#x2F;4f9a?c2e71b&#43;Zq\">", "<a href=\"?t=***\">");
        check("wrapped tok/4f9a?\r\nc2e71b+Zq", "wrapped ***");
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
                let text = BASE64.encode(format!("{before}{TOKEN}{after}"));
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
        assert_eq!(header("session=0123456789; theme=dark", "session=0123456789"), "***");
        assert_eq!(header("session=0123456789; theme=dark", "id 0123456789"), "id ***");
        assert_eq!(header("a", "banana"), "banana");
    }

    /// Whatever stands in the value of a header, no eight bytes of it pass, and no parameter.
    #[test]
    fn values_of_headers_with_separators_are_hidden_whole() {
        for value in [
            "k3y=abcdefgh=ijklmnop",
            "correct horse battery staple",
            "a1b2; c3d4; e5f6, g7h8",
            "one=two;three=four,five six",
            "Bearer ab cd ef gh",
        ] {
            let mut secrets = Secrets::none();
            secrets.add_header(value);
            let shown = secrets.hide(&format!("you said {value}."));
            let secret = value.strip_prefix("Bearer ").unwrap_or(value);
            assert_eq!(
                shown,
                format!("you said {}***.", if secret == value { "" } else { "Bearer " }),
                "{value}"
            );
        }
        let mut secrets = Secrets::none();
        secrets.add_header("Basic dXNlcjpwYTs9IHNzd29yZA==");
        assert_eq!(secrets.hide("user:pa;= ssword and pa;= ssword"), "*** and ***");
    }

    /// A secret in two messages: three bytes are seen at most.
    #[test]
    fn a_secret_that_is_split_between_messages_is_hidden() {
        for at in 0..=TOKEN.len() {
            let (first, second) = (format!("say {}", &TOKEN[..at]), format!("{} end", &TOKEN[at..]));
            let mut secrets = of(TOKEN);
            [&first, &second].into_iter().for_each(|message| secrets.learn_halves(message));
            let shown = secrets.hide(&first) + &secrets.hide(&second);
            let left = shown.replace("say ", "").replace(" end", "").replace(HIDDEN, "");
            assert!(left.len() <= 3, "{at}: {shown}");
        }
        let mut secrets = of(TOKEN);
        let before = secrets.clone();
        secrets.learn_halves("token");
        assert_eq!(secrets, before, "no half of it");
    }

    proptest! {
        /// Second opinion: eight bytes of the secret that are still there would be found by plain search.
        #[test]
        fn no_eight_bytes_pass(secret in "[a-e]{8,20}", text in "[a-e]{0,60}") {
            let shown = of(&secret).hide(&text);
            for part in secret.as_bytes().windows(HIDDEN_WINDOW_BYTES) {
                prop_assert!(!shown.as_bytes().windows(HIDDEN_WINDOW_BYTES).any(|found| found == part), "{shown}");
            }
        }
    }
}
