//! Records come from elsewhere: whatever numbers they have, every report is written.

use std::collections::HashSet;
use std::io::Cursor;

use ioxide_record::event::Event;
use ioxide_record::reporter::Reporter;
use serde_json::Value as Json;

use crate::html::ReportPage;
use crate::html::campaign::CampaignPage;
use crate::junit::JunitReport;
use crate::markdown::MarkdownReport;
use crate::summary::samples::failing;
use crate::terminal::TerminalReporter;

/// The numbers tried; those that a field cannot have are no record.
const EXTREMES: [u64; 5] = [0, 1, u32::MAX as u64, i64::MAX as u64, u64::MAX];

/// Collects the JSON pointers of all numbers.
fn numbers(json: &Json, at: &str, found: &mut Vec<String>) {
    match json {
        Json::Number(_) => found.push(at.to_owned()),
        Json::Array(items) => {
            items.iter().enumerate().for_each(|(n, item)| numbers(item, &format!("{at}/{n}"), found))
        }
        Json::Object(members) => {
            members.iter().for_each(|(key, member)| numbers(member, &format!("{at}/{key}"), found))
        }
        Json::Null | Json::Bool(_) | Json::String(_) => (),
    }
}

/// Returns the event with other numbers at these places; `None` if that is no event.
fn with(event: &Event, places: &[String], number: u64) -> Option<Event> {
    let mut json = serde_json::to_value(event).unwrap();
    for place in places {
        *json.pointer_mut(place).unwrap() = number.into();
    }
    serde_json::from_value(json).ok()
}

/// Writes every report of these events.
fn write_all(events: &[Event]) {
    let (mut text, mut page, mut xml) = (Vec::new(), Vec::new(), Cursor::new(Vec::new()));
    let mut terminal = TerminalReporter::new(&mut text, |_: &str| ());
    let mut markdown = MarkdownReport::new(&mut page, "runs");
    let mut junit = JunitReport::new(&mut xml);
    let mut campaign = CampaignPage::default();
    for event in events {
        let all: [&mut dyn Reporter; 4] = [&mut terminal, &mut markdown, &mut junit, &mut campaign];
        all.into_iter().for_each(|report| report.event(event).unwrap());
    }
    terminal.finish().unwrap();
    markdown.finish().unwrap();
    junit.finish().unwrap();
    assert!(campaign.summary.to_json().is_object());
    ReportPage { campaign: Some(campaign), ..ReportPage::default() }.write(&mut Vec::new()).unwrap();
}

#[test]
fn no_number_of_a_record_keeps_a_report_from_being_written() {
    let events = failing();
    let (mut n_tried, mut known) = (0, HashSet::new());
    for at in 0..events.len() {
        let mut places = Vec::new();
        numbers(&serde_json::to_value(&events[at]).unwrap(), "", &mut places);
        // Events of one kind are alike.
        places.retain(|place| known.insert((std::mem::discriminant(&events[at].event), place.clone())));
        for (place, number) in places.iter().flat_map(|place| EXTREMES.map(|number| (place, number))) {
            let Some(changed) = with(&events[at], std::slice::from_ref(place), number) else { continue };
            let mut changed_events = events.clone();
            changed_events[at] = changed;
            write_all(&changed_events);
            n_tried += 1;
        }
    }
    assert!(n_tried > 200, "{n_tried}");
}

/// The same number everywhere: all runs have one number, all totals overflow.
#[test]
fn records_whose_numbers_are_all_extreme_are_reported() {
    for number in EXTREMES {
        let changed = |event: &Event| {
            let mut places = Vec::new();
            numbers(&serde_json::to_value(event).unwrap(), "", &mut places);
            let possible =
                places.into_iter().filter(|place| with(event, std::slice::from_ref(place), number).is_some());
            with(event, &possible.collect::<Vec<_>>(), number).unwrap()
        };
        write_all(&failing().iter().map(changed).collect::<Vec<_>>());
    }
}
