//! Tests of records that campaigns write.

use ioxide_record::format::{Record, RecordError, Recorder, each};

use crate::campaign::{CampaignConfig, OnFailure};
use crate::samples::{VENDING, example, model, test, test_into};

/// The record of a campaign that goes on over failures.
fn recorded(seed: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    let config = CampaignConfig { runs: 4, seed, on_failure: OnFailure::GoOn, ..CampaignConfig::default() };
    let sut = model(&VENDING.replace("paid - 2", "paid - 1"));
    test_into(&model(VENDING), &sut, 30, &config, &mut Recorder::new(&mut bytes).unwrap()).unwrap();
    bytes
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    assert_eq!(recorded(3), recorded(3));
    assert_ne!(recorded(3), recorded(4));
}

#[test]
fn a_record_is_read_as_it_was_told() {
    let config = CampaignConfig { runs: 3, ..CampaignConfig::default() };
    let (spec, sut) = (example("brp/spec.iox"), example("brp/m3.iox"));
    let (events, _) = test(&spec, &sut, 60, &config);
    let mut bytes = Vec::new();
    test_into(&spec, &sut, 60, &config, &mut Recorder::new(&mut bytes).unwrap()).unwrap();
    let record = Record::read_record(&bytes[..]).unwrap();
    assert_eq!(record, Record { events, is_cut: false });
}

#[test]
fn a_trace_can_be_taken_from_it() {
    let config = CampaignConfig { runs: 50, ..CampaignConfig::default() };
    let (spec, sut) = (example("brp/spec.iox"), example("brp/m3.iox"));
    let mut bytes = Vec::new();
    let outcome = test_into(&spec, &sut, 60, &config, &mut Recorder::new(&mut bytes).unwrap()).unwrap();
    let failure = &outcome.failures[0];
    let record = Record::read_record(&bytes[..]).unwrap();
    assert_eq!(record.trace(&spec, failure.id.run).unwrap(), failure.trace);
}

#[test]
fn what_was_written_before_an_abort_is_readable() {
    let bytes = recorded(3);
    let whole = Record::read_record(&bytes[..]).unwrap();
    for end in (bytes.len() / 2..bytes.len()).step_by(97) {
        let part = Record::read_record(&bytes[..end]).unwrap();
        assert!(!part.events.is_empty());
        assert!(whole.events.starts_with(&part.events));
    }
}

#[test]
fn whoever_reads_event_by_event_may_stop() {
    let mut n = 0;
    let told = each(&recorded(3)[..], |_| {
        n += 1;
        if n < 5 { Ok(()) } else { Err(RecordError::NotARecord("enough".into())) }
    });
    assert!(matches!(told, Err(RecordError::NotARecord(_))));
    assert_eq!(n, 5);
}
