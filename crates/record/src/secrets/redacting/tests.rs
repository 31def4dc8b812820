use super::*;
use crate::event::LabelKind;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Map;

fn step(label: &str, field: &str, value: Json, raw: &str) -> EventKind {
    let text = format!("?{label}({field}: {value})");
    let args: Map<String, Json> = [(field.to_owned(), value)].into_iter().collect();
    let (kind, raw, label) = (LabelKind::Input, Some(raw.to_owned()), label.to_owned());
    let label = LabelRecord { kind, label, args, text, delay_ns: None, raw, way: None, part: None };
    EventKind::Stimulus(StepRecord { step: 1, label, belief: None, switches: Vec::new() })
}

fn told(secrets: &Secrets, events: impl IntoIterator<Item = EventKind>) -> String {
    let mut seen: Vec<Event> = Vec::new();
    let mut redacting = RedactingReporter::new(&mut seen, secrets.clone());
    for event in events {
        redacting.event(&Event { seq: 0, time_ns: 0, run: None, event }).unwrap();
    }
    serde_json::to_string(&seen).unwrap()
}

#[test]
fn nothing_that_is_told_has_the_secret() {
    let mut secrets = Secrets::none();
    secrets.add("0123456789abcdef");
    let trouble = SystemTrouble { error: "bad 456789ab".into(), last_words: "GET /0123456789abcdef".into() };
    let value = json!(["x", "y0123456789abcdefz"]);
    let text = told(&secrets, [step("m", "f", value, "m 0123456789abcdef"), EventKind::Trouble(trouble)]);
    assert!(!text.contains("456789ab"), "{text}");
    assert!(text.contains(r#""args":{"f":{"secret":true}}"#), "{text}");
}

#[test]
fn the_value_of_a_marked_field_is_hidden_from_then_on() {
    let mut secrets = Secrets::none();
    secrets.add_field("login", "pin");
    let trouble = SystemTrouble { error: "4711 is wrong".into(), last_words: String::new() };
    let text = told(&secrets, [step("login", "pin", json!(4711), "LOGIN 4711"), EventKind::Trouble(trouble)]);
    assert!(!text.contains("4711") && text.contains("?login(***)"), "{text}");
    let other = told(&secrets, [step("login", "user", json!("ann"), "LOGIN ann")]);
    assert!(other.contains("LOGIN ann"), "{other}");
}

/// Returns the event that the JSON `text` writes, told without `secrets`.
fn hidden(secrets: &Secrets, text: &str) -> String {
    told(secrets, [serde_json::from_str(text).unwrap_or_else(|error| panic!("{text}: {error}"))])
}

const TOKEN: &str = "0123456789abcdef";

/// Every text that is not a name of the model or a setting, with the secret in it.
#[test]
fn no_kind_of_event_passes_with_the_secret() {
    let mut secrets = Secrets::none();
    secrets.add(TOKEN);
    let label = r#"{"kind":"output","label":"m","args":{"f":"S"},"text":"!m(f: \"S\")","raw":"m S"}"#;
    let events = [
        r#"{"campaign_started":{"model":"M","set":["key=S"],"switches":[],"tester":"t",
            "sut":"run S","seed":1,"runs":1,"patience_ms":1}}"#
            .to_owned(),
        r#"{"run_started":{"run":0,"seed":1,"goal":"again S"}}"#.into(),
        format!(r#"{{"stimulus":{{"step":1,"label":{label},"belief":1,"switches":[]}}}}"#),
        format!(r#"{{"observation":{{"step":1,"label":{label},"belief":1,"switches":[]}}}}"#),
        r#"{"patience":{"label":"!m(f: \"S\")","took_ms":1,"from_ms":1,"to_ms":1}}"#.into(),
        r#"{"verdict":{"verdict":"fail","reason":"S","kind":"S","signature":"S","last_words":"S",
            "finding":{"word":"FAIL_out","state":"S","event":"S","because":"S"},
            "explanation":{"observed":"S","allowed":[{"label":"S"}],"n_states":1,
            "states":[{"location":"at S","values":["v = S"],"path":["S"]}],
            "why_not":[{"state":0,"switch":"s","reason":"S"}]}}}"#
            .into(),
        r#"{"trouble":{"error":"S","last_words":"S"}}"#.into(),
        r#"{"run_finished":{"run":0,"outcome":"fail","steps":1,"doubts":0}}"#.into(),
        format!(r#"{{"replayed":{{"run":0,"reproduced":1,"of":2,"instead":{{"outcome":"pass","trace":[{label}]}}}}}}"#),
        format!(r#"{{"shrunk":{{"run":0,"trace":[{label}],"from":2,"attempts":1,"minimal":true,"early":"S",
            "reproduced":1,"of":1,"signature":"S"}}}}"#),
        r#"{"campaign_finished":{"runs":1,"passed":0,"inconclusive":0,"failed":1,"errors":0,"interrupted":false,
            "covered":[],"never":[],"failures":[{"signature":"S","first":0,"runs":1}],
            "measures":[{"measure":"values","seen":0,"missing":["S"]}],
            "history":{"longest_run":1,"extents":[{"variable":"v","least":"S","most":"S"}]}}}"#.into(),
    ];
    for event in events {
        let shown = hidden(&secrets, &event.replace('S', TOKEN).replace('\n', ""));
        assert!(!shown.contains("01234567"), "{shown}");
        assert_eq!(shown.contains(HIDDEN), event.contains('S'), "{shown}");
    }
}

/// A late message is told before it is seen, and a value may be too short to be found anywhere.
#[test]
fn messages_with_marked_fields_are_told_without_their_values() {
    let mut secrets = Secrets::none();
    secrets.add_field("login", "pin");
    let check = |text: &str, shown: &str| {
        let event = json!({ "patience": { "label": text, "took_ms": 1, "from_ms": 1, "to_ms": 1 } });
        let told = hidden(&secrets, &event.to_string());
        assert!(told.contains(&json!(shown).to_string()), "{told}");
    };
    check("!login(pin: 47)", "!login(***)");
    check("the model does not allow ?login(pin: 47) here", "the model does not allow ?login(***) here");
    check(
        r#"?login(pin: "4)\"7", who: some(p(a: 1))), then !login(pin: 8)!"#,
        "?login(***), then !login(***)!",
    );
    check("?login(pin: \"cut o", "?login(***");
    check("?relogin(pin: 47) and !login", "?relogin(pin: 47) and !login");
}

#[test]
fn a_system_that_gives_new_secrets_all_the_time_does_not_fill_the_memory() {
    let mut secrets = Secrets::none();
    secrets.add_field("login", "pin");
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    for _ in 0..80 {
        let value: String = (0..2_000).map(|_| rng.random_range('a'..='z')).collect();
        secrets.add_from_event(&step("login", "pin", json!(value), ""));
    }
    assert!(secrets.is_full(), "this was enough to fill it");
    let before = secrets.clone();
    secrets.add_from_event(&step("login", "pin", json!("one more, and not kept"), ""));
    assert_eq!(secrets, before);
}

/// The progress of shrinking holds no text of the system, and whoever waits wants to see it.
#[test]
fn the_progress_of_shrinking_is_passed_on() {
    struct Last(Option<ShrinkingRecord>);
    impl Reporter for Last {
        fn event(&mut self, _event: &Event) -> io::Result<()> {
            Ok(())
        }

        fn shrinking(&mut self, shrinking: &ShrinkingRecord) {
            self.0 = Some(*shrinking);
        }
    }
    let mut last = Last(None);
    let progress = ShrinkingRecord { run: 3, attempts: 2, steps: 9, limit_s: None, left_s: None };
    RedactingReporter::new(&mut last, Secrets::none()).shrinking(&progress);
    assert_eq!(last.0, Some(progress));
}
